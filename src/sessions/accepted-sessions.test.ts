import { expect, it, vi } from 'vitest';
import { AcceptedSessions } from './accepted-sessions.ts';
import { newRow, shownRow } from './stores/session-rules.ts';

const row = shownRow(
  newRow({
    id: 's',
    owner: 'o',
    agent: 'a',
    status: 'pending',
    executionId: null,
    head: '{"state":{}}',
    messageCount: 0,
    stepCount: 0,
    createdAt: '2026-01-01T00:00:00.000Z',
  }),
  false,
);

it('returns a session once, without its head', () => {
  const accepted = new AcceptedSessions(60_000);
  accepted.note(row);
  expect(accepted.take('s')).toEqual({ ...row, head: '' });
  expect(accepted.take('s')).toBeNull();
  expect(accepted.take('other')).toBeNull();
});

it('forgets a session after the time in which a worker may have lost it', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const accepted = new AcceptedSessions(500);
  accepted.note(row);
  now.mockReturnValue(1_500);
  expect(accepted.take('s')).toBeNull();
  now.mockRestore();
});
