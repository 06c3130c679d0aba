import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { SessionReplay } from '../replay/replay-session.ts';
import { wireStatus } from './session-views.ts';

/** The parts of an outcome that a replay compares. */
export interface ReplayDecision extends Pick<
  ContinuationOutcome,
  'shouldContinue' | 'decision' | 'resolvedBy' | 'stopReason'
> {
  readonly reason: string;
}

/** A replay without its steps. */
export interface ReplaySummary extends Omit<SessionReplay, 'steps' | 'status'> {
  readonly status: BroadcastStatus;
  readonly stepCount: number;
  /** The decision about the first step that differs; null if none does, or if it is not known. */
  readonly replayed: ReplayDecision | null;
}

export interface ReplayDetail extends ReplaySummary {
  readonly steps: readonly {
    readonly number: number;
    readonly recorded: ReplayDecision | null;
    readonly replayed: ReplayDecision | null;
  }[];
}

export function replaySummary({ steps, ...replay }: SessionReplay): ReplaySummary {
  const difference = steps.find(({ number }) => number === replay.firstDifference);
  return {
    ...replay,
    status: wireStatus(replay),
    stepCount: steps.length,
    replayed: decisionOf(difference?.replayed ?? null),
  };
}

export const replayDetail = (replay: SessionReplay): ReplayDetail => ({
  ...replaySummary(replay),
  steps: replay.steps.map(({ number, recorded, replayed }) => ({
    number,
    recorded: decisionOf(recorded),
    replayed: decisionOf(replayed),
  })),
});

const decisionOf = (outcome: ContinuationOutcome | null): ReplayDecision | null =>
  outcome && {
    shouldContinue: outcome.shouldContinue,
    decision: outcome.decision,
    resolvedBy: outcome.resolvedBy,
    stopReason: outcome.stopReason,
    reason: outcome.decisive?.reason ?? '',
  };
