import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { isDecision, type ContinuationDecision } from './decision.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { explainOutcome } from './explain.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

export interface ContinuationOutcomeJSON {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];
}

/** The verdict after a step, with every voice that led to it. */
export class ContinuationOutcome implements ContinuationOutcomeJSON {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];

  private constructor(json: ContinuationOutcomeJSON) {
    this.decision = json.decision;
    this.shouldContinue = json.shouldContinue;
    this.resolvedBy = json.resolvedBy;
    this.stopReason = json.stopReason;
    this.evaluations = Object.freeze(json.evaluations);
    Object.freeze(this);
  }

  static from(json: ContinuationOutcomeJSON): ContinuationOutcome {
    if (json instanceof ContinuationOutcome) return json;
    if (
      !isRecord(json) ||
      !isDecision(json['decision']) ||
      typeof json['shouldContinue'] !== 'boolean' ||
      typeof json['resolvedBy'] !== 'string' ||
      !Array.isArray(json['evaluations'])
    )
      throw new AgentError(
        'invalid_state',
        `ContinuationOutcome.from() got ${show(json)}, expected decision, shouldContinue, resolvedBy, stopReason and evaluations.`,
      );
    return new ContinuationOutcome({ ...json, evaluations: [...json.evaluations] });
  }

  /**
   * Any forbid stops; else any request continues; else any allow-stop stops; else any allow continues; nobody
   * asked stops. The order of the list never matters for the verdict.
   */
  static resolve(evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome {
    const decisive = decisiveOf(evaluations);
    if (decisive === undefined) return new ContinuationOutcome({ ...nobodyAsked, evaluations });
    const { decision, criterion, stopReason } = decisive;
    const shouldContinue = decision === 'request' || decision === 'allow';
    return new ContinuationOutcome({
      decision,
      shouldContinue,
      resolvedBy: criterion,
      stopReason: shouldContinue ? null : (stopReason ?? fallbackReason(decision)),
      evaluations,
    });
  }

  /** The evaluation that decided: the one `resolvedBy` names. */
  get decisive(): ContinuationEvaluation | undefined {
    return decisiveOf(this.evaluations);
  }

  evaluationFor(criterion: string): ContinuationEvaluation | undefined {
    return this.evaluations.find((e) => e.criterion === criterion);
  }

  /** Name of the criterion that forbade going on, null if none did. */
  forbiddingCriterion(): string | null {
    return this.decision === 'forbid' ? this.resolvedBy : null;
  }

  /** A short account for a person: verdict, numbers, what would let it go on, and every voice. */
  explain(): string {
    return explainOutcome(this, this.decisive);
  }

  toJSON(): ContinuationOutcomeJSON {
    return { ...this };
  }
}

const nobodyAsked = {
  decision: 'stop',
  shouldContinue: false,
  resolvedBy: 'ContinuationCriteria',
  stopReason: StopReason.Completed,
} as const;

const fallbackReason = (decision: ContinuationDecision): StopReason =>
  decision === 'forbid' ? StopReason.GuardForbade : StopReason.Completed;

const strength: Readonly<Record<ContinuationDecision, number>> = {
  forbid: 3,
  request: 2,
  stop: 1,
  allow: 0,
};

const rankOf = (e: ContinuationEvaluation): number =>
  forbidOrder.indexOf(e.stopReason ?? StopReason.GuardForbade);

/** Strongest decision first; among forbids by reason; within one reason the first in the list. */
function decisiveOf(
  evaluations: readonly ContinuationEvaluation[],
): ContinuationEvaluation | undefined {
  let best: ContinuationEvaluation | undefined;
  for (const e of evaluations) {
    if (best === undefined || strength[e.decision] > strength[best.decision]) best = e;
    else if (e.decision === 'forbid' && best.decision === 'forbid' && rankOf(e) < rankOf(best))
      best = e;
  }
  return best;
}
