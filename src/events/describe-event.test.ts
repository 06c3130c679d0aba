import { zeroUsage } from '../inference/usage.ts';
import { describe, expect, it } from 'vitest';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentEvent, AgentEventType, FieldsOf } from './agent-event.ts';
import { describeEvent } from './describe-event.ts';

const usage = { input: 10, output: 5, total: 15, cachedInput: 0, reasoning: 0 };
const error = {
  type: 'rate_limit',
  code: 'http_429',
  message: 'slow down',
  retryable: true,
  at: '2026-01-16T12:00:00.000Z',
} as const;
const continues = ContinuationOutcome.resolve([
  { criterion: 'ToolCallPresenceCheck', decision: 'request', reason: 'calls', context: {} },
]);
const mayContinue = ContinuationOutcome.resolve([
  { criterion: 'Patience', decision: 'allow', reason: 'why not', context: {} },
]);
const stops = ContinuationOutcome.resolve([
  {
    criterion: 'StepsLimit',
    decision: 'forbid',
    reason: '3 of 3 steps',
    context: {},
    stopReason: 'steps_limit',
  },
]);
const ended = {
  previousStatus: 'in_progress' as const,
  stepCount: 3,
  usage,
  cost: null,
  outputText: 'Hello',
};
const waiting = { callId: 'call_1', tool: 'pay', args: {}, path: [] };

type Row = {
  [T in AgentEventType]: readonly [type: T, fields: FieldsOf<T>, line: string, index?: number];
}[AgentEventType];

const compacted = {
  stepNumber: 3,
  id: 'cmp_1',
  reason: 'threshold',
  usage: zeroUsage,
  cost: 0,
} as const;

const rows: readonly Row[] = [
  [
    'AgentStarted',
    {
      agentName: 'support',
      resumed: false,
      previousStatus: 'pending',
      previousStopReason: null,
      messageCount: 1,
      stepCount: 0,
    },
    'started (support, 1 message)',
  ],
  [
    'AgentStarted',
    {
      agentName: 'support',
      resumed: true,
      previousStatus: 'paused',
      previousStopReason: null,
      messageCount: 9,
      stepCount: 2,
    },
    'resumed (support, 9 messages)',
  ],
  [
    'MessageAdded',
    { messageId: 'msg_1', role: 'user', content: 'Hello', stepNumber: 0 },
    'user message, 5 characters',
  ],
  [
    'MessageAdded',
    { messageId: 'msg_1', role: 'assistant', content: '7', stepNumber: 3 },
    'step 3: assistant message, 1 character',
  ],
  [
    'AgentStepStarted',
    { stepNumber: 3, attempt: 1, messageCount: 2, availableTools: ['pay'] },
    'step 3: started',
  ],
  [
    'AgentStepStarted',
    { stepNumber: 3, attempt: 2, messageCount: 2, availableTools: [] },
    'step 3: started, attempt 2',
  ],
  [
    'StreamChunk',
    { messageId: 'msg_1', stepNumber: 3, attempt: 1, content: 'Hello', offset: 40 },
    'step 3: chunk 7, 5 characters',
    7,
  ],
  [
    'ReasoningDelta',
    { messageId: 'msg_1', stepNumber: 3, attempt: 1, content: 'Hm', offset: 0 },
    'step 3: reasoning 0, 2 characters',
  ],
  [
    'ToolCallDelta',
    { toolCallId: 'call_1', tool: 'pay', argsDelta: '{"to":', offset: 0 },
    'pay call_1: 6 characters of arguments',
  ],
  ['ToolCallStarted', { tool: 'pay', toolCallId: 'call_1', args: {} }, 'pay call_1: started'],
  [
    'ToolsChanged',
    {
      stepNumber: 2,
      added: ['a', 'b'],
      removed: ['c'],
      changed: [],
      unavailable: [{ source: 'github', reason: 'no answer' }],
    },
    'step 2: tools 2 added, 1 removed; github unavailable: no answer',
  ],
  [
    'ToolProgress',
    { tool: 'scan', toolCallId: 'call_1', message: 'Reading', progress: 3, total: 12 },
    'scan call_1: 3 of 12: Reading',
  ],
  [
    'ToolCallCompleted',
    {
      tool: 'pay',
      toolCallId: 'call_1',
      success: true,
      error: null,
      durationMs: 12.4,
      result: 'ok',
    },
    'pay call_1: ok in 12 ms',
  ],
  [
    'ToolCallCompleted',
    {
      tool: 'pay',
      toolCallId: 'call_1',
      success: false,
      error: 'no money',
      durationMs: 0.2,
      result: 'Error: no money',
    },
    'pay call_1: failed (no money) in 0 ms',
  ],
  [
    'ToolApprovalRequested',
    { tool: 'pay', toolCallId: 'call_1', args: {} },
    'pay call_1: waits for approval',
  ],
  ['TokenUsageReported', { usage, cost: null }, 'used 15 tokens'],
  ['TokenUsageReported', { usage, cost: 0.25 }, 'used 15 tokens for 0.25'],
  [
    'AgentStepCompleted',
    {
      stepNumber: 3,
      durationMs: 1250.5,
      hasToolCalls: false,
      errorCount: 0,
      finishReason: 'stop',
      usage,
      outcome: stops,
    },
    'step 3: completed in 1251 ms (stop)',
  ],
  [
    'AgentStepCompleted',
    {
      stepNumber: 3,
      durationMs: 8,
      hasToolCalls: false,
      errorCount: 0,
      finishReason: null,
      usage,
      outcome: stops,
    },
    'step 3: completed in 8 ms (cut)',
  ],
  [
    'StepFailed',
    { stepNumber: 3, attempt: 2, error, waitMs: 500 },
    'step 3: FAILED (rate_limit, attempt 2): slow down',
  ],
  [
    'ModelFallback',
    { stepNumber: 3, attempt: 1, from: 'a', to: 'b', code: 'quota', reason: 'a has no quota left' },
    'step 3: a has no quota left',
  ],
  [
    'ContextCompacted',
    { ...compacted, kind: 'summary', messages: 182, tokensBefore: 96_400, tokensAfter: 1_249 },
    'step 3: earlier messages summarized: 182 messages, 96k → 1.2k tokens',
  ],
  [
    'ContextCompacted',
    { ...compacted, kind: 'tool_results', messages: 1, tokensBefore: 9_999, tokensAfter: 900 },
    'step 3: earlier tool results left out: 10k → 900 tokens',
  ],
  ['StreamDiscarded', { stepNumber: 3, attempt: 2 }, 'step 3: shown text discarded (attempt 2)'],
  ['ContinuationEvaluated', { stepNumber: 3, outcome: stops }, 'step 3: STOP (steps_limit)'],
  [
    'ContinuationEvaluated',
    { stepNumber: 2, outcome: continues },
    'step 2: CONTINUE (requested by ToolCallPresenceCheck)',
  ],
  [
    'ContinuationEvaluated',
    { stepNumber: 0, outcome: mayContinue },
    'step 0: CONTINUE (allowed by Patience)',
  ],
  ['AgentStateUpdated', { status: 'in_progress', stepCount: 3 }, 'is in_progress after 3 steps'],
  [
    'AgentPaused',
    { kind: 'approval', reason: null, pendingApprovals: [waiting], stepCount: 3 },
    'paused (approval, 1 approval pending)',
  ],
  [
    'ToolInputRequested',
    { tool: 'pay', toolCallId: 'call_1', inputId: 'call_1/ok', key: 'ok', message: 'Sure?' },
    'pay call_1: asks for ok',
  ],
  [
    'AgentPaused',
    {
      kind: 'input',
      reason: null,
      pendingApprovals: [],
      pendingInputs: [{} as never, {} as never],
      stepCount: 3,
    },
    'paused (input, 2 questions pending)',
  ],
  [
    'AgentFinished',
    { ...ended, status: 'stopped', stopReason: 'steps_limit', outcome: stops },
    'finished: stopped (steps_limit) after 3 steps',
  ],
  [
    'AgentFailed',
    { ...ended, status: 'failed', stopReason: 'error', outcome: stops, error },
    'FAILED (error) after 3 steps: slow down',
  ],
  [
    'AgentFailed',
    { ...ended, status: 'failed', stopReason: 'error', outcome: stops, error: null },
    'FAILED (error) after 3 steps',
  ],
];

const eventOf = ([type, fields, , index = 0]: Row): AgentEvent =>
  ({
    type,
    agentId: '1f3a9c02-77aa-4bbb-8ccc-0123456789ab',
    parentAgentId: null,
    executionId: 'e',
    index,
    at: '2026-01-16T12:00:00.000Z',
    ...fields,
  }) as AgentEvent; // a row pairs a type with its fields

describe('describeEvent', () => {
  it.each(rows.map((row) => [row[2], row] as const))('Agent [1f3a9c02] %s', (line, row) => {
    expect(describeEvent(eventOf(row))).toBe(`Agent [1f3a9c02] ${line}`);
  });

  it('has a line for every type of event', () => {
    const types: Record<AgentEventType, true> = {
      AgentStarted: true,
      MessageAdded: true,
      AgentStepStarted: true,
      ToolsChanged: true,
      ToolProgress: true,
      StreamChunk: true,
      ReasoningDelta: true,
      ToolCallDelta: true,
      ToolCallStarted: true,
      ToolCallCompleted: true,
      ToolApprovalRequested: true,
      ToolInputRequested: true,
      TokenUsageReported: true,
      AgentStepCompleted: true,
      StepFailed: true,
      ModelFallback: true,
      ContextCompacted: true,
      StreamDiscarded: true,
      ContinuationEvaluated: true,
      AgentStateUpdated: true,
      AgentPaused: true,
      AgentFinished: true,
      AgentFailed: true,
    };
    expect(new Set(rows.map(([type]) => type))).toEqual(new Set(Object.keys(types)));
  });
});
