import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import type { LimitFacts } from '../../continuation/facts.ts';
import { factsOf } from '../../continuation/facts-of.ts';
import { own } from '../../json.ts';
import { countText, exactMoneyText, moneyText } from '../../number-text.ts';
import { secondsOfText } from './trace-format.ts';

export type MeterUnit = 'count' | 'seconds' | 'money';

/** Recorded use of a limit. */
export interface Meter {
  /** Null if it is not known. */
  readonly used: number | null;
  readonly limit: number;
  readonly unit: MeterUnit;
  readonly tone: 'plain' | 'warn' | 'full';
}

const units: Readonly<Record<string, MeterUnit>> = {
  CostLimit: 'money',
  SessionCostLimit: 'money',
  ExecutionTimeLimit: 'seconds',
  CumulativeExecutionTimeLimit: 'seconds',
  SessionTimeLimit: 'seconds',
};

/** Formats a limit: `$1.00`, `180 s`, `300,000`. */
export function limitText(criterion: string, limit: number): string {
  const unit = own(units, criterion) ?? 'count';
  if (unit === 'money') return exactMoneyText(limit);
  return unit === 'seconds' ? secondsOfText(0, limit)[1] : countText(limit);
}

/** Returns the numbers that a criterion recorded; null for criteria that count nothing. */
export function meterOf(evaluation: ContinuationEvaluation): Meter | null {
  const facts = factsOf(evaluation);
  if (evaluation.criterion === 'ErrorPolicyCriterion') return retriesOf(evaluation);
  const { used, limit } = facts.kind === 'limit' ? facts : evaluation.context;
  if (typeof limit !== 'number' || !(limit > 0)) return null;
  if (used !== null && typeof used !== 'number') return null;
  return {
    used,
    limit,
    unit: facts.kind === 'limit' ? meterUnit(facts) : 'count',
    tone: used !== null && used >= limit ? 'full' : 'plain',
  };
}

const meterUnit = ({ unit }: LimitFacts): MeterUnit =>
  unit === 'cost' ? 'money' : unit === 'seconds' ? 'seconds' : 'count';

/** Counts retries: every failure in a row uses one, except the failure after the last retry. */
function retriesOf({ context, stopReason }: ContinuationEvaluation): Meter | null {
  const { consecutiveFailures, maxRetries, handling } = context;
  if (typeof consecutiveFailures !== 'number' || typeof maxRetries !== 'number') return null;
  // a policy that does not retry used none
  if (maxRetries <= 0 || stopReason === 'error' || handling === 'ignore') return null;
  return {
    used: Math.min(consecutiveFailures, maxRetries),
    limit: maxRetries,
    unit: 'count',
    tone: stopReason !== undefined ? 'full' : consecutiveFailures > 0 ? 'warn' : 'plain',
  };
}

/** Returns `5` and `5`, `17.3` and `120 s`, `$0.0225` and `$0.10`. */
export function meterTexts({
  used,
  limit,
  unit,
}: Pick<Meter, 'used' | 'limit' | 'unit'>): readonly [string, string] {
  if (unit === 'seconds') return secondsOfText(used ?? 0, limit);
  const isMoney = unit === 'money';
  const text = isMoney ? moneyText : countText;
  return [
    used === null ? 'unknown' : text(used),
    isMoney ? exactMoneyText(limit) : countText(limit),
  ];
}
