import { describe, expect, it } from 'vitest';
import { explainOutcome } from '../continuation/explain-outcome.ts';
import { closedOutcome, isSpent, parkedOutcome, waitAfter, waitAfterDeath } from './attempts.ts';

describe('attempts', () => {
  it('lengthens the wait with each failure, and retries immediately after the first death', () => {
    const seconds = [0, 1, 2, 3, 4, 5, 6, 40].map((n) => waitAfter(n, 15_000) / 1_000);
    expect(seconds).toEqual([0, 1, 3, 9, 27, 60, 60, 60]);
    expect(waitAfterDeath({ deaths: 0, worker: null }, 15_000)).toBe(0);
    expect(waitAfterDeath({ deaths: 0, worker: 'gone' }, 15_000)).toBe(1_000);
    expect(waitAfterDeath({ deaths: 2, worker: null }, 15_000)).toBe(3_000);
  });

  it.each([
    [{ tries: 1, deaths: 0 }, false],
    [{ tries: 9, deaths: 0 }, false], // failures of the session itself are counted where they happen
    [{ tries: 9, deaths: 2 }, false], // deaths beside other sessions
    [{ tries: 5, deaths: 4 }, false],
    [{ tries: 6, deaths: 5 }, true],
    [{ tries: 1, deaths: 9 }, false],
    [{ tries: 1, deaths: 10 }, true],
  ])('%o is spent: %s', (row, expected) => {
    expect(isSpent(row)).toBe(expected);
  });

  const parked = { deaths: 0, parkedAt: '2026-01-16T12:00:00.000Z' };
  it.each([
    [
      'a parked session',
      parkedOutcome({ ...parked, tries: 5, error: 'The database is gone.' }),
      'Failed because the work on this conversation was given up after 5 failed tries. The last error was: The database is gone. To continue, retry it.',
      'Stopped (error) by SessionRuntime: it was parked after 5 tries: The database is gone.\nTo continue: fix the cause, then call runtime.retry(id, { owner }), or stop the session.',
    ],
    [
      'a parked session without an error',
      parkedOutcome({ ...parked, tries: 1, error: null }),
      'Failed because the work on this conversation was given up after 1 failed try. To continue, retry it.',
      'Stopped (error) by SessionRuntime: it was parked after 1 try: no reason was kept.\nTo continue: fix the cause, then call runtime.retry(id, { owner }), or stop the session.',
    ],
    [
      'a session that was stopped without reading its state',
      closedOutcome('Mira pressed stop'),
      'Stopped because a stop was requested: Mira pressed stop. To continue, send a new message.',
      'Stopped (user_requested) by StopRequestCheck: Mira pressed stop.\nTo continue: send a new message.',
    ],
  ])('explains %s to users and developers', (_what, outcome, person, developer) => {
    const { headline, detail, actions } = explainOutcome(outcome);
    const texts = [headline, detail, ...actions.map(({ text }) => text)];
    expect(texts.filter(Boolean).join(' ')).toBe(person);
    expect(outcome.explain().split('\n  ')[0]).toBe(developer);
  });
});
