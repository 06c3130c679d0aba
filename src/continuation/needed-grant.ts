import type { ContinuationEvaluation } from './evaluation.ts';
import { isSpent, type EvaluationFacts } from './facts.ts';
import { factsOf } from './facts-of.ts';
import type { GrantKind, Grants } from './grants.ts';
import { sameAgain } from './limit-grant.ts';

/** An evaluation that keeps a stopped run from continuing. */
export interface Obstacle {
  readonly evaluation: ContinuationEvaluation;
  readonly facts: EvaluationFacts;
  /** Amounts that a grant must have; null if no grant helps. */
  readonly needs: readonly Need[] | null;
}

interface Need {
  readonly kind: GrantKind;
  readonly amount: number;
  readonly minimum: number;
  /** Amount used beyond the limit. A grant must exceed it. */
  readonly owed: number;
}

/** Lists every evaluation that forbade, and every used-up limit, because it would forbid the next step. */
export function obstaclesOf(evaluations: readonly ContinuationEvaluation[]): readonly Obstacle[] {
  return evaluations.flatMap((evaluation) => {
    const facts = factsOf(evaluation);
    const isUp = facts.kind === 'limit' && isSpent(facts);
    if (evaluation.decision !== 'forbid' && !isUp) return [];
    return [{ evaluation, facts, needs: needsOf(evaluation, facts) }];
  });
}

function needsOf({ remedy }: ContinuationEvaluation, facts: EvaluationFacts): Need[] | null {
  if (facts.kind === 'limit') {
    const { grant: kind, owed = 0, unit } = facts;
    if (kind === undefined) return null;
    const again = remedy?.grant?.[kind] ?? sameAgain(facts);
    const minimum = facts.minimum ?? (unit === 'steps' ? Math.ceil(owed) + 1 : again);
    return [{ kind, amount: Math.max(again, minimum), minimum, owed }];
  }
  if (!retryHelps(facts)) return null;
  const grant = Object.entries(remedy?.grant ?? {}) as [GrantKind, number][];
  if (grant.length === 0) return null;
  return grant.map(([kind, amount]) => ({ kind, amount, minimum: Math.min(1, amount), owed: 0 }));
}

/** Whether a retry can have another result. */
function retryHelps(facts: EvaluationFacts): boolean {
  if (facts.kind === 'finish') return facts.finishReason !== 'content_filter';
  if (facts.kind !== 'error' || !facts.modelCall) return true;
  // for `tool_use_failed`, the model wrote a bad call and may write a good one
  return facts.retryable || facts.code === 'tool_use_failed' || untilOf(facts) !== null;
}

/** Time of the earliest retry, and whether the provider asked for it; null if a wait is not needed or does not help. */
export function untilOf(
  facts: EvaluationFacts,
): { readonly until: string; readonly isAsked: boolean } | null {
  if (facts.kind !== 'limit' && facts.kind !== 'error') return null;
  // a stored document may hold anything
  if (typeof facts.until !== 'string') return null;
  const isAsked = facts.kind === 'error';
  // waiting corrects no API key and no request, even if a provider asks for it
  if (isAsked && !facts.retryable && facts.code !== 'quota') return null;
  return { until: facts.until, isAsked };
}

/** A grant that covers all obstacles. */
export interface NeededGrant {
  readonly grant: Grants;
  readonly minimum: Grants;
  readonly owed: Grants;
}

/** Combines the needs of all obstacles; null if one takes no grant, or if there are none. */
export function neededGrant(obstacles: readonly Obstacle[]): NeededGrant | null {
  const grant: Partial<Record<GrantKind, number>> = {};
  const minimum: Partial<Record<GrantKind, number>> = {};
  const owedOf: Partial<Record<GrantKind, number>> = {};
  for (const { needs } of obstacles) {
    if (needs === null) return null;
    // several limits may count the same kind: the largest need covers them all
    for (const { kind, amount, minimum: least, owed } of needs) {
      grant[kind] = Math.max(grant[kind] ?? 0, amount);
      minimum[kind] = Math.max(minimum[kind] ?? 0, least);
      owedOf[kind] = Math.max(owedOf[kind] ?? 0, owed);
    }
  }
  return obstacles.length > 0 ? { grant, minimum, owed: owedOf } : null;
}
