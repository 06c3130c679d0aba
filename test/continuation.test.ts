import {
  AgentBuilder,
  AgentState,
  AgentStatus,
  noProgressLimit,
  StopReason,
  type AgentEvent,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { statusFacts, statusOf } from '../src/agent/agent-status.ts';
import { base } from './setup/continuation.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, final } = ScenarioStep;

const terminal = new Set(['AgentFinished', 'AgentFailed', 'AgentPaused']);

describe('the outcome of a run', () => {
  it('D01: a run that exhausts its steps ends with one outcome and one final event', async () => {
    const { builder } = base(pages(4));
    const events: AgentEvent[] = [];
    const state = await builder
      .withMaxSteps(4)
      .build()
      .run('go', { wiretap: (e) => events.push(e) });
    const outcome = state.lastContinuationOutcome;
    expect(outcome).toMatchObject({ stopReason: 'steps_limit', resolvedBy: 'StepsLimit' });
    expect(outcome?.evaluationFor('StepsLimit')?.context).toEqual({ used: 4, limit: 4 });
    expect(events.filter((e) => terminal.has(e.type))).toMatchObject([
      { type: 'AgentFinished', status: 'stopped', stopReason: 'steps_limit', stepCount: 4 },
    ]);
  });

  it('is the same object in the state, the step and the events', async () => {
    const { builder } = base([...pages(1), final('done')]);
    const events: AgentEvent[] = [];
    const state = await builder.build().run('go', { wiretap: (e) => events.push(e) });
    const outcome = state.lastContinuationOutcome;
    expect(state.steps.at(-1)?.outcome).toBe(outcome);
    const reported = events.filter((e) => 'outcome' in e).map((e) => [e.type, e.outcome]);
    expect(reported.slice(-3)).toEqual([
      ['AgentStepCompleted', outcome],
      ['ContinuationEvaluated', outcome],
      ['AgentFinished', outcome],
    ]);
    for (const [, seen] of reported.slice(-3)) expect(seen).toBe(outcome);
  });

  it('is evaluated once before the first step and once after each step', async () => {
    const { builder } = base([...pages(2), final('done')]);
    const seen: [number, string][] = [];
    const agent = builder.build();
    agent.on('ContinuationEvaluated', ({ stepNumber, outcome }) =>
      seen.push([stepNumber, outcome.resolvedBy]),
    );
    await agent.run('go');
    expect(seen).toEqual([
      [0, 'ToolCallPresenceCheck'],
      [1, 'ToolCallPresenceCheck'],
      [2, 'ToolCallPresenceCheck'],
      [3, 'ToolCallPresenceCheck'],
    ]);
  });

  it('has an evaluation for every criterion, in the order of describe()', async () => {
    const { builder } = base([...pages(3), final('done')]);
    const agent = builder.withMaxTokens(9_999).withMaxCost(1).build();
    const { criteria } = agent.describe();
    expect(criteria).toEqual([
      'StepsLimit',
      'TokenUsageLimit',
      'CostLimit',
      'ExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    const state = await agent.run('go');
    for (const { outcome } of state.steps)
      expect(outcome?.evaluations.map((e) => e.criterion)).toEqual(criteria);
  });

  it('D02: has a remedy that names the limit, the option to raise and the grant', async () => {
    const { builder } = base(pages(5));
    const state = await builder.withMaxSteps(5).build().run('go');
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      reason: '5 of 5 steps used while work is still pending',
      remedy: {
        text: 'call resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
        option: 'withMaxSteps(...)',
        grant: { steps: 5 },
      },
    });
  });

  it('D12: describe() lists the limits before the run', () => {
    const { builder } = base([]);
    const limits = (b: AgentBuilder) => b.build().describe().limits;
    expect(limits(builder)).toEqual({ StepsLimit: 20, ExecutionTimeLimit: 300 });
    expect(
      limits(
        builder
          .withMaxSteps(7)
          .withMaxTokens(1_000)
          .withMaxCost(0.5)
          .withCumulativeTimeout({ seconds: 60 })
          .addContinuationCriteria(noProgressLimit(3)),
      ),
    ).toEqual({
      StepsLimit: 7,
      TokenUsageLimit: 1_000,
      CostLimit: 0.5,
      CumulativeExecutionTimeLimit: 60,
      NoProgressLimit: 3,
    });
    const bare = AgentBuilder.new().withDriver(DeterministicDriver.fromSteps()).build().describe();
    expect(bare.limits).toEqual({});
    expect(bare.criteria).toEqual([
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
  });
});

describe('tool calls', () => {
  it.each(['stop', 'other', 'unknown', 'end_turn', 'tool_calls'])(
    'D07: run and continue the loop when the finish reason is %s',
    async (finishReason) => {
      const search = mockTool('search', 'found');
      const { builder } = base(
        [toolCall('search', { q: 'acme' }, '', { finishReason }), final('done')],
        [search],
      );
      const state = await builder.build().run('go');
      expect(search.calls).toEqual([{ q: 'acme' }]);
      expect(state).toMatchObject({ stopReason: 'completed', output: 'done' });
      const [step] = [...state.steps];
      expect(step).toMatchObject({ type: 'tool_calls', finishReason: 'tool_calls' });
      expect(step?.notes).toEqual(
        finishReason === 'tool_calls' ? [] : [`finishReasonCorrected:${finishReason}`],
      );
    },
  );

  it('D14: that repeat stop the run as guard, regardless of argument order', async () => {
    const search = mockTool('search', { hits: [] });
    const { builder } = base(
      [
        toolCall('search', { query: 'acme', page: 1 }),
        toolCall('search', { page: 1, query: 'acme' }),
        toolCall('search', { query: 'acme', page: 1 }),
      ],
      [search],
    );
    const state = await builder.addContinuationCriteria(noProgressLimit(3)).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'NoProgressLimit',
      context: { used: 3, limit: 3, toolName: 'search' },
    });
    expect(search.calls.length).toBe(3);
  });

  it('D14: count as progress when the result changes', async () => {
    const search = mockTool('search', ['queued', 'running', 'done']);
    const { builder } = base(
      [toolCall('search'), toolCall('search'), toolCall('search'), final('done')],
      [search],
    );
    const state = await builder.addContinuationCriteria(noProgressLimit(2)).build().run('go');
    expect(state.stopReason).toBe('completed');
  });
});

describe('status mapping', () => {
  const reasons = Object.values(StopReason);

  it.each<[StopReason, AgentStatus, string, string]>([
    ['completed', 'completed', 'completed', 'AgentFinished'],
    ['steps_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['token_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['time_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['finish_reason', 'stopped', 'stopped', 'AgentFinished'],
    ['guard', 'stopped', 'stopped', 'AgentFinished'],
    ['user_requested', 'stopped', 'cancelled', 'AgentFinished'],
    ['error', 'failed', 'failed', 'AgentFailed'],
    ['retry_limit', 'failed', 'failed', 'AgentFailed'],
  ])('%s leads to status %s, broadcast %s, event %s', (reason, status, broadcast, event) => {
    expect(statusOf(reason)).toBe(status);
    expect(statusFacts(status, reason)).toEqual({ broadcast, event });
  });

  it('D11: the table above has every reason, and only completed maps to completed', () => {
    expect(reasons.length).toBe(9);
    expect(reasons.filter((reason) => statusOf(reason) === 'completed')).toEqual(['completed']);
  });

  it.each<[AgentStatus, string, string | null]>([
    ['pending', 'idle', null],
    ['in_progress', 'processing', 'AgentStarted'],
    ['paused', 'paused', 'AgentPaused'],
  ])(
    'D10: an open %s run is broadcast as %s, regardless of the previous stop reason',
    (status, broadcast, event) => {
      for (const reason of [null, ...reasons])
        expect(statusFacts(status, reason)).toEqual({ broadcast, event });
    },
  );

  it('D11: every status has a broadcast value', () => {
    for (const status of Object.values(AgentStatus))
      expect(statusFacts(status, null).broadcast).toEqual(expect.any(String));
  });

  it('D10: a paused run stays paused in the result, the event and the stored document', async () => {
    const { builder } = base(
      [toolCall('search')],
      [mockTool('search', 'ok', { needsApproval: true })],
    );
    const events: AgentEvent[] = [];
    const state = await builder.build().run('go', { wiretap: (e) => events.push(e) });
    expect(state).toMatchObject({ status: 'paused', stopReason: null, output: null });
    expect(events.at(-1)).toMatchObject({ type: 'AgentPaused', kind: 'approval' });
    expect(AgentState.from(JSON.parse(JSON.stringify(state))).status).toBe('paused');
  });
});
