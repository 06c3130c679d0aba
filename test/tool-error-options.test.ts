import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, limited, policyEvaluation } from './setup/error-policy.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const offline = new Error('offline');
const tools = [
  mockTool('shared', offline),
  mockTool('twice', offline, { maxRetries: 2 }),
  mockTool('fatal', offline, { onError: 'stop' }),
  mockTool('loose', offline, { onError: 'ignore' }),
  mockTool('eager', offline, { onError: 'retry' }),
  mockTool('fine'),
  mockTool('pay', 'paid', { needsApproval: true }),
];

function setUp(script: readonly ScenarioStep[], policy: ErrorPolicy = ErrorPolicy.production()) {
  const driver = DeterministicDriver.create(script);
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(...tools)
    .withErrorPolicy(at(policy));
  return { driver, agent: builder.build() };
}

const stored = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)) as never);
const reasons = (state: AgentState) => [...state.steps].map((s) => policyEvaluation(s)?.reason);

describe('onError and maxRetries of a tool', () => {
  it.each<[string, ErrorPolicy, string | null, string]>([
    ['fatal', ErrorPolicy.production(), 'error', 'and onError of fatal is stop'],
    ['loose', ErrorPolicy.stopOnAnyError(), 'completed', 'tool error in loose, ignored'],
    ['eager', ErrorPolicy.production(), 'completed', 'tool error in eager, retrying (1/5)'],
    ['eager', ErrorPolicy.stopOnAnyError(), 'retry_limit', 'tried again 0 of 0 times'],
    ['twice', ErrorPolicy.stopOnAnyError(), 'completed', 'tool error in twice, retrying (1/2)'],
    ['shared', ErrorPolicy.stopOnAnyError(), 'error', 'and the policy stops on tool errors'],
  ])('%s', async (name, policy, stopReason, reason) => {
    const { agent } = setUp([toolCall(name), final('done')], policy);
    const state = await agent.run('go');
    expect(state.stopReason).toBe(stopReason);
    expect(reasons(state)[0]).toContain(reason);
  });

  it('maxRetries counts the failures of the tool, in place of the count of the policy', async () => {
    const script = ['twice', 'fine', 'twice', 'shared', 'twice'].map((name) => toolCall(name));
    const { agent } = setUp(script, ErrorPolicy.production().withMaxRetries({ tool: 1 }));
    const state = await agent.run('go');
    expect(reasons(state)).toEqual([
      'tool error in twice, retrying (1/2)',
      'no error',
      'tool error in twice, retrying (2/2)',
      'tool error in shared, retrying (1/1)',
      'tool error in twice (offline), tried again 2 of 2 times',
    ]);
    expect(state.lastContinuationOutcome?.decisive?.facts).toEqual({
      kind: 'error',
      errorType: 'tool',
      code: 'tool_failed',
      modelCall: false,
      toolName: 'twice',
      attempts: 3,
      maxRetries: 2,
      retryable: true,
      handling: 'stop',
      policy: 'retry',
      byTool: true,
      message: 'offline',
    });
  });

  it('counts survive storing the whole state and a slim one after every step', async () => {
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig.full());
    const copies = [
      stored,
      (state: AgentState) => slim.deserialize(JSON.parse(JSON.stringify(slim.serialize(state)))),
    ];
    for (const copy of copies) {
      const script = [toolCall('twice'), toolCall('shared'), limited(), toolCall('twice')];
      const { agent } = setUp([...script, toolCall('twice')]);
      let state = AgentState.empty().withUserMessage('go');
      const seen: unknown[] = [];
      for (let i = 0; i < 5; i++) {
        state = await agent.nextStep(copy(state));
        const { modelFailures, toolFailures, failingTools } = state.execution;
        seen.push([modelFailures, toolFailures, failingTools?.[0]?.failures, state.version]);
      }
      expect(seen).toEqual([
        [0, 0, 1, 2],
        [0, 1, 1, 2],
        [1, 1, 1, 2],
        [0, 1, 2, 2],
        [0, 1, 3, 2],
      ]);
      expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
    }
  });

  it('granted retries raise every count', async () => {
    const { agent, driver } = setUp([
      ...Array<ScenarioStep>(5).fill(toolCall('twice')),
      ...Array<ScenarioStep>(9).fill(limited()),
    ]);
    const failed = await agent.run('go');
    expect(driver.requests.length).toBe(3);
    expect(failed.lastContinuationOutcome?.decisive?.remedy?.grant).toEqual({ retries: 2 });
    const again = await agent.resume(stored(failed), { grant: { retries: 2 } });
    expect(driver.requests.length).toBe(5);
    expect(again.execution.failingTools).toEqual([{ tool: 'twice', failures: 5 }]);
    const last = await agent.resume(stored(again), { grant: { retries: 1 } });
    // 4 of the policy and 3 granted
    expect(driver.requests.length).toBe(5 + 1 + 7);
    expect(last).toMatchObject({ stopReason: 'retry_limit', execution: { modelFailures: 8 } });
  });

  it('a nested agent has its own counts, and its failure belongs to its tool', async () => {
    const child = AgentBuilder.base()
      .withName('child')
      .withDriver(DeterministicDriver.create(Array(4).fill(toolCall('shared'))))
      .withTools(...tools)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(1));
    const ask = child.build().asTool({ name: 'ask', description: 'Asks.', maxRetries: 1 });
    const driver = DeterministicDriver.create(Array(3).fill(toolCall('ask', { input: 'x' })));
    const parent = AgentBuilder.base().withDriver(driver).withTools(ask).build();
    const state = await parent.run('go');
    expect(reasons(state)).toEqual([
      'tool error in ask, retrying (1/1)',
      expect.stringContaining('tried again 1 of 1 times'),
    ]);
    expect(state.execution).toMatchObject({ toolFailures: 0, totalFailures: 2 });
  });

  it('are part of the description of an agent', () => {
    const { agent } = setUp([]);
    const byName = Object.fromEntries(agent.describe().tools.map((tool) => [tool.name, tool]));
    expect(byName['twice']).toMatchObject({ onError: 'retry', maxRetries: 2 });
    expect(byName['fatal']).toMatchObject({ onError: 'stop' });
    expect(byName['fine']).not.toHaveProperty('onError');
  });

  it.each([
    [{ onError: 'skip' }, 'Tool "x" onError got "skip", expected one of stop, retry, ignore.'],
    [{ maxRetries: -1 }, 'Tool "x" maxRetries got -1, expected a whole number of 0 or more.'],
    [
      { onError: 'stop', maxRetries: 1 },
      'Tool "x" maxRetries got 1, expected none, because onError is stop.',
    ],
  ])('rejects %j', (options, message) => {
    const spec = { name: 'x', description: 'X.', execute: () => null, ...options };
    expect(() => defineTool(spec as never)).toThrow(message);
  });
});

describe('an error that stops the run beside a call that needs approval', () => {
  it.each<[string, ErrorPolicy, 'failed' | 'paused']>([
    ['fatal', ErrorPolicy.production(), 'failed'],
    ['shared', ErrorPolicy.stopOnAnyError(), 'failed'],
    ['shared', ErrorPolicy.production().withMaxRetries(0), 'failed'],
    ['shared', ErrorPolicy.production(), 'paused'],
    ['twice', ErrorPolicy.stopOnAnyError(), 'paused'],
    ['loose', ErrorPolicy.stopOnAnyError(), 'paused'],
  ])('%s: %#', async (name, policy, status) => {
    const { agent } = setUp([toolCalls([{ name: 'pay' }, { name }]), final('done')], policy);
    const state = await agent.run('go');
    expect(state.status).toBe(status);
    if (status === 'paused') return expect(state.pendingApprovals).toHaveLength(1);
    expect(state.pendingApprovals).toEqual([]);
    expect(state.steps.at(0)?.results[0]).toMatchObject({
      kind: 'aborted',
      value: `Not finished: the run stopped on an error of ${name}.`,
    });
    expect(state.messages.pairingProblem()).toBeNull();
    const done = await agent.resume(state, { grant: { retries: 1 } });
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('closes the other call if an approved one fails', async () => {
    const declined = mockTool('charge', offline, { needsApproval: true, onError: 'stop' });
    const driver = DeterministicDriver.create([toolCalls([{ name: 'charge' }, { name: 'pay' }])]);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(declined, ...tools)
      .build();
    const paused = await agent.run('go');
    const [charge] = paused.pendingApprovals;
    const approvals = { [charge?.callId ?? '']: { approve: true } } as const;
    const state = await agent.resume(stored(paused), { approvals });
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', pendingApprovals: [] });
    expect(state.steps.at(0)?.results.map(({ kind }) => kind)).toEqual(['error', 'aborted']);
  });
});
