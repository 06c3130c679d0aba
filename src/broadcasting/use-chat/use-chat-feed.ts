import { systemClock } from '../../clock.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { AgentEvent } from '../../events/agent-event.ts';
import { followSession } from '../../sessions/feed/follow-session.ts';
import type { FollowedEvent } from '../../sessions/feed/live-source.ts';
import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { runtimeClosed } from '../../sessions/session-waits.ts';
import { isLastWord } from './use-chat-ending.ts';
import type { FeedEvent } from './use-chat-stream.ts';

export interface RunFeedOptions {
  readonly sessionId: string;
  readonly owner: string;
  readonly executionId: string;
  /** Where the client stopped reading; the run does not end there. Default 0. */
  readonly after?: number;
  /** How often the store is polled while no event comes: another process may work on it. */
  readonly pollMs: number;
  readonly signal?: AbortSignal;
}

/** One execution from its beginning until the run pauses or ends. It listens from the call on. */
export function runEvents(
  runtime: SessionRuntime,
  options: RunFeedOptions,
): AsyncGenerator<FeedEvent> {
  const { sessionId, pollMs, signal, owner, executionId } = options;
  const feed = followSession(feedsOf(runtime), sessionId, {
    owner,
    executionId,
    polling: { busyMs: pollMs, idleMs: pollMs, clock: systemClock },
    ...(signal && { signal }),
  });
  return read(runtime, feed[Symbol.asyncIterator](), options);
}

type Next = IteratorResult<FollowedEvent>;

async function* read(
  runtime: SessionRuntime,
  feed: AsyncIterator<FollowedEvent>,
  options: RunFeedOptions,
): AsyncGenerator<FeedEvent> {
  const { after = 0, pollMs } = options;
  let last = 0;
  /** The last word was said, and whether the run continues behind it is not known yet. */
  let mayBeOver = false;
  let next: Promise<Next> = feed.next();
  try {
    for (;;) {
      const result: Next | null = await within(next, mayBeOver ? 0 : pollMs);
      if (result === null) {
        mayBeOver = false;
        if (await isOver(runtime, options, last)) return;
        continue;
      }
      if (result.done) {
        // deleted, or closed: a run that is not over must not look as if it were
        if (options.signal?.aborted || (await isOver(runtime, options, last))) return;
        throw runtimeClosed();
      }
      next = feed.next();
      const { seq, event }: FollowedEvent = result.value;
      if (event.type === 'gap') continue;
      last = seq ?? last;
      if (event.parentAgentId === null) mayBeOver = isLastWord(event) && last > after;
      yield { seq, event };
    }
  } finally {
    next.catch(() => {});
    await feed.return?.();
  }
}

/** Null where nothing has come in time. */
async function within<T>(next: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([next, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A run with an approval or a grant continues after its last event. */
async function isOver(
  runtime: SessionRuntime,
  { sessionId, owner, executionId }: RunFeedOptions,
  last: number,
): Promise<boolean> {
  const session = await runtime.get(sessionId, { owner });
  // before its first commit the session has the name of the execution before
  const isIts = session.executionId === executionId || last === 0;
  if (isIts && session.status === 'in_progress') return false;
  const { seq } = await runtime.events(sessionId, { owner, executionId, after: last, limit: 1 });
  if (seq > last) {
    // it may have said its last word since the log was read
    feedsOf(runtime).wake(sessionId);
    return false;
  }
  if (last === 0) throw neverBegun(executionId);
  return true;
}

/** The events of a session's newest execution, or of a given one, for `uiMessageStream`. Leaving it stops nothing. */
export async function* sessionEvents(
  runtime: SessionRuntime,
  options: Pick<RunFeedOptions, 'sessionId' | 'owner'> & {
    readonly executionId?: string;
    readonly pollMs?: number;
  },
): AsyncGenerator<AgentEvent> {
  const { sessionId, owner, pollMs = 500 } = options;
  const session = await runtime.get(sessionId, { owner });
  const executionId = options.executionId ?? session.executionId;
  if (executionId === null) return;
  const events = runEvents(runtime, { sessionId, owner, executionId, pollMs });
  for await (const { event } of events) yield event;
}

const neverBegun = (executionId: string): AgentError =>
  new AgentError('conflict', `Execution ${executionId} was dropped before it began.`);
