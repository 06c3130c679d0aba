import type { Grants } from '../continuation/grants.ts';
import { grantText } from '../continuation/grant-text.ts';
import type { ApiProblem } from './api-problem.ts';
import { clockText } from './calendar.ts';
import type { GrantState } from './contract.ts';

export type GrantEvent =
  | { readonly type: 'sent' }
  /** `grant` is null after a pause. */
  | { readonly type: 'accepted'; readonly grant: Grants | null; readonly at: Date }
  | { readonly type: 'refused'; readonly problem: ApiProblem; readonly hasMoved: boolean }
  /** It stopped again, for another reason: the button is about that now. */
  | { readonly type: 'stopped-again' };

const ready: GrantState = { kind: 'ready' };

/** Returns the next state: ready → sending → granted or failed; a new stop makes it ready again. */
export function nextGrantState(state: GrantState, event: GrantEvent): GrantState {
  switch (event.type) {
    case 'sent':
      return state.kind === 'granted' ? state : { kind: 'sending' };
    case 'accepted':
      return {
        kind: 'granted',
        text: `${event.grant ? `You allowed ${grantText(event.grant, 'more')}` : 'You resumed it'} · ${clockText(event.at)}`,
        at: event.at.toISOString(),
      };
    case 'refused':
      return { kind: 'failed', message: refusalText(event) };
    case 'stopped-again':
      return state.kind === 'ready' ? state : ready;
  }
}

/** Returns the refusal's text. If two tabs press the button, the second one learns that the first was faster. */
function refusalText({
  problem,
  hasMoved,
}: {
  readonly problem: ApiProblem;
  readonly hasMoved: boolean;
}): string {
  const isLost =
    problem.code === 'conflict' || (hasMoved && problem.status >= 400 && problem.status < 500);
  return isLost ? 'Already allowed in another tab.' : problem.message;
}

export const readyToGrant: GrantState = ready;
