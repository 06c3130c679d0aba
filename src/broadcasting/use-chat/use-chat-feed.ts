import { systemClock } from '../../clock.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { AgentEvent } from '../../events/agent-event.ts';
import { followSession } from '../../sessions/feed/follow-session.ts';
import type { FollowedEvent } from '../../sessions/feed/live-source.ts';
import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { runtimeClosed } from '../../sessions/session-waits.ts';
import { isEnding } from './use-chat-ending.ts';
import type { FeedEvent } from './use-chat-stream.ts';

export interface RunFeedOptions {
  readonly sessionId: string;
  readonly owner: string;
  readonly executionId: string;
  /** Log number where the client stopped reading; a run does not end before it. Default 0. */
  readonly after?: number;
  /** Milliseconds between polls of the store while no event arrives: another process may run the session. */
  readonly pollMs: number;
  readonly signal?: AbortSignal;
}

/** Reads one execution from its beginning until the run pauses or ends. Listens from the moment of the call. */
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
  /** Whether an ending event arrived and the run may still continue after it. */
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
        // deleted or closed: an unfinished run must not look finished
        if (options.signal?.aborted || (await isOver(runtime, options, last))) return;
        throw runtimeClosed();
      }
      next = feed.next();
      const { seq, event }: FollowedEvent = result.value;
      if (event.type === 'gap') continue;
      if (event.type === 'worker') {
        yield { seq, event };
        continue;
      }
      last = seq ?? last;
      if (event.parentAgentId === null) mayBeOver = isEnding(event) && last > after;
      yield { seq, event };
    }
  } finally {
    next.catch(() => {});
    await feed.return?.();
  }
}

/** Resolves with null after `ms`. */
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

/** Whether the run has ended: with an approval or a grant it continues after its last event. */
async function isOver(
  runtime: SessionRuntime,
  { sessionId, owner, executionId }: RunFeedOptions,
  last: number,
): Promise<boolean> {
  const session = await runtime.get(sessionId, { owner });
  // before its first commit, the session has the previous execution id
  const isSameExecution = session.executionId === executionId || last === 0;
  if (isSameExecution && session.status === 'in_progress') return false;
  const { seq } = await runtime.events(sessionId, { owner, executionId, after: last, limit: 1 });
  if (seq > last) {
    // the run may have ended since the log was read
    feedsOf(runtime).wake(sessionId);
    return false;
  }
  if (last === 0) throw notStarted(executionId);
  return true;
}

/**
 * Reads the events of a session's newest execution, or of a given one, for `uiMessageStream`. Leaving the loop does
 * not stop the run.
 */
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
  for await (const { event } of events) if (event.type !== 'worker') yield event;
}

const notStarted = (executionId: string): AgentError =>
  new AgentError(
    'conflict',
    `Execution ${executionId} was dropped before it started. Send the message again.`,
  );
