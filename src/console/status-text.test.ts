import { expect, it } from 'vitest';
import { statusText, type StatusFacts } from './status-text.ts';

it.each<[StatusFacts['status'], string | null, number, string]>([
  ['idle', null, 0, 'Ready'],
  ['processing', null, 0, 'Working'],
  ['paused', null, 2, 'Needs approval'],
  ['paused', null, 0, 'Paused'],
  ['completed', 'completed', 0, 'Completed'],
  ['stopped', 'steps_limit', 0, 'Stopped · step limit'],
  ['failed', 'retry_limit', 0, 'Failed · retries used up'],
  ['failed', null, 0, 'Failed'],
  ['stopped', 'from_a_newer_server', 0, 'Stopped · from_a_newer_server'],
  ['cancelled', 'user_requested', 0, 'Stopped by you'],
])('%s, %s, %d approvals: %s', (status, stopReason, approvals, words) =>
  expect(statusText({ status, stopReason, approvals })).toBe(words),
);
