import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionEvent } from '../sessions/session-worker.ts';
import type { RunReporter } from './run-reporter.ts';

/** How often the log is polled without events: another process may do the work. */
const POLL_MS = 400;
const PAGE = 200;

export interface Follower {
  /** Tells all that the log has. */
  catchUp(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * Reports every event of an execution once and in order, in whichever process it runs: live from this process, from the
 * log where it is another. `after` is the last number that is old news.
 */
export async function followSession(
  runtime: SessionRuntime,
  place: { readonly sessionId: string; readonly owner: string },
  from: { readonly executionId: string; readonly after: number },
  output: Pick<RunReporter, 'event'>,
): Promise<Follower> {
  const { sessionId, owner } = place;
  const { executionId } = from;
  let last = from.after;
  let heardAt = 0;
  let work: Promise<void> = Promise.resolve();

  const readLog = async (): Promise<void> => {
    for (;;) {
      const page = await runtime.events(sessionId, {
        owner,
        executionId,
        after: last,
        limit: PAGE,
      });
      for (const { event, seq } of page.events) tell(event, seq);
      if (page.events.length < PAGE) return;
    }
  };
  const tell = (event: SessionEvent['event'], seq: number | null): void => {
    if (seq !== null) last = seq;
    output.event(event, seq);
  };
  const take = async ({ event, seq }: SessionEvent): Promise<void> => {
    // another process wrote in between
    if (seq !== null && seq > last + 1) await readLog();
    if (seq === null || seq > last) tell(event, seq);
  };
  /** One after the other; a log that cannot be read is read again later, and nothing here ends a run. */
  const queue = (job: () => Promise<void>): Promise<void> =>
    (work = work.then(job).catch(() => {}));

  const unsubscribe = await runtime.subscribe(sessionId, { owner }, (event) => {
    if (event.event.executionId !== executionId) return;
    heardAt = performance.now();
    void queue(() => take(event));
  });
  const timer = setInterval(() => {
    if (performance.now() - heardAt >= POLL_MS) void queue(readLog);
  }, POLL_MS);
  return {
    catchUp: () => queue(readLog),
    async leave() {
      clearInterval(timer);
      unsubscribe();
      await work;
    },
  };
}
