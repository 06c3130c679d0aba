import type { GrantAllowance } from './grant-allowance.ts';
import type { Grants } from './grants.ts';
import type { StopReason } from './stop-reason.ts';

/** Why a run stopped, waits or continued, and the possible actions. All clients show this object. */
export interface Explanation {
  /** What happened, in one sentence for the user. */
  readonly headline: string;
  /** Further sentences for the user; may be empty. */
  readonly detail: string;
  /** Name of the deciding criterion; null if none decided, such as during a pause. */
  readonly decidedBy: string | null;
  /** Null while the run continues or waits. */
  readonly stopReason: StopReason | null;
  /** Possible actions, the most useful first. Each works now, or from the time that a `wait` before it names. */
  readonly actions: readonly ExplanationAction[];
}

interface ActionTexts {
  /** Imperative sentence for the user, without code. */
  readonly text: string;
  /** Text for a developer, which follows "To continue:". */
  readonly developerText: string;
}

/** One action that continues a stopped or paused run. */
export type ExplanationAction = ActionTexts &
  (
    | {
        /** `resume` with more budget. */
        readonly kind: 'grant';
        readonly grant: Grants;
        /** The smallest grant that pays for one more step. */
        readonly minimum: Grants;
      }
    | { readonly kind: 'approve'; readonly callIds: readonly string[] }
    | {
        readonly kind: 'input';
        readonly callIds: readonly string[];
        readonly inputIds: readonly string[];
      }
    /** Continue a paused run. */
    | { readonly kind: 'resume' }
    /** Reopen a parked session. */
    | { readonly kind: 'retry' }
    /** Wait until this ISO time. */
    | { readonly kind: 'wait'; readonly until: string }
    /** Change something first; `option` names it, such as `model` or `message`. */
    | { readonly kind: 'change'; readonly option: string | null }
    | { readonly kind: 'new_message' }
    | { readonly kind: 'ask_operator' }
  );

/** The headline of an explanation in two parts, and its detail. */
export interface ExplanationParts {
  /** Such as `Stopped because`. */
  readonly lead: string;
  readonly because: string;
  readonly detail: string;
}

/** Writes an explanation in one line for a user: what happened, and the first action. */
export const explanationLine = ({
  headline,
  detail,
  actions,
}: {
  readonly headline: string;
  readonly detail: string;
  readonly actions: readonly { readonly text: string }[];
}): string => [headline, detail, actions[0]?.text ?? ''].filter(Boolean).join(' ');

export interface ExplainOptions {
  /** What the owner may still grant; null or absent: no cap applies. */
  readonly allowance?: GrantAllowance | null;
}
