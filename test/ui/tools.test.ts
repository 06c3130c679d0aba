import { describe, expect, it } from 'vitest';
import type { UiState } from 'onward/ui';
import { Wire } from './wire.ts';
import { reduceAll, said, show } from './shown.ts';

const child = { agent_id: 'child', parent_agent_id: 'root' };

describe('tool calls', () => {
  it('belong to the message of their step, with results in the order of the calls', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.message('m1', 'assistant', 'Let me look.', 1);
    wire.toolStarted('c1');
    wire.toolStarted('c2');
    wire.toolDone('c2', 'none', 'not found');
    wire.toolDone('c1');
    wire.stepDone(1);
    wire.step(2);
    wire.toolStarted('c3');
    const { messages } = reduceAll(wire.all);
    expect(messages.map(({ id }) => id)).toEqual([
      'x1-user',
      'm1',
      'x1:c1',
      'x1:c2',
      'x1:calls:c3',
      'x1:status',
    ]);
    expect(messages[2]).toMatchObject({
      role: 'tool',
      content: '{"pieces":7}',
      metadata: {
        tool_call_id: 'c1',
        tool_name: 'stock',
        tool_result: { pieces: 7 },
        tool_duration_ms: 12,
      },
    });
    expect(messages[2]?.metadata.tool_error).toBeUndefined();
    expect(messages[3]?.metadata).toMatchObject({ tool_result: 'none', tool_error: 'not found' });
  });

  it('show without a start, and once after two starts', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.toolDone('c1', 'There is no tool "serch".', 'unknown tool');
    wire.toolStarted('c2');
    wire.toolStarted('c2');
    wire.toolDone('c2');
    expect(said(reduceAll(wire.all))).toEqual([
      'user: Lamps?',
      'assistant:  [c1 null, c2 null]',
      'tool: There is no tool "serch".',
      'tool: {"pieces":7}',
    ]);
  });

  it('of a step that restarts after a crash have a new message', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.toolStarted('c1');
    wire.step(1);
    wire.toolStarted('c2');
    expect(said(reduceAll(wire.all))).toEqual([
      'user: Lamps?',
      'assistant:  [c1 null]',
      'assistant:  [c2 null]',
    ]);
  });

  it('show the summary of truncated values and keep the ref', () => {
    const wire = new Wire().begin();
    wire.message('m1', 'assistant', { summary: 'A long st…', ref: 'x1/3/content' }, 1);
    wire.toolStarted('c1');
    wire.toolDone('c1', { summary: '[1,2,…', ref: 'x1/5/result' });
    const [, text, result] = reduceAll(wire.all).messages;
    expect(text).toMatchObject({
      content: 'A long st…',
      metadata: { content_ref: 'x1/3/content' },
    });
    expect(result).toMatchObject({
      content: '[1,2,…',
      metadata: { tool_result: { summary: '[1,2,…', ref: 'x1/5/result' } },
    });
  });

  it('replace the arguments with the summary of edited ones', () => {
    const wire = new Wire().begin();
    wire.approval('c1');
    wire.status('paused');
    wire.status('processing');
    wire.toolStarted('c1', 'pay', '{"sum":3}');
    expect(reduceAll(wire.all).messages[1]?.metadata.tool_calls).toEqual([
      { id: 'c1', name: 'pay', args: null, args_summary: '{"sum":3}' },
    ]);
  });
});

describe('approvals', () => {
  const waiting = ({ approvals }: UiState) => approvals.map(({ tool_call_id }) => tool_call_id);

  it('are pending until their call starts or ends, over any number of pauses', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.approval('c1');
    wire.approval('c2');
    wire.approval('n1', child);
    wire.status('paused', { stop_message: 'Waiting for a person.' });
    let state = reduceAll(wire.all);
    expect(waiting(state)).toEqual(['c1', 'c2', 'n1']);
    expect(state.approvals[0]).toEqual({
      tool: 'pay',
      tool_call_id: 'c1',
      args: { sum: 5 },
      args_summary: '{"sum":5}',
      execution_id: 'x1',
      agent_id: 'root',
    });
    expect(said(state)).toEqual(['user: Lamps?', 'assistant:  [c1 {"sum":5}, c2 {"sum":5}]']);
    state = reduceAll([wire.status('processing'), wire.toolDone('c1', 'Denied', 'denied')], state);
    expect(waiting(state)).toEqual(['c2', 'n1']);
    state = reduceAll([wire.status('paused'), wire.status('processing')], state);
    state = reduceAll([wire.toolStarted('c2', 'pay', '{"sum":5}')], state);
    expect(waiting(state)).toEqual(['n1']);
    state = reduceAll([wire.toolStarted('n1', 'pay', '{}', child)], state);
    expect(waiting(state)).toEqual([]);
  });

  it('are removed at the end of the run', () => {
    const wire = new Wire().begin();
    wire.approval('c1');
    wire.status('cancelled', { stop_reason: 'user_requested', stop_message: 'Stopped.' });
    expect(reduceAll(wire.all).approvals).toEqual([]);
  });
});

describe('nested agents', () => {
  it('show as a temporary line, and never as the answer', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.toolStarted('c1', 'ask_stockist');
    wire.step(1, child);
    wire.chunk('n1', 'Seven, I th', 1, 1, child);
    let state = reduceAll(wire.all);
    expect(show(state)).toEqual([
      'user: Lamps?',
      'assistant:  [c1 null]',
      'status: Seven, I th',
      'status: Running ask_stockist…',
    ]);
    expect(state.messages[2]?.metadata).toEqual({
      status_type: 'info',
      agent_id: 'child',
      parent_agent_id: 'root',
    });
    wire.send(
      'agent.message',
      { message_id: 'n1', role: 'assistant', content: 'Seven.', step: 1 },
      child,
    );
    wire.toolStarted('n2', 'count', '{}', child);
    state = reduceAll(wire.all);
    expect(show(state)[2]).toBe('status: Running count…');
    wire.toolDone('n2', '7', null, child);
    wire.stepDone(1, 30, child);
    expect(show(reduceAll(wire.all))).toEqual([
      'user: Lamps?',
      'assistant:  [c1 null]',
      'status: Running ask_stockist…',
    ]);
    wire.toolDone('c1', 'Seven.');
    wire.stepDone(1, 40);
    state = reduceAll(wire.all);
    expect(said(state)).toEqual(['user: Lamps?', 'assistant:  [c1 null]', 'tool: Seven.']);
    // the caller's step includes the usage of the nested agent
    expect(state.usage.total).toBe(40);
    expect(state.stepCount).toBe(1);
  });

  it('disappear with their call', () => {
    const wire = new Wire().begin();
    wire.toolStarted('c1', 'ask_stockist');
    wire.toolStarted('n1', 'count', '{}', child);
    wire.toolDone('c1', 'Seven.');
    wire.toolStarted('c2');
    expect(show(reduceAll(wire.all)).filter((line) => line.startsWith('status'))).toEqual([
      'status: Running stock…',
    ]);
  });

  it('that are unknown do not show as the answer', () => {
    const wire = new Wire().begin();
    wire.chunk('n1', 'nested', 1, 1, child);
    wire.send('agent.tool.delta', { tool_call_id: 'n2', args_delta: '{}' }, child);
    expect(show(reduceAll(wire.all))).toEqual(['user: Lamps?', 'status: Thinking…']);
  });
});
