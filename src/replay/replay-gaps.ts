import type { Execution } from '../agent/execution.ts';
import { stepsOfFamily } from '../continuation/family-share.ts';
import type { ReplayOptions } from './replay-options.ts';
import { isReasoned, type RecordedExecution } from './recorded-execution.ts';

/** What a record lacks for an exact replay. */
export interface ReplayGap {
  readonly code:
    | 'no_steps'
    | 'pruned'
    | 'no_policy'
    | 'no_runs'
    | 'no_times'
    | 'no_evaluations'
    | 'nested'
    | 'unfinished'
    | 'totals'
    | 'error_resolver'
    | 'no_messages';
  readonly text: string;
}

/** Lists what the record lacks, before any step is judged. */
export function gapsOf(
  { execution, steps, messages, isMidStep, isNested }: RecordedExecution,
  { errorPolicy, criteria }: ReplayOptions,
): readonly ReplayGap[] {
  const gaps: ReplayGap[] = [];
  const add = (code: ReplayGap['code'], text: string): void => void gaps.push({ code, text });
  const { runs = [], stepCount } = execution;
  const [first] = steps;
  if (first === undefined) add('no_steps', 'No step is recorded, so there is nothing to judge.');
  else if (steps.length < stepCount)
    add(
      'pruned',
      `${steps.length} of ${stepCount} steps are kept. Totals before step ${first.number} are estimated from those at the end.`,
    );
  if (first && isNested)
    add(
      'nested',
      "The record is of a nested agent: the limits of its parent are taken from the record's evaluations.",
    );
  else if (first && first.policy === undefined)
    add(
      'no_policy',
      'The record is of an earlier release, or its first step is missing: limits are read from its evaluations, and decisions of the error policy are taken from the record.',
    );
  if (first && !isNested && (runs[0] === undefined || runs[0].afterStep > first.number - 1))
    add(
      'no_runs',
      'The record does not say when its runs began and what they were granted: both are read from its evaluations.',
    );
  if (steps.some(({ outcome }) => outcome === null || outcome.at === undefined))
    add(
      'no_times',
      'The record does not say when its steps were judged: their start and duration are used.',
    );
  const unreasoned = steps.filter((step) => !isReasoned(step)).length;
  if (unreasoned > 0)
    add(
      'no_evaluations',
      `The record does not say why ${unreasoned} of its steps were the last one or not: their decisions are taken from the record.`,
    );
  if (isMidStep) add('unfinished', `Step ${stepCount + 1} is not finished and is left out.`);
  if (errorPolicy && steps.some(({ policy }) => policy?.hasErrorResolver))
    add(
      'error_resolver',
      'The agent reads errors with its own code, which the record does not have: decisions about errors are taken from the record.',
    );
  if (criteria && messages === null)
    add('no_messages', 'The messages were not read, so criteria see none.');
  return gaps;
}

/** Most seconds by which rounded times may add up to something else. */
const ROUNDING_SECONDS = 0.01;

/** Compares the totals of all steps with those that were recorded. */
export function totalsGap(
  { execution, isMidStep }: RecordedExecution,
  replayed: Execution,
): ReplayGap | null {
  if (isMidStep) return null;
  const { usage, cumulativeSeconds, answeredSteps, family } = execution;
  const differing = [
    replayed.usage.total !== usage.total && 'tokens',
    replayed.answeredSteps !== answeredSteps && 'steps',
    stepsOfFamily(replayed.family) !== stepsOfFamily(family) && 'steps of nested agents',
    Math.abs(replayed.cumulativeSeconds - cumulativeSeconds) > ROUNDING_SECONDS && 'seconds',
  ].filter((one) => one !== false);
  if (differing.length === 0) return null;
  return {
    code: 'totals',
    text: `The recorded steps do not add up to the totals of the execution (${differing.join(', ')}), so a limit may have counted more than the replay.`,
  };
}
