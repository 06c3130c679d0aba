import type { NewSessionRow } from '../../src/sessions/session-rows.ts';

/** The row of a new session. */
export const newSessionRow = (id: string, more: Partial<NewSessionRow> = {}): NewSessionRow => ({
  id,
  owner: 'ann',
  agent: 'support',
  status: 'pending',
  executionId: null,
  head: '{}',
  messageCount: 0,
  stepCount: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
