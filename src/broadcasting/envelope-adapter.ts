import { invalidOption } from '../errors/agent-error.ts';
import { isNumbered, type AgentEvent, type EventListener } from '../events/agent-event.ts';
import { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
import type { Broadcaster } from './broadcaster.ts';
import { channelOf } from './envelope.ts';
import { EnvelopeEncoder } from './envelope-encoder.ts';
import { frameFor } from './frame-budget.ts';
import { EnvelopeQueue, type BroadcastStats, type DeliveryOptions } from './envelope-queue.ts';

export interface EnvelopeAdapterOptions extends DeliveryOptions {
  readonly broadcaster: Broadcaster;
  readonly sessionId: string;
  readonly executionId: string;
  /** Which envelopes are sent. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** The `seq` of the earlier adapter on a resume; numbers continue after it. */
  readonly after?: number;
}

const standard = BroadcastConfig.standard();

/** Broadcasts the events of one execution. It only listens and cannot delay or fail a run. */
export class AgentEventEnvelopeAdapter {
  readonly #executionId: string;
  readonly #queue: EnvelopeQueue;
  readonly #encoder: EnvelopeEncoder;
  #last: AgentEvent | null = null;

  /** Accepts the `queue` that the executions of a session share, so that their envelopes stay in order. */
  constructor(options: EnvelopeAdapterOptions, queue: EnvelopeQueue = queueFor(options)) {
    const { sessionId, executionId, after } = options;
    const config = fitting(options.config ?? standard, options.broadcaster);
    for (const name of ['sessionId', 'executionId'] as const)
      if (typeof options[name] !== 'string' || options[name] === '')
        throw invalidOption(`AgentEventEnvelopeAdapter ${name}`, options[name], 'an id');
    if (after !== undefined && !(Number.isInteger(after) && after >= 0))
      throw invalidOption('AgentEventEnvelopeAdapter after', after, 'a whole number from 0');
    this.#executionId = executionId;
    this.#queue = queue;
    this.#encoder = new EnvelopeEncoder({ sessionId, executionId, after }, config, (envelope) =>
      this.#queue.push(envelope),
    );
  }

  /**
   * Listener for `agent.run(state, { executionId, wiretap })`. It ignores events of other executions and includes
   * nested agents.
   */
  wiretap(): EventListener {
    return (event) => {
      // an agent and a run may both have this listener: the same event then arrives twice in a row
      if (event.executionId !== this.#executionId || event === this.#last) return;
      this.#last = event;
      this.#encoder.take(event, isNumbered(event.type) ? this.seq + 1 : null);
    };
  }

  /** Sends a session event with its number in the log, null for chunks and deltas. */
  send(event: AgentEvent, seq: number | null): void {
    if (event.executionId !== this.#executionId) return;
    if (seq === null ? event !== this.#last : seq > this.seq) this.#encoder.take(event, seq);
    this.#last = event;
  }

  /** Number of the last event, sent or filtered. */
  get seq(): number {
    return this.#encoder.seq;
  }

  get stats(): BroadcastStats {
    return this.#queue.stats;
  }

  /** Resolves with true when every envelope is sent or dropped, with false after `timeoutMs` (default 5 seconds). */
  flush(timeoutMs?: number): Promise<boolean> {
    return this.#queue.flush(timeoutMs);
  }

  /** Flushes, then drops what is left. */
  close(timeoutMs?: number): Promise<boolean> {
    return this.#queue.close(timeoutMs);
  }
}

const fitted = new WeakMap<Broadcaster, WeakMap<BroadcastSettings, BroadcastSettings>>();

/** Returns the config with `frameBytes` lowered to the broadcaster's limit. Cached for all adapters. */
function fitting(config: BroadcastSettings, broadcaster: Broadcaster): BroadcastSettings {
  const { frameBytes } = broadcaster;
  if (frameBytes === undefined || frameFor(frameBytes) >= config.frameBytes) return config;
  const known = fitted.get(broadcaster) ?? new WeakMap<BroadcastSettings, BroadcastSettings>();
  fitted.set(broadcaster, known);
  const own = known.get(config) ?? { ...config, frameBytes: frameFor(frameBytes) };
  known.set(config, own);
  return own;
}

/** Creates the queue of one session from the options. */
export const queueFor = ({
  sessionId,
  config = standard,
  ...options
}: Omit<EnvelopeAdapterOptions, 'executionId'>): EnvelopeQueue =>
  new EnvelopeQueue({ ...options, channel: channelOf(sessionId), queueSize: config.queueSize });
