import { feedsOf } from '../sessions/feed/feeds-of.ts';
import type { FeedWorker } from '../sessions/feed/live-source.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { RunReporter } from './run-reporter.ts';

/** Milliseconds before a failed read of the log is retried. */
const RETRY_MS = 400;

export interface SessionReport {
  /** Resolves when everything in the log so far was reported. */
  catchUp(): Promise<void>;
  leave(): Promise<void>;
}

/** Reports every event of an execution once and in order from the position, whichever process runs it. */
export function reportSession(
  runtime: SessionRuntime,
  { sessionId, owner }: { readonly sessionId: string; readonly owner: string },
  { executionId, after }: { readonly executionId: string; readonly after: number },
  output: Pick<RunReporter, 'event' | 'note'>,
): SessionReport {
  const leaving = new AbortController();
  const { signal } = leaving;
  let last = after;
  let isOver = false;
  let moved = (): void => {};

  const read = async (): Promise<void> => {
    const position = { executionId, seq: last };
    const feed = runtime.follow(sessionId, { owner, executionId, after: position, signal });
    for await (const { event, seq } of feed) {
      last = seq ?? last;
      if (event.type === 'worker') output.note(workerText(event));
      else if (event.type !== 'gap') output.event(event, seq);
      moved();
    }
  };
  /** Nothing here ends a run: a log that cannot be read is read again later. */
  const report = async (): Promise<void> => {
    while (!isOver)
      await read().then(
        () => (isOver = true),
        () => wait(RETRY_MS),
      );
    moved();
  };
  const reporting = report();
  return {
    async catchUp() {
      const { seq } = await runtime.events(sessionId, {
        owner,
        executionId,
        after: last,
        limit: 1,
      });
      feedsOf(runtime).wake(sessionId);
      while (last < seq && !isOver)
        await new Promise<void>((resolve) => {
          moved = resolve;
        });
    },
    async leave() {
      isOver = true;
      leaving.abort();
      await reporting;
    },
  };
}

const workerText = ({ isLost }: FeedWorker): string =>
  isLost
    ? 'The worker of this session stopped answering. Waiting for another worker.'
    : 'Another worker continues.';

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
