import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { StopReason } from '../continuation/stop-reason.ts';
import type { AgentEvent, AgentEventType } from '../events/agent-event.ts';
import { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
import type { TruncatedValue, Envelope } from './envelope.ts';
import { envelopeOf } from './envelope-of.ts';
import { wireBytes } from './frame-budget.ts';

const base = {
  agentId: '1f3a9c02-77aa-4bbb-8ccc-0123456789ab',
  parentAgentId: null,
  executionId: 'e1',
  index: 0,
  at: '2026-01-16T12:00:00.000Z',
};
const usage = { input: 10, output: 5, total: 15, cachedInput: 3, reasoning: 2 };
const forbid = (reason: string, more: object = {}): ContinuationOutcome =>
  ContinuationOutcome.resolve([
    { criterion: 'Mine', decision: 'forbid', reason, context: {}, stopReason: 'guard', ...more },
  ]);
const ended = { stepCount: 3, usage, cost: null, stopReason: 'guard', status: 'stopped' };
const end = (fields: object = {}): object => ({
  ...ended,
  outcome: forbid('enough'),
  outputText: 'text',
  ...fields,
});

const map = (
  type: AgentEventType,
  fields: object,
  settings: Partial<BroadcastSettings> = {},
): Envelope | null =>
  envelopeOf(BroadcastConfig.debug(settings))(
    { ...base, type, ...fields } as AgentEvent,
    's1',
    12,
    11,
  );
const payload = (...given: Parameters<typeof map>): Record<string, unknown> => ({
  ...map(...given)!.payload,
});

describe('events with an envelope', () => {
  const fields: Record<AgentEventType, object> = {
    AgentStarted: { agentName: 'a', resumed: false, previousStatus: 'pending', messageCount: 1 },
    MessageAdded: { messageId: 'm', role: 'user', content: 'hi', stepNumber: 0 },
    AgentStepStarted: { stepNumber: 1, attempt: 1, messageCount: 1, availableTools: [] },
    ToolsChanged: { stepNumber: 1, added: ['a'], removed: [], changed: [], unavailable: [] },
    ToolProgress: { tool: 't', toolCallId: 'c', message: 'Reading', progress: 1, total: 3 },
    StreamChunk: { messageId: 'm', stepNumber: 1, attempt: 1, content: 'x' },
    ReasoningDelta: { messageId: 'm', stepNumber: 1, attempt: 1, content: 'hm', offset: 0 },
    ToolCallDelta: { toolCallId: 'c', tool: 't', argsDelta: '{' },
    ToolCallStarted: { tool: 't', toolCallId: 'c', args: {} },
    ToolCallCompleted: {
      tool: 't',
      toolCallId: 'c',
      success: true,
      error: null,
      durationMs: 1,
      result: 1,
    },
    ToolApprovalRequested: { tool: 't', toolCallId: 'c', args: {} },
    ToolInputRequested: {
      tool: 't',
      toolCallId: 'c',
      inputId: 'c/k',
      key: 'k',
      message: 'Sure?',
      schema: {},
    },
    TokenUsageReported: { usage, cost: null },
    AgentStepCompleted: {
      stepNumber: 1,
      durationMs: 1,
      hasToolCalls: false,
      errorCount: 0,
      finishReason: 'stop',
      usage,
      outcome: forbid('x'),
    },
    StepFailed: { stepNumber: 1, attempt: 1, error: {}, waitMs: 1 },
    ModelFallback: { stepNumber: 1, attempt: 1, from: 'a', to: 'b', code: 'quota', reason: 'a' },
    ContextCompacted: {
      stepNumber: 1,
      id: 'cmp_1',
      kind: 'summary',
      messages: 2,
      tokensBefore: 9,
      tokensAfter: 4,
      reason: 'threshold',
    },
    StreamDiscarded: { stepNumber: 1, attempt: 1 },
    ContinuationEvaluated: { stepNumber: 1, outcome: forbid('x') },
    AgentStateUpdated: { status: 'in_progress', stepCount: 1 },
    AgentPaused: { kind: 'requested', pendingApprovals: [], stepCount: 1 },
    AgentFinished: end(),
    AgentFailed: { ...end(), error: null },
  };
  const sent = (settings: BroadcastSettings, parentAgentId: string | null = null): string[] =>
    (Object.keys(fields) as AgentEventType[]).flatMap((type) => {
      const event = { ...base, parentAgentId, type, ...fields[type] } as AgentEvent;
      const envelope = envelopeOf(settings)(event, 's1', 12, 11);
      return envelope === null ? [] : [`${type} ${envelope.type}`];
    });
  const statuses = [
    'AgentStarted agent.status',
    'AgentPaused agent.status',
    'AgentFinished agent.status',
    'AgentFailed agent.status',
  ];
  const steps = [
    'AgentStepStarted agent.step.started',
    'AgentStepCompleted agent.step.completed',
    'ModelFallback agent.model.fallback',
    'ContextCompacted agent.context.compacted',
  ];
  const tools = [
    'ToolCallStarted agent.tool.started',
    'ToolProgress agent.tool.progress',
    'ToolCallCompleted agent.tool.completed',
    'ToolApprovalRequested agent.approval.requested',
    'ToolInputRequested agent.input.requested',
  ];
  const messages = ['MessageAdded agent.message'];
  const trace = ['ContinuationEvaluated agent.continuation'];
  const stream = ['StreamDiscarded agent.stream.discarded'];

  it.each([
    ['minimal', BroadcastConfig.minimal(), [...statuses, ...messages]],
    [
      'standard',
      BroadcastConfig.standard(),
      [...statuses, ...messages, ...steps, ...tools, ...stream],
    ],
    [
      'debug',
      BroadcastConfig.debug(),
      [...statuses, ...messages, ...steps, ...tools, ...stream, ...trace],
    ],
    [
      'only steps',
      BroadcastConfig.minimal({ includeSteps: true }),
      [...statuses, ...messages, ...steps],
    ],
    [
      'only the trace',
      BroadcastConfig.minimal({ includeContinuationTrace: true }),
      [...statuses, ...messages, ...trace],
    ],
  ])('%s', (_name, settings, expected) => {
    expect(sent(settings).toSorted()).toEqual(expected.toSorted());
    const nested = expected.filter((line) => !statuses.includes(line));
    expect(sent(settings, 'parent').toSorted()).toEqual(nested.toSorted());
  });
});

describe('reasoning', () => {
  const thought = {
    messageId: 'm',
    role: 'assistant',
    content: '',
    stepNumber: 1,
    reasoning: 'Hm',
  };
  const added = (config: BroadcastConfig, content: string) =>
    map('MessageAdded', { ...thought, content }, config);

  it('is a field of a message if the config includes it', () => {
    expect(added(BroadcastConfig.debug(), 'Yes.')?.payload).toMatchObject({ reasoning: 'Hm' });
    expect(added(BroadcastConfig.standard(), 'Yes.')?.payload).not.toHaveProperty('reasoning');
  });

  it('makes a message without text only if the config includes it', () => {
    expect(added(BroadcastConfig.debug(), '')?.payload).toMatchObject({ content: '' });
    expect(added(BroadcastConfig.standard(), '')).toBeNull();
    expect(map('MessageAdded', { ...thought, role: 'user' })).not.toBeNull();
  });

  it('is shortened before the text if a frame is too small', () => {
    const config = BroadcastConfig.debug({ frameBytes: 2_000 });
    const fields = { ...thought, content: 'Yes.', reasoning: 'x'.repeat(5_000) };
    const { content, reasoning } = payload('MessageAdded', fields, config);
    expect(content).toBe('Yes.');
    expect(reasoning).toMatch(/^x+…$/);
  });
});

describe('fields', () => {
  it('an envelope of a step matches the contract', () => {
    const fields = {
      stepNumber: 3,
      durationMs: 1250.5,
      hasToolCalls: true,
      errorCount: 0,
      finishReason: 'tool_calls',
      usage: { input: 150, output: 50, total: 200, cachedInput: 9, reasoning: 8 },
      outcome: forbid('x'),
    };
    expect(map('AgentStepCompleted', fields, { includeContinuationTrace: false })).toEqual({
      type: 'agent.step.completed',
      session_id: 's1',
      execution_id: 'e1',
      agent_id: base.agentId,
      seq: 12,
      prev: 11,
      timestamp: base.at,
      payload: {
        step: 3,
        has_tool_calls: true,
        errors: 0,
        finish_reason: 'tool_calls',
        usage: { input: 150, output: 50, total: 200 },
        duration_ms: 1250.5,
      },
    });
    expect(payload('AgentStepCompleted', fields)['continuation']).toEqual({
      should_continue: false,
      stop_reason: 'guard',
      resolved_by: 'Mine',
    });
  });

  it('has whole arguments only if the config includes them', () => {
    const call = { tool: 't', toolCallId: 'c', args: { city: 'Paris', n: 1 } };
    const summary = { tool: 't', tool_call_id: 'c', args_summary: '{"city":"Paris","n":1}' };
    expect(payload('ToolCallStarted', call)).toEqual({ ...summary, args: call.args });
    const quiet = { includeToolArgs: false, maxArgLength: 10 };
    expect(payload('ToolCallStarted', call, quiet)).toEqual({
      ...summary,
      args_summary: '{"city":"…',
    });
    // the approver has to see what to approve
    expect(payload('ToolApprovalRequested', call, quiet)).toEqual({
      ...summary,
      args: call.args,
      args_summary: '{"city":"…',
    });
  });

  it.each([
    ['plain text', 'plain text'],
    [{ a: [1] }, '{"a":[1]}'],
    [null, 'null'],
    ['x'.repeat(500), 'x'.repeat(500)],
    ['x'.repeat(501), { summary: `${'x'.repeat(499)}…`, ref: '12.result.e1' }],
    [['y'.repeat(600)], { summary: `["${'y'.repeat(497)}…`, ref: '12.result.e1' }],
  ])('summarizes the result %j', (result, expected) => {
    const call = { tool: 't', toolCallId: 'c', success: true, error: null, durationMs: 1 };
    expect(payload('ToolCallCompleted', { ...call, result })['result_summary']).toEqual(expected);
  });

  it('an error has a short text, and the result has the full one', () => {
    const failed = { tool: 't', toolCallId: 'c', success: false, durationMs: 1 };
    const error = 'e'.repeat(600);
    const reported = payload('ToolCallCompleted', { ...failed, error, result: `Error: ${error}` });
    expect(reported['error']).toBe(`${'e'.repeat(499)}…`);
    expect(reported['result_summary']).toMatchObject({ ref: '12.result.e1' });
  });

  it('a pause names what the run waits for', () => {
    const of = (kind: string, ...tools: string[]) => reported({ kind }, ...tools);
    const reported = (pause: object, ...tools: string[]) =>
      payload('AgentPaused', {
        ...pause,
        stepCount: 2,
        pendingApprovals: tools.map((tool) => ({ tool })),
      })['stop_message'];
    expect(of('approval', 'pay')).toBe('Waiting because pay needs approval.');
    expect(of('approval', 'pay', 'mail', 'pay')).toBe(
      'Waiting because 3 calls need approval: pay, mail.',
    );
    expect(reported({ kind: 'requested', reason: 'on request' })).toBe(
      'Waiting because it was paused on request.',
    );
    expect(reported({ kind: 'requested', reason: 'lunch' })).toBe(
      'Waiting because it was paused: lunch.',
    );
    expect(of('fork')).toBe('Waiting because this fork has not been resumed.');
  });

  it.each(Object.values(StopReason))('%s is explained in one sentence', (stopReason) => {
    const outcome = forbid('this is why', { stopReason });
    const reported = payload('AgentFinished', end({ outcome, stopReason }));
    expect(reported['stop_message']).toMatch(/^[A-Z][a-z' ]+\. The rule says: this is why\.$/);
    expect(reported).toMatchObject({ stop_reason: stopReason, resolved_by: 'Mine', remedy: null });
    expect(reported['explanation']).toMatchObject({ decided_by: 'Mine', stop_reason: stopReason });
    expect(JSON.stringify(reported['explanation'])).not.toContain('developerText');
  });

  it('explains an end without an outcome, and one with a sentence as its reason', () => {
    expect(payload('AgentFinished', end({ outcome: null }))).toMatchObject({
      stop_message: 'Stopped.',
      resolved_by: null,
      remedy: null,
    });
    expect(payload('AgentFinished', end({ outcome: forbid('It broke!') }))['stop_message']).toBe(
      "Stopped because one of this assistant's rules ended it. The rule says: It broke!",
    );
    expect(payload('AgentFinished', end({ outputText: '' }))['last_response']).toBeNull();
  });
});

describe('the frame', () => {
  const fits = (envelope: Envelope, frameBytes: number): void => {
    const real = new TextEncoder().encode(JSON.stringify(JSON.stringify(envelope))).length;
    expect(real).toBeLessThanOrEqual(frameBytes - Math.min(1_500, frameBytes / 4));
  };
  const long = (letter: string): string => letter.repeat(20_000);

  it('a payload that fits stays unchanged', () => {
    const args = { city: 'Paris' };
    const given = payload('ToolCallStarted', { tool: 't', toolCallId: 'c', args });
    expect(given['args']).toBe(args);
  });

  it('truncates the answer of a stop before its explanation', () => {
    const remedy = { text: long('r'), option: 'withMaxSteps(...)', grant: { steps: 2 } };
    const outcome = forbid(long('w'), { remedy });
    const error = { message: long('e') };
    const stop = map('AgentFailed', end({ outcome, error, outputText: long('t') }));
    fits(stop!, 10_000);
    expect(stop!.payload).toMatchObject({
      last_response: { ref: '12.last_response.e1' },
      stop_message: expect.stringMatching(/ended it\. The rule says: w+…$/) as string,
      remedy: { option: 'withMaxSteps(...)', grant: { steps: 2 } },
    });
    const answered = payload('AgentFinished', end({ outputText: long('t') }));
    expect(answered).toMatchObject({
      stop_message:
        "Stopped because one of this assistant's rules ended it. The rule says: enough.",
    });
    expect((answered['last_response'] as TruncatedValue).summary.length).toBeGreaterThan(7_000);
  });

  it('a shortened list of tools ends with the number of omitted tools', () => {
    const availableTools = Array.from({ length: 500 }, (_t, i) => `a_tool_with_a_name_${i}`);
    const fields = { stepNumber: 1, attempt: 1, messageCount: 1, availableTools };
    const envelope = map('AgentStepStarted', fields)!;
    fits(envelope, 10_000);
    const names = payload('AgentStepStarted', fields)['available_tools'] as string[];
    expect(names.length).toBeGreaterThan(200);
    expect(names.slice(0, -1)).toEqual(availableTools.slice(0, names.length - 1));
    expect(names.at(-1)).toBe(`… ${500 - names.length + 1} more`);
  });

  it('truncates an invented tool name', () => {
    const call = { tool: long('t'), toolCallId: 'c', success: false, durationMs: 1 };
    const fields = { ...call, error: long('e'), result: long('r') };
    for (const frameBytes of [2_000, 10_000])
      fits(map('ToolCallCompleted', fields, { frameBytes })!, frameBytes);
  });

  it('leaves out a cyclic context', () => {
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    const envelope = map('ContinuationEvaluated', {
      stepNumber: 1,
      outcome: forbid('round and round', { context: loop }),
    })!;
    fits(envelope, 10_000);
    expect(envelope.payload).toMatchObject({
      evaluations: { summary: 'Mine forbid: round and round', ref: '12.evaluations.e1' },
    });
  });

  it('creates envelopes for absurdly small frames', () => {
    for (const frameBytes of [1, 100, 600])
      expect(
        map('MessageAdded', { messageId: 'm', content: long('x'), stepNumber: 0 }, { frameBytes })!
          .payload,
      ).toMatchObject({ content: { ref: '12.content.e1' } });
  });

  it('fits any text into frames of any size', () => {
    const letters = fc.array(
      fc.constantFrom('"', '\\', '\n', '\u0001', 'é', '你', '😀', 'a', 'b'),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(
        letters,
        fc.nat(9_000),
        fc.integer({ min: 2_000, max: 20_000 }),
        fc.constantFrom('MessageAdded', 'ToolApprovalRequested', 'ToolCallCompleted'),
        (parts, times, frameBytes, type) => {
          const text = parts.join('').repeat(times).slice(0, 30_000);
          const envelope = map(
            type,
            {
              messageId: 'm',
              content: text,
              tool: 't',
              toolCallId: 'c',
              args: { text },
              error: text,
              result: { text },
            },
            { frameBytes, maxResultLength: 25_000, maxArgLength: 25_000 },
          )!;
          fits(envelope, frameBytes);
          expect(JSON.stringify(envelope)).not.toMatch(/\\ud[89a-f]/);
          expect(wireBytes(envelope)).toBeLessThan(frameBytes + 400);
        },
      ),
      { numRuns: 200 },
    );
  });
});
