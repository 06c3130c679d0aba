import type { Envelope, EnvelopePayloads, EnvelopeType } from 'onward/broadcasting';
import type { Preset } from './run-specs.ts';

const sends = (preset: Preset, type: EnvelopeType): boolean => {
  if (type === 'agent.status' || type === 'agent.message') return true;
  if (preset === 'minimal') return false;
  if (type.startsWith('agent.step.')) return preset !== 'noSteps';
  return preset === 'debug' || !(type === 'agent.continuation' || type === 'agent.reasoning.chunk');
};

const isStreamed = (type: EnvelopeType): boolean =>
  type === 'agent.stream.chunk' || type === 'agent.reasoning.chunk' || type === 'agent.tool.delta';

/** Numbers and timestamps envelopes like the log of a session, and drops those that the preset excludes. */
export class ModelWire {
  readonly #preset: Preset;
  readonly all: Envelope[] = [];
  /** Numbered envelopes by execution, and the last number of each log. */
  readonly logs: Map<string, { envelopes: Envelope[]; seq: number }> = new Map();
  /** Number of the log when each envelope was sent. */
  readonly seqs: number[] = [];
  #executionId = '';
  #seq = 0;
  #prev = 0;
  /** Milliseconds; grows by 0 or 1 per event, so that several share a time. */
  time: number = Date.UTC(2026, 0, 16, 12);
  #ticks = 0;

  constructor(preset: Preset) {
    this.#preset = preset;
  }

  open(executionId: string): void {
    this.#executionId = executionId;
    this.logs.set(executionId, { envelopes: [], seq: 0 });
    this.#seq = this.#prev = 0;
    this.time += 5;
  }

  send<T extends EnvelopeType>(
    type: T,
    payload: EnvelopePayloads[T],
    agent: 'root' | 'child' = 'root',
  ): void {
    const isNumbered = !isStreamed(type);
    if (isNumbered) this.#seq++;
    const log = this.logs.get(this.#executionId);
    if (log) log.seq = this.#seq;
    this.time += this.#ticks++ % 3 === 0 ? 0 : 1;
    if (!sends(this.#preset, type)) return;
    const envelope = {
      type,
      session_id: 's1',
      execution_id: this.#executionId,
      agent_id: `${agent}-${this.#executionId}`,
      ...(agent === 'child' && { parent_agent_id: `root-${this.#executionId}` }),
      seq: isNumbered ? this.#seq : null,
      prev: isNumbered ? this.#prev : null,
      timestamp: new Date(this.time).toISOString(),
      payload,
    } as Envelope;
    if (isNumbered) {
      this.#prev = this.#seq;
      log?.envelopes.push(envelope);
    }
    this.all.push(envelope);
    this.seqs.push(this.#seq);
  }

  /** Adds an event that no preset sends. */
  silent(): void {
    this.#seq++;
  }
}
