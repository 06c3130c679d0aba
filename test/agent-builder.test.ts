import {
  AgentBuilder,
  createAgent,
  ErrorPolicy,
  noProgressLimit,
  toolCalledCheck,
  type Capability,
  type Hook,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const driver = () => DeterministicDriver.fromResponses('hello');

const base = () => AgentBuilder.base().withDriver(driver());

const criteriaOf = (builder: AgentBuilder): readonly string[] =>
  builder.build().describe().criteria;

describe('the builder', () => {
  it('is immutable: a branch does not change its base', () => {
    const common = base().withName('support').withMaxSteps(3).withTools(mockTool('search'));
    const before = common.build().describe();
    const branch = common
      .withName('sales')
      .withMaxSteps(9)
      .withMaxTokens(1000)
      .withMaxCost(2)
      .withTools(mockTool('quote'))
      .withTimeout({ seconds: 5 })
      .withHooks({ name: 'audit' })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .addContinuationCriteria(noProgressLimit(3))
      .withCapability({ name: 'mail', tools: [mockTool('mail')], systemPrompt: 'Be brief.' })
      .withSoftLanding();
    expect(common.build().describe()).toEqual(before);
    expect(branch.build().describe()).toMatchObject({
      name: 'sales',
      tools: [{ name: 'search' }, { name: 'quote' }, { name: 'mail' }],
      hooks: ['audit'],
      softLanding: { tokens: 2000, seconds: 20 },
    });
  });

  it('returns a new builder from every method', () => {
    const start = base();
    const schema = z.object({ ok: z.boolean() });
    const steps: readonly ((b: AgentBuilder) => AgentBuilder)[] = [
      (b) => b.withName('a'),
      (b) => b.withDriver(driver()),
      (b) => b.withModel(driver()),
      (b) => b.withSystemPrompt('Hi'),
      (b) => b.withTools(mockTool('a')),
      (b) => b.withToolChoice('none'),
      (b) => b.withMaxSteps(1),
      (b) => b.withMaxTokens(1),
      (b) => b.withMaxCost(1),
      (b) => b.withTimeout({ seconds: 1 }),
      (b) => b.withCumulativeTimeout({ seconds: 1 }),
      (b) => b.withErrorPolicy(ErrorPolicy.retryAll()),
      (b) => b.withFinishReasons('length'),
      (b) => b.withSoftLanding(),
      (b) => b.withBudgetNote(),
      (b) => b.addContinuationCriteria(noProgressLimit(2)),
      (b) => b.withHooks({ name: 'h' }),
      (b) => b.withCapability({ name: 'c' }),
      (b) => b.withResponseFormat(schema),
      (b) => b.withClock(fakeClock()),
      (b) => b.withRedactor({ text: (t) => t, value: (v) => v, isSecretKey: () => false }),
    ];
    for (const step of steps) {
      const next = step(start);
      expect(next).toBeInstanceOf(AgentBuilder);
      expect(next).not.toBe(start);
      expect(next.build().name).toBeTypeOf('string');
    }
  });

  it('base() has the documented limits and criteria, in order', () => {
    expect(criteriaOf(base())).toEqual([
      'StepsLimit',
      'ExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    expect(base().build().describe().limits).toEqual({ StepsLimit: 20, ExecutionTimeLimit: 300 });
    const full = base()
      .withMaxTokens(9)
      .withMaxCost(2)
      .withCumulativeTimeout({ seconds: 60 })
      .addContinuationCriteria(toolCalledCheck('search'), noProgressLimit(3))
      .withCapability({ name: 'c', criteria: [{ name: 'Own', evaluate: () => 'allow' }] });
    expect(criteriaOf(full)).toEqual([
      'StepsLimit',
      'TokenUsageLimit',
      'CostLimit',
      'CumulativeExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
      'ToolCalledCheck',
      'NoProgressLimit',
      'Own',
    ]);
    expect(full.build().describe().limits).toEqual({
      StepsLimit: 20,
      TokenUsageLimit: 9,
      CostLimit: 2,
      CumulativeExecutionTimeLimit: 60,
      NoProgressLimit: 3,
    });
  });

  it('new() has no limits and keeps the error policy and the stop check', () => {
    const bare = AgentBuilder.new().withDriver(driver());
    expect(criteriaOf(bare)).toEqual([
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    expect(criteriaOf(bare.withMaxSteps(2).withTimeout({ seconds: 1 }))).toEqual([
      'StepsLimit',
      'ExecutionTimeLimit',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
  });

  it('the last time limit replaces an earlier one', () => {
    const both = base().withTimeout({ seconds: 5 }).withCumulativeTimeout({ seconds: 6 });
    expect(both.build().describe().limits).toEqual({
      StepsLimit: 20,
      CumulativeExecutionTimeLimit: 6,
    });
    expect(both.withTimeout({ seconds: 7 }).build().describe().limits).toEqual({
      StepsLimit: 20,
      ExecutionTimeLimit: 7,
    });
  });

  it('describe() returns the configuration as plain data', () => {
    const agent = base()
      .withName('support')
      .withSystemPrompt('Help.')
      .withTools(
        mockTool('refund', 'ok', { needsApproval: true, timeoutMs: 500 }),
        mockTool('look', 'ok', { idempotent: true }),
        base().withName('helper').build().asTool({ name: 'ask', description: 'Asks.' }),
      )
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .withHooks({ name: 'audit' })
      .build();
    const described = agent.describe();
    expect(described).toMatchObject({
      name: 'support',
      driver: 'deterministic',
      systemPrompt: 'Help.',
      hooks: ['audit'],
      softLanding: null,
      errorPolicy: { maxRetries: 2, on: { tool: 'retry', model: 'stop' } },
    });
    expect(described.tools).toEqual([
      {
        name: 'refund',
        description: 'Mock of refund.',
        needsApproval: true,
        idempotent: false,
        timeoutMs: 500,
      },
      {
        name: 'look',
        description: 'Mock of look.',
        needsApproval: false,
        idempotent: true,
        timeoutMs: 60_000,
      },
      {
        name: 'ask',
        description: 'Asks.',
        needsApproval: false,
        idempotent: false,
        timeoutMs: null,
      },
    ]);
    expect(JSON.parse(JSON.stringify(described))).toEqual(described);
  });

  it('createAgent takes the same options', () => {
    expect(createAgent({ driver: driver() }).describe()).toEqual(base().build().describe());
    expect(
      createAgent({
        driver: driver(),
        maxSteps: null,
        timeout: null,
        finishReasons: null,
      }).describe(),
    ).toEqual(AgentBuilder.new().withDriver(driver()).build().describe());
  });

  it('passes the configured request to the driver', async () => {
    const scripted = driver();
    const schema = z.object({ city: z.string() });
    await AgentBuilder.base()
      .withModel(scripted)
      .withSystemPrompt('Help.')
      .withTools(mockTool('search', 'ok', { parameters: schema }))
      .withToolChoice({ tool: 'search' })
      .withCapability({ name: 'tone', systemPrompt: 'Be brief.' })
      .build()
      .run('hi');
    expect(scripted.requests[0]).toMatchObject({
      system: 'Help.\n\nBe brief.',
      toolChoice: { tool: 'search' },
      responseFormat: null,
      tools: [
        {
          name: 'search',
          description: 'Mock of search.',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      ],
    });
  });
});

describe('capabilities', () => {
  it('add tools, hooks, criteria and a prompt after those of the agent', async () => {
    const order: string[] = [];
    const hook = (name: string): Hook => ({
      name,
      aroundToolCall: async (input, next) => {
        order.push(name);
        return next(input);
      },
    });
    const mail: Capability = {
      name: 'mail',
      tools: [mockTool('mail', 'sent')],
      hooks: [hook('mail')],
      criteria: [toolCalledCheck('mail')],
      systemPrompt: 'You can send mail.',
    };
    const scripted = DeterministicDriver.fromSteps(ScenarioStep.toolCall('mail'));
    const agent = AgentBuilder.base()
      .withDriver(scripted)
      .withCapability(mail)
      .withHooks(hook('own'))
      .build();
    const state = await agent.run('send it');
    expect(order).toEqual(['own', 'mail']);
    expect(scripted.requests[0]?.system).toBe('You can send mail.');
    expect(state).toMatchObject({ status: 'completed', stopReason: 'completed' });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('ToolCalledCheck');
    expect(agent.describe().hooks).toEqual(['own', 'mail']);
  });
});
