import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { isDecision, type ContinuationDecision } from './decision.ts';
import { decisiveOf } from './decisive.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { explanationText } from './explain.ts';
import { explainOutcome } from './explain-outcome.ts';
import type { ExplainOptions, Explanation } from './explanation.ts';
import { StopReason } from './stop-reason.ts';
import { withFacts } from './with-facts.ts';

/** A nested agent that stopped early; its text so far was its result. */
export interface StoppedAgent {
  readonly agent: string;
  readonly stopReason: StopReason;
}

/** A tool whose call was denied. */
export interface DeniedCall {
  readonly tool: string;
  /** The approver; null if not given. */
  readonly by: string | null;
}

/** What a user should know about a stop besides the evaluations. Absent fields hold nothing. */
export interface OutcomeNotes {
  /** Nested agents that stopped early. */
  readonly stoppedAgents?: readonly StoppedAgent[];
  /** Tools whose call was denied and that have not run since, the newest first; at most 4. */
  readonly deniedCalls?: readonly DeniedCall[];
}

export interface ContinuationOutcomeJSON extends OutcomeNotes {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];
  /** ISO time of the outcome; absent in records of earlier releases. */
  readonly at?: string;
}

/** The resolved result of a step, with every evaluation behind it. */
export class ContinuationOutcome implements ContinuationOutcomeJSON {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason | null;
  readonly evaluations: readonly ContinuationEvaluation[];
  // `declare`, so that a field that is absent from the JSON is absent here too
  declare readonly at?: string;
  declare readonly stoppedAgents?: readonly StoppedAgent[];
  declare readonly deniedCalls?: readonly DeniedCall[];

  private constructor(json: ContinuationOutcomeJSON, at: string | undefined = json.at) {
    this.decision = json.decision;
    this.shouldContinue = json.shouldContinue;
    this.resolvedBy = json.resolvedBy;
    this.stopReason = json.stopReason;
    this.evaluations = Object.freeze(json.evaluations);
    if (at !== undefined) this.at = at;
    if (json.stoppedAgents !== undefined) this.stoppedAgents = json.stoppedAgents;
    if (json.deniedCalls !== undefined) this.deniedCalls = json.deniedCalls;
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
   * Resolves the outcome: any forbid stops; else any request continues; else any allow-stop stops; else any allow
   * continues. An empty list stops. The order of the list never changes the outcome.
   */
  static resolve(evaluations: readonly ContinuationEvaluation[], at?: string): ContinuationOutcome {
    const decisive = decisiveOf(evaluations);
    if (decisive === undefined) return new ContinuationOutcome({ ...noCriteria, evaluations }, at);
    const { decision, criterion, stopReason } = decisive;
    const shouldContinue = decision === 'request' || decision === 'allow';
    const stopped = shouldContinue ? null : (stopReason ?? fallbackReason(decision));
    return new ContinuationOutcome(
      { decision, shouldContinue, resolvedBy: criterion, stopReason: stopped, evaluations },
      at,
    );
  }

  /** Returns the outcome with these notes. */
  withNotes(notes: OutcomeNotes): ContinuationOutcome {
    return new ContinuationOutcome({ ...this, ...notes });
  }

  /** The deciding evaluation, of the criterion in `resolvedBy`. */
  get decisive(): ContinuationEvaluation | undefined {
    return decisiveOf(this.evaluations);
  }

  evaluationFor(criterion: string): ContinuationEvaluation | undefined {
    return this.evaluations.find((e) => e.criterion === criterion);
  }

  /** Returns the name of the deciding criterion if it forbade, else null. */
  forbiddingCriterion(): string | null {
    return this.decision === 'forbid' ? this.resolvedBy : null;
  }

  /** Explains why the run stopped or continued, like `explainOutcome`. */
  explanation(options: ExplainOptions = {}): Explanation {
    return explainOutcome(this, options);
  }

  /** Writes a short text: outcome, numbers, how to continue, and every evaluation. */
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
