import { expect, it } from 'vitest';
import { answerText } from './answer-text.ts';

const at = '2026-11-17T19:05:59.123Z';

it.each([
  [{ decision: 'approved', by: 'ann', at }, 'approved by ann on 2026-11-17 at 19:05 UTC'],
  [{ decision: 'edited', by: null, at }, 'approved with changes on 2026-11-17 at 19:05 UTC'],
  [{ decision: 'denied', by: 'a\u202eb', at }, 'denied by a\\u202eb on 2026-11-17 at 19:05 UTC'],
  [
    { decision: 'approved', by: 'ann', at, notRemembered: true },
    'approved by ann on 2026-11-17 at 19:05 UTC, not remembered because the session remembers the most approvals that it may',
  ],
] as const)('%j', (record, text) => {
  expect(answerText({ ...record, argsHash: '' })).toBe(text);
});
