export type { AgentLimits, OwnCriterion } from '../agent/agent-criteria.ts';
export type { RecordedPolicy } from '../agent/recorded-policy.ts';
export type { DroppedUsage, RunOutcome, RunRecord } from '../agent/run-records.ts';
export type { Recorded, RecordedSession } from './recorded-execution.ts';
export {
  replay,
  type ReplayChange,
  type ReplayedStep,
  type ReplayResult,
  type ReplaySavings,
} from './replay.ts';
export type { ReplayGap } from './replay-gaps.ts';
export type { ReplayLimits, ReplayOptions } from './replay-options.ts';
export type { ReplayDifference } from './replay-step.ts';
export {
  replaySession,
  replaySessions,
  type ReplaySessionOptions,
  type ReplaySessionsOptions,
  type SessionReplay,
  type SessionReplayPage,
} from './replay-session.ts';
