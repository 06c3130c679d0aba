import { describe, expect, it, vi } from 'vitest';
import { session } from '../../testing/broadcaster-contract/sample-envelopes.ts';
import { envelopeTypes } from '../../ui/read-envelope.ts';
import type { Envelope } from '../envelope.ts';
import { consoleBroadcaster, describeEnvelope } from './console.ts';

const base = {
  session_id: 's',
  execution_id: 'e',
  agent_id: 'a',
  seq: 12,
  prev: 11,
  timestamp: '2026-01-16T12:00:00.000Z',
};
const unnumbered = { ...base, seq: null, prev: null };
const call = { tool: 'pay', tool_call_id: 'call_1' };
const long = 'x'.repeat(200);
const stopped = {
  status: 'stopped',
  previous_status: 'processing',
  step_count: 4,
  stop_reason: 'steps_limit',
  stop_message: 'The limit of steps was reached: 4 of 4 steps.',
  resolved_by: 'StepsLimit',
  remedy: null,
  error_message: null,
  last_response: null,
} as const;

const rows: readonly (readonly [Envelope, string])[] = [
  [
    {
      ...base,
      type: 'agent.status',
      payload: { status: 'processing', previous_status: 'idle', step_count: 0 },
    },
    '#12 agent.status: idle -> processing',
  ],
  [
    { ...base, type: 'agent.status', payload: stopped },
    '#12 agent.status: processing -> stopped. The limit of steps was reached: 4 of 4 steps.',
  ],
  [
    {
      ...base,
      type: 'agent.message',
      payload: { message_id: 'm', role: 'user', content: 'two\nlines', step: 0 },
    },
    '#12 agent.message: user "two\\nlines"',
  ],
  [
    {
      ...base,
      type: 'agent.message',
      payload: {
        message_id: 'm',
        role: 'assistant',
        content: { summary: long, ref: 'r' },
        step: 0,
      },
    },
    `#12 agent.message: assistant "${'x'.repeat(79)}…"`,
  ],
  [
    {
      ...base,
      type: 'agent.step.started',
      payload: { step: 3, message_count: 2, available_tools: ['pay'] },
    },
    '#12 agent.step.started: step 3',
  ],
  [
    {
      ...base,
      type: 'agent.step.completed',
      payload: {
        step: 3,
        has_tool_calls: true,
        errors: 0,
        finish_reason: 'tool_calls',
        usage: { input: 150, output: 50, total: 200 },
        duration_ms: 1250.5,
      },
    },
    '#12 agent.step.completed: step 3, tool_calls, 200 tokens',
  ],
  [
    {
      ...base,
      type: 'agent.model.fallback',
      payload: {
        step: 3,
        attempt: 1,
        from: 'a',
        to: 'b',
        error_code: 'quota',
        reason: 'a has no quota left, continued with b',
      },
    },
    '#12 agent.model.fallback: step 3, a has no quota left, continued with b',
  ],
  [
    {
      ...base,
      type: 'agent.context.compacted',
      payload: {
        step: 3,
        kind: 'summary',
        reason: 'threshold',
        compaction_id: 'cmp_1',
        messages: 182,
        tokens_before: 96_000,
        tokens_after: 1_200,
      },
    },
    '#12 agent.context.compacted: step 3, earlier messages summarized: 182 messages, 96k → 1.2k tokens',
  ],
  [
    {
      ...base,
      parent_agent_id: 'p',
      type: 'agent.tool.started',
      payload: { ...call, args_summary: '{"to":"Ann"}' },
    },
    '#12 agent.tool.started (nested): pay call_1 {"to":"Ann"}',
  ],
  [
    {
      ...base,
      type: 'agent.tool.progress',
      payload: { ...call, message: 'Reading', progress: 3, total: 12 },
    },
    '#12 agent.tool.progress: pay call_1 3 of 12: Reading',
  ],
  [
    {
      ...base,
      type: 'agent.tool.completed',
      payload: { ...call, success: true, error: null, duration_ms: 1, result_summary: 'paid' },
    },
    '#12 agent.tool.completed: pay call_1 ok "paid"',
  ],
  [
    {
      ...base,
      type: 'agent.tool.completed',
      payload: {
        ...call,
        success: false,
        error: 'no',
        duration_ms: 1,
        result_summary: 'Error: no',
      },
    },
    '#12 agent.tool.completed: pay call_1 failed "no"',
  ],
  [
    {
      ...base,
      type: 'agent.approval.requested',
      payload: { ...call, args: {}, args_summary: '{}' },
    },
    '#12 agent.approval.requested: pay call_1 {}',
  ],
  [
    {
      ...base,
      type: 'agent.input.requested',
      payload: { ...call, input_id: 'call_1/ok', key: 'ok', message: 'Sure?', schema: {} },
    },
    '#12 agent.input.requested: pay call_1/ok "Sure?"',
  ],
  [
    {
      ...base,
      type: 'agent.continuation',
      payload: {
        step: 3,
        should_continue: false,
        stop_reason: 'guard',
        resolved_by: 'Mine',
        evaluations: [],
      },
    },
    '#12 agent.continuation: step 3 stops (guard), says Mine',
  ],
  [
    {
      ...unnumbered,
      type: 'agent.stream.chunk',
      payload: {
        message_id: 'm',
        step: 3,
        attempt: 1,
        chunk_index: 0,
        content: 'Hel',
        is_complete: false,
      },
    },
    'agent.stream.chunk: step 3 "Hel"',
  ],
  [
    {
      ...unnumbered,
      type: 'agent.stream.chunk',
      payload: {
        message_id: 'm',
        step: 3,
        attempt: 1,
        chunk_index: 1,
        content: '',
        is_complete: true,
      },
    },
    'agent.stream.chunk: step 3 complete',
  ],
  [
    {
      ...base,
      seq: null,
      type: 'agent.reasoning.chunk',
      payload: { message_id: 'm', step: 3, attempt: 1, content: 'Hm', offset: 0 },
    },
    'agent.reasoning.chunk: step 3 "Hm"',
  ],
  [
    { ...base, type: 'agent.worker', seq: null, prev: null, payload: { status: 'lost' } },
    'agent.worker: lost',
  ],
  [
    { ...base, type: 'agent.stream.discarded', payload: { step: 3, attempt: 2 } },
    '#12 agent.stream.discarded: step 3, attempt 2',
  ],
  [
    {
      ...unnumbered,
      type: 'agent.tool.delta',
      payload: { tool_call_id: 'call_1', args_delta: '{"to":' },
    },
    'agent.tool.delta: call_1 "{\\"to\\":"',
  ],
];

describe('consoleBroadcaster', () => {
  it.each(rows)('%#', (envelope, line) => {
    expect(describeEnvelope(envelope)).toBe(line);
  });

  it('has a line for every type', () => {
    expect(new Set(rows.map(([{ type }]) => type))).toEqual(new Set(envelopeTypes));
  });

  it('writes one redacted line for each envelope to the given log, or to the console', () => {
    const lines: string[] = [];
    const { channel, envelopes } = session(3);
    const broadcaster = consoleBroadcaster({ log: (line) => lines.push(line) });
    void broadcaster.broadcast(channel, envelopes[0]!);
    void broadcaster.broadcastBatch(envelopes.slice(1).map((envelope) => ({ channel, envelope })));
    expect(lines).toHaveLength(3);
    expect(lines[2]).toBe(`${channel} #3 agent.message: assistant "text 2"`);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const said = 'take sk-live-CANARY0123456789abcdef';
    const chunk: Envelope = {
      ...unnumbered,
      type: 'agent.tool.delta',
      payload: { tool_call_id: 'c', args_delta: said },
    };
    void consoleBroadcaster().broadcast('agent.s', chunk);
    expect(log.mock.calls).toEqual([['agent.s agent.tool.delta: c "take [redacted]"']]);
    log.mockRestore();
  });
});
