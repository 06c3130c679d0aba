import { describe, expect, it } from 'vitest';
import type { UiMessage, UiMetadata, UiRole } from './ui-message.ts';
import { reconcile } from './with-history.ts';

const row = (id: string, role: UiRole, content = '', metadata: UiMetadata = {}): UiMessage => ({
  id,
  role,
  content,
  timestamp: '2026-01-16T12:00:00.000Z',
  metadata,
});
const call = (id: string, args: { article: string } | null = null) => ({
  id,
  name: 'stock',
  args,
  args_summary: '{"article":"lamp"}',
});
const ids = (rows: readonly UiMessage[]) => rows.map(({ id }) => id);

const user = row('u1', 'user', 'Lamps?');
const answer = row('a1', 'assistant', 'We have 7.');
const stop = row('x1:stop', 'status', 'Stopped.', { status_type: 'continuation' });

describe('reconcileMessages', () => {
  it('keeps equal objects and an equal list', () => {
    const streamed = [user, answer, stop];
    expect(reconcile(streamed, [{ ...user }, structuredClone(answer)])).toBe(streamed);
    const [first, second] = reconcile(streamed, [{ ...user }, { ...answer, content: 'We had 7.' }]);
    expect(first).toBe(user);
    expect(second).toMatchObject({ id: 'a1', content: 'We had 7.' });
  });

  it('removes temporary rows and keeps errors and stops in place', () => {
    const failed = row('x0:stop', 'status', 'Failed.', { status_type: 'error' });
    const streamed = [
      row('u0', 'user', 'Hi'),
      failed,
      user,
      row('live', 'assistant', 'We ha', { streaming: true }),
      row('x1:status', 'status', 'Thinking…', { status_type: 'thinking' }),
      stop,
    ];
    expect(ids(reconcile(streamed, [row('u0', 'user', 'Hi'), user, answer]))).toEqual([
      'u0',
      'x0:stop',
      'u1',
      'a1',
      'x1:stop',
    ]);
  });

  it('matches a message without text by its call, and a result by its call', () => {
    const streamed = [
      user,
      row('x1:calls:c1', 'assistant', '', { tool_calls: [call('c1')] }),
      row('x1:c1', 'tool', '{"pie…', {
        tool_call_id: 'c1',
        tool_result: { summary: '{"pie…', ref: 'r' },
        tool_duration_ms: 4,
        tool_error: 'late',
      }),
    ];
    const canonical = [
      user,
      row('m2', 'assistant', '', { tool_calls: [call('c1', { article: 'lamp' })] }),
      row('m3', 'tool', '{"pieces":7}', { tool_call_id: 'c1', tool_result: { pieces: 7 } }),
    ];
    const result = reconcile(streamed, canonical);
    expect(ids(result)).toEqual(['u1', 'm2', 'm3']);
    expect(result[1]).toEqual(canonical[1]);
    // only the stream has the duration and the failure
    expect(result[2]?.metadata).toEqual({
      tool_call_id: 'c1',
      tool_result: { pieces: 7 },
      tool_duration_ms: 4,
      tool_error: 'late',
    });
    expect(reconcile(result, canonical)).toBe(result);
  });

  it('does not confuse call ids that repeat in a later turn', () => {
    const turn = (n: number, made: boolean): UiMessage[] => [
      row(`u${n}`, 'user', 'go'),
      row(made ? `x${n}:calls:c1` : `m${n}`, 'assistant', '', { tool_calls: [call('c1')] }),
      row(made ? `x${n}:c1` : `t${n}`, 'tool', `result ${n}`, { tool_call_id: 'c1' }),
    ];
    const result = reconcile(
      [...turn(1, true), stop, ...turn(2, true)],
      [...turn(1, false), ...turn(2, false)],
    );
    expect(ids(result)).toEqual(['u1', 'm1', 't1', 'x1:stop', 'u2', 'm2', 't2']);
  });

  it('matches a call even if the stream has no user message', () => {
    const made = row('x1:calls:c1', 'assistant', '', { tool_calls: [call('c1')] });
    const canonical = [user, row('m2', 'assistant', '', { tool_calls: [call('c1')] })];
    expect(ids(reconcile([made], canonical))).toEqual(['u1', 'm2']);
  });

  it('keeps older rows before a page of the server, and newer rows after it', () => {
    const streamed = [row('u0', 'user', 'Hi'), user, answer, row('u2', 'user', 'More?')];
    expect(ids(reconcile(streamed, [user, answer]))).toEqual(['u0', 'u1', 'a1', 'u2']);
  });

  it('shows a pending user message once when the server has it', () => {
    const sent = (id: string) => row(id, 'user', 'go', { pending: true });
    const canonical = [user, answer, row('u2', 'user', 'go')];
    expect(ids(reconcile([user, answer, sent('s1'), sent('s2')], canonical))).toEqual([
      'u1',
      'a1',
      'u2',
      's2',
    ]);
    expect(ids(reconcile([user, answer, sent('s1')], [user, answer]))).toEqual(['u1', 'a1', 's1']);
  });

  it('accepts an empty list on either side', () => {
    expect(reconcile([], [user])).toEqual([user]);
    expect(reconcile([user, stop], [])).toEqual([user, stop]);
    const nothing: UiMessage[] = [];
    expect(reconcile(nothing, [])).toBe(nothing);
  });
});
