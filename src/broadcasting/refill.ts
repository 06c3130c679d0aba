import { pacer } from '../pacing.ts';
import { isRunEnd } from '../events/agent-event.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
import { feedsOf } from '../sessions/feed/feeds-of.ts';
import { hasLostWorker } from '../sessions/session-rows.ts';
import type { Envelope, EnvelopeOf, Refill } from './envelope.ts';
import { envelopeOf } from './envelope-of.ts';
import { unfinishedOf } from './unfinished.ts';
import { workerNotice } from './worker-notice.ts';

export interface RefillOptions extends OwnerOptions {
  /** Execution to read. Default: the newest. */
  readonly executionId?: string;
  /** Number of the last event that the reader has; the next envelope has it as `prev`. Default 0. */
  readonly after?: number;
  /** Maximum events to read from the log, at most 500. */
  readonly limit?: number;
  /** Config of the live envelopes. Default: `BroadcastConfig.standard()`. */
  readonly config?: BroadcastSettings;
  /** Whether to add unfinished text at the end of the log. Default true. */
  readonly unfinished?: boolean;
}

const standard = BroadcastConfig.standard();

/** Reads from the log the envelopes of an execution that a reader missed. */
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
  // if the log was pruned, there is nothing to wait for
  const seq = events.at(-1)?.seq ?? newest;
  const more = seq < newest;
  const page: Refill = { session_id: sessionId, execution_id: executionId, envelopes, seq, more };
  const last = events.at(-1)?.event;
  if (more || !wantsUnfinished || executionId === null || (last && isRunEnd(last))) return page;
  // looked at after the log: what is finished meanwhile is missing in both for a moment, and follows by itself
  const texts = config.includeStream
    ? await unfinishedOf(runtime, sessionId, { executionId, seq }, config)
    : [];
  const unfinished = [...texts, ...(await lostWorker(runtime, sessionId, executionId, query))];
  return unfinished.length === 0 ? page : { ...page, unfinished };
}

/** Notice for a reader that polls: nothing is sent to it because the worker is gone. */
async function lostWorker(
  runtime: SessionRuntime,
  sessionId: string,
  executionId: string,
  { owner }: OwnerOptions,
): Promise<readonly EnvelopeOf<'agent.worker'>[]> {
  const row = await feedsOf(runtime).lookup.owned(sessionId, owner);
  if (row.executionId !== executionId || !hasLostWorker(row)) return [];
  const { events } = await runtime.events(sessionId, { owner, executionId, limit: 1 });
  const { agentId = 'agent' } = events[0]?.event ?? {};
  return [workerNotice(sessionId, agentId, { executionId, isLost: true })];
}
