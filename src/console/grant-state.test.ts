import { describe, expect, it } from 'vitest';
import { ApiProblem } from './api-problem.ts';
import type { GrantState } from './contract.ts';
import { nextGrantState, type GrantEvent } from './grant-state.ts';

const at = new Date(2026, 10, 16, 14, 11);
const granted: GrantState = {
  kind: 'granted',
  text: 'You allowed 5 more steps · 14:11',
  at: at.toISOString(),
};
const ready: GrantState = { kind: 'ready' };
const sending: GrantState = { kind: 'sending' };
const failed: GrantState = { kind: 'failed', message: 'The server does not respond.' };
const accepted: GrantEvent = { type: 'accepted', grant: { steps: 5 }, at };
const again: GrantEvent = { type: 'stopped-again' };
const refused = (status: number, code: string, hasMoved: boolean): GrantEvent => ({
  type: 'refused',
  problem: new ApiProblem(status, code, `message of ${code}`),
  hasMoved,
});
const lost: GrantState = { kind: 'failed', message: 'Already allowed in another tab.' };
const said = (code: string): GrantState => ({ kind: 'failed', message: `message of ${code}` });

describe('a grant', () => {
  it.each<[string, GrantState, GrantEvent, GrantState]>([
    ['pressed', ready, { type: 'sent' }, sending],
    ['taken', sending, accepted, granted],
    [
      'accepted after a pause',
      sending,
      { ...accepted, grant: null },
      { ...granted, text: 'You resumed it · 14:11' },
    ],
    ['pressed again after it failed', failed, { type: 'sent' }, sending],
    ['a granted state is not sent again', granted, { type: 'sent' }, granted],
    ['another tab was faster', sending, refused(409, 'conflict', false), lost],
    [
      'another tab was faster, and its run has ended',
      sending,
      refused(409, 'not_resumable', true),
      lost,
    ],
    [
      'refused for another reason',
      sending,
      refused(400, 'invalid_option', false),
      said('invalid_option'),
    ],
    [
      'no response is not a lost race',
      sending,
      refused(0, 'unreachable', true),
      said('unreachable'),
    ],
    ['a new stop makes a new button', granted, again, ready],
    ['a new stop after a failure', failed, again, ready],
    ['the first stop', ready, again, ready],
  ])('%s', (_why, from, event, to) => expect(nextGrantState(from, event)).toEqual(to));
});
