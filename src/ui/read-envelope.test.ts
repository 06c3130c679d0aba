import { expect, it } from 'vitest';
import { readEnvelope } from './read-envelope.ts';

const approval = (hidden: unknown): unknown => ({
  type: 'agent.approval.requested',
  session_id: 's1',
  execution_id: 'e1',
  agent_id: 'a1',
  seq: 1,
  prev: 0,
  timestamp: '2026-01-16T12:00:00.000Z',
  payload: { tool: 'pay', tool_call_id: 'c1', args: {}, args_summary: '{}', hidden },
});

it.each([
  [['/ssn'], ['/ssn']],
  // hidden positions cannot be read, so everything is marked
  ['/ssn', ['']],
  [[1], ['']],
  [{ at: '/ssn' }, ['']],
])('an approval with hidden parts %j marks %j', (hidden, marked) => {
  expect(readEnvelope(approval(hidden))?.envelope.payload).toMatchObject({ hidden: marked });
});
