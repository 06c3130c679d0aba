import type { AgentLimits, OwnCriterion } from '../agent/agent-criteria.ts';
import type { RecordedPolicy } from '../agent/recorded-policy.ts';
import type { RunOutcome, RunRecord } from '../agent/run-records.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import { camelKeys, snakeKeys, type SnakeKeys } from './snake-keys.ts';

type Nested = 'outcome' | 'stop';

/** One run of an execution. */
export type SlimRun = Omit<SnakeKeys<RunRecord>, Nested> & {
  readonly outcome?: SnakeKeys<RunOutcome>;
  readonly stop?: SnakeKeys<StopRequest>;
};

/** The limits and the error policy of a step. */
export type SlimPolicy = Omit<SnakeKeys<RecordedPolicy>, 'limits' | 'error_policy' | 'own'> & {
  readonly limits: SnakeKeys<AgentLimits>;
  readonly error_policy: SnakeKeys<RecordedPolicy['errorPolicy']>;
  readonly own?: readonly SnakeKeys<OwnCriterion>[];
};

export const slimRun = ({ outcome, stop, ...run }: RunRecord): SlimRun => ({
  ...snakeKeys(run),
  ...(outcome && { outcome: snakeKeys(outcome) }),
  ...(stop && { stop: snakeKeys(stop) }),
});

export const readSlimRun = ({ outcome, stop, ...run }: SlimRun): RunRecord => ({
  ...camelKeys<Omit<RunRecord, Nested>>(run),
  ...(outcome && { outcome: camelKeys<RunOutcome>(outcome) }),
  ...(stop && { stop: camelKeys<StopRequest>(stop) }),
});

export const slimPolicy = ({ limits, errorPolicy, own, ...rest }: RecordedPolicy): SlimPolicy => ({
  ...snakeKeys(rest),
  limits: snakeKeys(limits),
  error_policy: snakeKeys(errorPolicy),
  ...(own && { own: own.map((one) => snakeKeys(one)) }),
});

export const readSlimPolicy = ({
  limits,
  error_policy,
  own,
  ...rest
}: SlimPolicy): RecordedPolicy => ({
  ...camelKeys<Omit<RecordedPolicy, 'limits' | 'errorPolicy' | 'own'>>(rest),
  limits: camelKeys<AgentLimits>(limits),
  errorPolicy: camelKeys<RecordedPolicy['errorPolicy']>(error_policy),
  ...(own && { own: own.map((one) => camelKeys<OwnCriterion>(one)) }),
});
