import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { isDecision, type ContinuationDecision } from './decision.ts';
import { decisiveOf } from './decisive.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { explanationText } from './explain.ts';
import { withFacts } from './facts-of.ts';
import { StopReason } from './stop-reason.ts';

/** An agent behind a call that stopped before it was done; its text counted as its result. */
export interface StoppedAgent {
  readonly agent: string;
  readonly stopReason: StopReason;
}

export interface ContinuationOutcomeJSON {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];
  /** ISO time of the outcome; absent in records of earlier releases. */
  readonly at?: string;
  /** On a stop: agents behind its calls that had stopped early. */
  readonly stoppedAgents?: readonly StoppedAgent[];
}

/** The resolved result of a step, with every evaluation behind it. */
export class ContinuationOutcome implements ContinuationOutcomeJSON {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];
  // declared only: an own field that is absent from the JSON must be absent here
  declare readonly at?: string;
  declare readonly stoppedAgents?: readonly StoppedAgent[];

  private constructor(json: ContinuationOutcomeJSON) {
    this.decision = json.decision;
    this.shouldContinue = json.shouldContinue;
    this.resolvedBy = json.resolvedBy;
    this.stopReason = json.stopReason;
    this.evaluations = Object.freeze(json.evaluations);
    if (json.at !== undefined) this.at = json.at;
    if (json.stoppedAgents !== undefined) this.stoppedAgents = json.stoppedAgents;
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
    return new ContinuationOutcome({ ...json, evaluations: json.evaluations.map(withFacts) });
  }

  /**
   * Any forbid stops; else any request continues; else any allow-stop stops; else any allow continues; an
   * empty list stops. The order of the list never matters for the outcome.
   */
  static resolve(evaluations: readonly ContinuationEvaluation[], at?: string): ContinuationOutcome {
    const decisive = decisiveOf(evaluations);
    if (decisive === undefined)
      return new ContinuationOutcome({ ...noCriteria, evaluations, ...(at && { at }) });
    const { decision, criterion, stopReason } = decisive;
    const shouldContinue = decision === 'request' || decision === 'allow';
    return new ContinuationOutcome({
      decision,
      shouldContinue,
      resolvedBy: criterion,
      stopReason: shouldContinue ? null : (stopReason ?? fallbackReason(decision)),
      evaluations,
      ...(at && { at }),
    });
  }

  /** The same outcome with the agents behind its calls that had stopped early. */
  withStoppedAgents(stoppedAgents: readonly StoppedAgent[]): ContinuationOutcome {
    return new ContinuationOutcome({ ...this, stoppedAgents });
  }

  /** The evaluation that decided: the one `resolvedBy` names. */
  get decisive(): ContinuationEvaluation | undefined {
    return decisiveOf(this.evaluations);
  }

  evaluationFor(criterion: string): ContinuationEvaluation | undefined {
    return this.evaluations.find((e) => e.criterion === criterion);
  }

  /** Name of the criterion that forbade continuing, null if none did. */
  forbiddingCriterion(): string | null {
    return this.decision === 'forbid' ? this.resolvedBy : null;
  }

  /** A short text for a person: outcome, numbers, how to continue, and every evaluation. */
  explain(): string {
    return explanationText(this);
  }

  toJSON(): ContinuationOutcomeJSON {
    return { ...this };
  }
}

const noCriteria = {
  decision: 'stop',
  shouldContinue: false,
  resolvedBy: 'ContinuationCriteria',
  stopReason: StopReason.Completed,
} as const;

const fallbackReason = (decision: ContinuationDecision): StopReason =>
  decision === 'forbid' ? StopReason.GuardForbade : StopReason.Completed;
