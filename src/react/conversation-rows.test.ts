import { describe, expect, it } from 'vitest';
import type { UiMessage } from '../ui/ui-message.ts';
import { conversationRows } from './conversation-rows.ts';

const row = (id: string, role: UiMessage['role'], metadata: UiMessage['metadata'] = {}) => ({
  id,
  role,
  content: id,
  timestamp: '2026-01-16T12:00:00.000Z',
  metadata,
});
const calling = (id: string, callId: string) =>
  row(id, 'assistant', {
    tool_calls: [{ id: callId, name: 'look', args: {}, args_summary: '{}' }],
  });
const result = (id: string, callId: string) =>
  row(id, 'tool', { tool_call_id: callId, tool_name: 'look', tool_result: id });

describe('calls of different turns that share an id', () => {
  const messages = [
    row('first', 'user'),
    calling('a', 'call_1'),
    result('one', 'call_1'),
    row('second', 'user'),
    calling('b', 'call_1'),
  ];
  const shown = (...more: UiMessage[]) =>
    conversationRows({ messages: [...messages, ...more], status: 'processing', approvals: [] })
      .flatMap(({ calls }) => calls)
      .map((call) => [call.state, call.result?.id]);

  it('have their own results', () => {
    expect(shown()).toEqual([
      ['done', 'one'],
      ['running', undefined],
    ]);
    expect(shown(result('two', 'call_1'))).toEqual([
      ['done', 'one'],
      ['done', 'two'],
    ]);
  });

  it('only the newest needs approval', () => {
    const asked = {
      tool: 'look',
      tool_call_id: 'call_1',
      args: {},
      args_summary: '{}',
      execution_id: 'e',
      agent_id: 'a',
    };
    const open = messages.filter(({ id }) => id !== 'one');
    const rows = conversationRows({ messages: open, status: 'paused', approvals: [asked] });
    expect(rows.flatMap(({ calls }) => calls.map(({ state }) => state))).toEqual([
      'running',
      'waiting',
    ]);
  });

  it('only the newest needs an answer', () => {
    const asked = {
      tool: 'look',
      tool_call_id: 'call_1',
      input_id: 'call_1/sure',
      key: 'sure',
      message: 'Sure?',
      execution_id: 'e',
      agent_id: 'a',
    };
    const open = messages.filter(({ id }) => id !== 'one');
    const rows = conversationRows({
      messages: open,
      status: 'paused',
      approvals: [],
      inputs: [asked],
    });
    expect(rows.flatMap(({ calls }) => calls.map(({ state }) => state))).toEqual([
      'running',
      'asking',
    ]);
  });
});
