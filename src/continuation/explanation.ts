import type { GrantAllowance } from './grant-allowance.ts';
import type { Grants } from './grants.ts';
import type { StopReason } from './stop-reason.ts';

/** Why a run stopped, waits or continued, and what can be done now. The same object feeds every surface. */
export interface Explanation {
  /** What happened, in one sentence for the person in front of the screen. */
  readonly headline: string;
  /** Further sentences for that person; empty where there is nothing to add. */
  readonly detail: string;
  /** Name of the deciding criterion; null where none decided, such as during a pause. */
  readonly decidedBy: string | null;
  /** Null while the run continues or waits. */
  readonly stopReason: StopReason | null;
  /** What can be done now, first what helps most. Each of them works. */
  readonly actions: readonly ExplanationAction[];
}

interface ActionTexts {
  /** Imperative sentence for the person in front of the screen, without code. */
  readonly text: string;
  /** Goes after "To continue:", for a developer. */
  readonly developerText: string;
}

/** One thing that can be done about a run that does not continue. */
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
    | { readonly kind: 'input'; readonly callIds: readonly string[] }
    /** Continue a paused run. */
    | { readonly kind: 'resume' }
    /** Open a parked session again. */
    | { readonly kind: 'retry' }
    /** Not before this ISO time. */
    | { readonly kind: 'wait'; readonly until: string }
    /** Something has to change first; `option` names what, such as `withModel(...)` or `message`. */
    | { readonly kind: 'change'; readonly option: string | null }
    | { readonly kind: 'new_message' }
    | { readonly kind: 'ask_operator' }
  );

/** All of it in one line of text for a person: what happened, and the first thing to do. */
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
