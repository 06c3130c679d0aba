import type { AgentStatus } from '../agent/agent-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import { AgentError } from '../errors/agent-error.ts';
import { pacer } from '../pacing.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { Session } from '../sessions/session.ts';
import { checkReplayOptions } from './check-replay-options.ts';
import { readRecordedRun } from './read-recorded-run.ts';
import type { RecordedExecution } from './recorded-execution.ts';
import type { ReplayOptions } from './replay-options.ts';
import { Replaying, usageAfter, type ReplayResult, type ReplaySavings } from './replay.ts';

export interface ReplaySessionOptions extends ReplayOptions, OwnerOptions {}

/** A run of a session, judged again. */
export interface SessionReplay extends ReplayResult {
  readonly sessionId: string;
  readonly title: string | null;
  readonly agent: string;
  readonly status: AgentStatus;
  /** Why the recorded run stopped; null while it is open. */
  readonly stopReason: StopReason | null;
  /** What the recorded steps have used. */
  readonly used: ReplaySavings;
}

/**
 * Judges a run of a session again. Criteria that you pass see no messages: to judge with them, replay a state or an
 * export.
 */
export async function replaySession(
  runtime: SessionRuntime,
  sessionId: string,
  { owner, ...options }: ReplaySessionOptions,
): Promise<SessionReplay> {
  checkReplayOptions(options);
  const session = await runtime.get(sessionId, { owner });
  const recorded = await readRecordedRun(runtime, session, options.executionId);
  if (recorded === null) throw noSteps(sessionId);
  return judged(session, recorded, options);
}

export interface ReplaySessionsOptions
  extends OwnerOptions, Pick<ReplayOptions, 'limits' | 'errorPolicy'> {
  /** Name of an agent. Default: all agents. */
  readonly agent?: string;
  /** Most runs, at most and by default 50. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Milliseconds after which the page ends. Default 1,000. */
  readonly maxMs?: number;
}

/** Replays of one page of sessions. */
export interface SessionReplayPage {
  readonly replays: readonly SessionReplay[];
  /** Cursor of the next page; null when all sessions were judged. An empty page is not necessarily the last. */
  readonly cursor: string | null;
}

/** Small, because a page ends only between two reads of the list. */
const LISTED = 5;
const MOST_RUNS = 50;
const MAX_MS = 1_000;

/** Judges the newest run of each ended session of an owner again, newest change first. */
export async function replaySessions(
  runtime: SessionRuntime,
  options: ReplaySessionsOptions,
): Promise<SessionReplayPage> {
  const { owner, agent, limit = MOST_RUNS, maxMs = MAX_MS, cursor: start, ...changes } = options;
  checkReplayOptions(changes);
  const replays: SessionReplay[] = [];
  const endsAt = performance.now() + maxMs;
  let cursor: string | null = start ?? null;
  do {
    const page = await runtime.list({
      owner,
      phase: 'idle',
      limit: Math.min(LISTED, Math.max(1, limit - replays.length)),
      ...(agent !== undefined && { agent }),
      ...(cursor !== null && { cursor }),
    });
    for (const session of page.sessions) {
      const one = await replayed(runtime, session, changes);
      if (one) replays.push(one);
    }
    ({ cursor } = page);
  } while (cursor !== null && replays.length < limit && performance.now() < endsAt);
  return { replays, cursor };
}

async function replayed(
  runtime: SessionRuntime,
  session: Session,
  options: ReplayOptions,
): Promise<SessionReplay | null> {
  if (session.executionId === null) return null;
  try {
    const recorded = await readRecordedRun(runtime, session);
    return recorded && (await judged(session, recorded, options));
  } catch (error) {
    // deleted since it was listed
    if (AgentError.is(error, 'session_not_found')) return null;
    throw error;
  }
}

/** Judges the steps in turns, so that a long run does not delay the requests of others. */
async function judged(
  { id: sessionId, owner, title, agent, status, stopReason, executionId }: Session,
  recorded: RecordedExecution,
  options: ReplayOptions,
): Promise<SessionReplay> {
  const turn = pacer(owner);
  const replaying = new Replaying(recorded, options);
  for (const step of recorded.steps) {
    if (!replaying.take(step)) break;
    await turn();
  }
  const { execution, steps } = recorded;
  const isNewest = execution.id === executionId;
  return {
    sessionId,
    title,
    agent,
    status,
    stopReason: isNewest ? stopReason : (steps.at(-1)?.outcome?.stopReason ?? null),
    used: usageAfter(steps, 0),
    ...replaying.result(),
  };
}

const noSteps = (sessionId: string): AgentError =>
  new AgentError(
    'invalid_option',
    `Session ${sessionId} has no recorded step, so there is nothing to replay. Send it a message first.`,
    { details: { sessionId } },
  );
