import type { AgentEvent, EventOf } from '../../events/agent-event.ts';
import type { SessionEvent } from '../../sessions/session-worker.ts';
import type { SessionRow } from '../../sessions/session-rows.ts';
import { counted } from '../../number-text.ts';
import { listText } from '../../sentence.ts';
import { noteFailure, withProject, type CliContext } from '../cli-context.ts';
import type { CliSignal } from '../cli-io.ts';
import { exitCodeOfSignal } from '../exit-codes.ts';
import { shortId } from '../format.ts';
import type { Project } from '../project.ts';

export interface RecoverOptions {
  /** Whether to wait for leases to expire; false with `--no-wait`, which skips these sessions. */
  readonly wait?: boolean;
}

const POLL_MS = 250;
const GRACE_MS = 10_000;
const MOST = 1_000;

/** Progress of the recovery. */
interface Progress {
  /** Sessions that run here. */
  readonly taken: Set<string>;
  readonly ended: Set<string>;
  readonly failed: Set<string>;
  /** Open sessions of other processes, with the time since when they are known. */
  readonly seen: Map<string, number>;
  signal: CliSignal | null;
}

/**
 * Recovers sessions that a stopped process left unfinished, shows the progress and waits until nothing is left to do.
 */
export const recover = (context: CliContext, options: RecoverOptions): Promise<number> =>
  withProject(context, async (project) => {
    const progress: Progress = {
      taken: new Set(),
      ended: new Set(),
      failed: new Set(),
      seen: new Map(),
      signal: null,
    };
    project.onFailure((error, sessionId) => {
      progress.failed.add(sessionId);
      noteFailure(context, error, sessionId);
    });
    const unlisten = project.runtime.wiretap((news) => report(context, progress, news));
    const endSignals = context.io.onSignal((signal) => {
      if (progress.signal !== null) return context.io.exit(exitCodeOfSignal(signal));
      progress.signal = signal;
      context.note('Finishing the running steps. Press Ctrl-C again to exit now.');
    });
    try {
      const left = await untilIdle(project, options, progress);
      if (progress.signal !== null) await project.runtime.close({ graceMs: GRACE_MS });
      return summary(context, progress, left);
    } finally {
      endSignals();
      unlisten();
    }
  });

/** Polls until only sessions with a valid lease of another process are open. Returns their number. */
async function untilIdle(
  project: Project,
  { wait = true }: RecoverOptions,
  progress: Progress,
): Promise<number> {
  const { runtime, store, agents, leaseMs } = project;
  const known = new Set(agents.map(({ agent }) => agent.name));
  const patienceMs = wait ? leaseMs + 1_000 : 0;
  const isWaitedFor = ({ id }: SessionRow): boolean => {
    if (progress.taken.has(id)) return true;
    const since = progress.seen.get(id) ?? performance.now();
    progress.seen.set(id, since);
    // a dead process loses its lease in that time; a live one keeps it
    return performance.now() - since < patienceMs;
  };
  for (let isFirst = true; ; isFirst = false) {
    const found = await runtime.recover();
    const rows = await store.list({ limit: MOST, status: 'in_progress' });
    const open = rows.filter(
      ({ id, phase, agent }) => phase === 'open' && known.has(agent) && !progress.failed.has(id),
    );
    const isBegun = isFirst && found > 0;
    if (progress.signal !== null || (!isBegun && !open.some(isWaitedFor))) return open.length;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function report(context: CliContext, { taken, ended }: Progress, news: SessionEvent): void {
  const { sessionId, owner, event } = news;
  const id = shortId(sessionId);
  if (!taken.has(sessionId) && !context.isJson) context.note(`  … ${id} continues`);
  taken.add(sessionId);
  const end = endOf(event);
  if (end === null) return;
  ended.add(sessionId);
  if (context.isJson) context.printJson({ type: 'recovered', session_id: sessionId, owner, end });
  else context.note(`  ${context.paintNote('green', '✓')} ${id} ${end}`);
}

function endOf(event: AgentEvent): string | null {
  if (event.parentAgentId !== null) return null;
  switch (event.type) {
    case 'AgentFinished':
    case 'AgentFailed':
      return `${event.status} (${event.stopReason ?? 'no reason'}) after ${counted(event.stepCount, 'step')}`;
    case 'AgentPaused':
      return pausedText(event);
    default:
      return null;
  }
}

function summary(context: CliContext, progress: Progress, left: number): number {
  const { taken, ended, failed, signal } = progress;
  const exitCode = signal !== null ? exitCodeOfSignal(signal) : failed.size > 0 ? 1 : 0;
  if (context.isJson)
    context.printJson({
      type: 'result',
      recovered: taken.size,
      ended: ended.size,
      failed: failed.size,
      left_open: left,
      exit_code: exitCode,
    });
  else {
    const nothing = taken.size === 0;
    context.print(nothing ? 'Nothing to recover.' : `Recovered ${counted(taken.size, 'session')}.`);
    if (left > 0)
      context.note(
        `${counted(left, 'session')} left open: busy in another process, or not started.`,
      );
    if (failed.size > 0) context.note(`${counted(failed.size, 'session')} failed.`);
  }
  return exitCode;
}

function pausedText({ pendingApprovals, pendingInputs = [] }: EventOf<'AgentPaused'>): string {
  const parts = [
    ...(pendingApprovals.length > 0 ? [counted(pendingApprovals.length, 'approval')] : []),
    ...(pendingInputs.length > 0 ? [counted(pendingInputs.length, 'answer')] : []),
  ];
  return parts.length > 0 ? `needs ${listText(parts)}` : 'is paused';
}
