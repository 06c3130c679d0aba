import { RedactedDeltas } from '../events/redacted-deltas.ts';
import type { Run } from './run.ts';

/** Emits the arguments of one call as `ToolCallDelta` events, without the secrets in them. */
export class ToolCallDeltas {
  readonly #run: Run;
  readonly #toolCallId: string;
  /** Arguments received before the first listener. */
  #unheard = '';
  #redacted: RedactedDeltas | null = null;
  #offset = 0;

  constructor(run: Run, toolCallId: string) {
    this.#run = run;
    this.#toolCallId = toolCallId;
  }

  /** Emits a delta. The first listener gets everything so far; once started, the stream is emitted to its end. */
  push(tool: string, args: string): void {
    const { events, redactor } = this.#run;
    if (this.#redacted !== null) return this.#emit(tool, this.#redacted.push(args));
    this.#unheard += args;
    if (!events.wants('ToolCallDelta')) return;
    this.#redacted = new RedactedDeltas(redactor);
    this.#emit(tool, this.#redacted.push(this.#unheard));
    this.#unheard = '';
  }

  #emit(tool: string, argsDelta: string): void {
    if (argsDelta === '') return;
    const toolCallId = this.#toolCallId;
    const offset = this.#offset;
    this.#offset += argsDelta.length;
    this.#run.events.emit('ToolCallDelta', { toolCallId, tool, argsDelta, offset });
  }
}
