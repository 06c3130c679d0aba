import { pacer } from '../pacing.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
import type { Envelope, Refill } from './envelope.ts';
import { envelopeOf } from './envelope-of.ts';
import { unfinishedOf } from './unfinished.ts';

export interface RefillOptions extends OwnerOptions {
  /** Default: the newest. */
  readonly executionId?: string;
  /** What the reader knows already; its next envelope has this as `prev`. */
  readonly after?: number;
  /** Events of the log that are read at once, at most 500. */
  readonly limit?: number;
  /** As the live envelopes are made. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** Whether what is being said right now is told with the end of the log. Default true. */
  readonly unfinished?: boolean;
}

const standard = BroadcastConfig.standard();

/** What a reader that was away has missed of an execution, from its log: the envelopes that it would have got. */
export async function readRefill(
  runtime: SessionRuntime,
  sessionId: string,
  options: RefillOptions,
): Promise<Refill> {
  const { config = standard, unfinished: wantsUnfinished = true, ...query } = options;
  const { executionId, events, seq: newest } = await runtime.events(sessionId, query);
  const map = envelopeOf(config);
  const pause = pacer(options.owner);
  const envelopes: Envelope[] = [];
  let prev = options.after ?? 0;
  for (const { seq, event } of events) {
    const envelope = map(event, sessionId, seq, prev);
    await pause();
    if (envelope === null) continue;
    envelopes.push(envelope);
    prev = seq;
  }
  // where the log was pruned there is nothing to wait for
  const seq = events.at(-1)?.seq ?? newest;
  const more = seq < newest;
  const page: Refill = { session_id: sessionId, execution_id: executionId, envelopes, seq, more };
  if (more || !wantsUnfinished || !config.includeStream) return page;
  // looked at after the log: what is finished meanwhile is missing in both for a moment, and follows by itself
  const unfinished = await unfinishedOf(runtime, sessionId, executionId);
  return unfinished.length === 0 ? page : { ...page, unfinished };
}
