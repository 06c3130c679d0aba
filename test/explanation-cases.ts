import {
  AgentBuilder,
  createAgent,
  defineTool,
  ErrorPolicy,
  noProgressLimit,
  sessionStepsLimit,
  stepsLimit,
  type Agent,
  type AgentOptions,
  type AgentState,
  type ErrorType,
  type ToolContext,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { guardExplanationCases } from './guard-explanation-cases.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const tool = (
  name: string,
  execute: (args: unknown, context: ToolContext) => unknown,
  more: object = {},
) => defineTool({ name, description: 'A tool.', parameters: { type: 'object' }, execute, ...more });

const handOff = defineTool({
  name: 'hand_off',
  description: 'Hands the conversation to a person.',
  parameters: { type: 'object' },
  execute: (_args, { requestStop }) => requestStop('a person takes over'),
});

const takeBreak = defineTool({
  name: 'take_break',
  description: 'Pauses.',
  parameters: { type: 'object' },
  execute: (_args, { requestPause }) => requestPause('on request'),
});

const tools = [
  mockTool('search', { hits: 0 }),
  mockTool('create_lead', new Error('the CRM is offline')),
  tool('enrich', () => new Promise(() => {}), { timeoutMs: 5 }),
  tool('delete_lead', () => 'gone', { needsApproval: true }),
  handOff,
  takeBreak,
];

/** An agent with tools that work, fail, hang, need approval, and request a stop. */
const scripted = (...script: readonly ScenarioStep[]): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...script))
    .withTools(...tools);

/** The same agent, made by `createAgent`. */
const created = (
  script: readonly ScenarioStep[],
  options: Partial<AgentOptions> = {},
): Promise<AgentState> =>
  create({ driver: DeterministicDriver.fromSteps(...script), tools, ...options }).run('go');

/** `createAgent` without the types of the tools. */
const create = createAgent as unknown as (options: AgentOptions) => Agent;

const noModel = error({
  type: 'model',
  code: 'not_found',
  message: 'no such model',
  retryable: false,
});
/** An agent whose tool asks the user. */
const asking = (questions: number): AgentBuilder =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(toolCall('book_table')))
    .withTools(
      tool('book_table', (_args, { requestInput }) =>
        requestInput(
          Object.fromEntries(
            Array.from({ length: questions }, (_one, i) => [
              `q${i}`,
              { message: 'When?', schema: { type: 'object' } },
            ]),
          ),
        ),
      ),
    );

const failing = (code: string, message: string, type: ErrorType = 'model', retryable = false) =>
  scripted(error({ type, code, message, retryable }))
    .withErrorPolicy(ErrorPolicy.retryAll())
    .build()
    .run('go');

const nested = (rootSteps: number, familySteps: number = 100): Promise<AgentState> => {
  const researcher = AgentBuilder.base()
    .withName('researcher')
    .withDriver(DeterministicDriver.fromSteps(...pages(2)))
    .withTools(mockTool('search', { hits: 0 }))
    .withMaxSteps(2)
    .build();
  return AgentBuilder.base()
    .withDriver(
      DeterministicDriver.fromSteps(
        toolCall('research', { input: 'all' }),
        final('Not all of it.'),
      ),
    )
    .withTools(researcher.asTool({ name: 'research', description: 'Researches.' }))
    .withMaxSteps(rootSteps)
    .withMaxFamilySteps(familySteps)
    .build()
    .run('go');
};

/** One run for each stop that has its own text. */
export const explanationCases: Readonly<Record<string, () => Promise<AgentState>>> = {
  completed: () => scripted(final('Done.')).build().run('go'),
  'step limit': () =>
    scripted(...pages(2))
      .withMaxSteps(2)
      .build()
      .run('go'),
  'step limit with a soft landing': () =>
    scripted(...pages(1), final('So far nothing.'))
      .withMaxSteps(2)
      .withSoftLanding()
      .build()
      .run('go'),
  'token limit': () =>
    scripted(...pages(2, { usage: { input: 700, output: 100 } }))
      .withMaxTokens(1_500)
      .build()
      .run('go'),
  'cost limit': () =>
    scripted(...pages(2, { cost: 0.03 }))
      .withMaxCost(0.05)
      .build()
      .run('go'),
  'time limit': async () => {
    const clock = fakeClock();
    const agent = scripted(toolCall('hang'))
      .withTools(tool('hang', () => new Promise(() => {})))
      .withTimeout({ seconds: 30 })
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(30_000);
    return run;
  },
  'retry limit': () =>
    scripted(
      error({ type: 'timeout', code: 'timeout', message: 'no answer in 60 s' }),
      error({ type: 'timeout', code: 'timeout', message: 'no answer in 60 s' }),
      error({ type: 'timeout', code: 'timeout', message: 'no answer in 60 s' }),
    )
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .build()
      .run('go'),
  'tool error': () => scripted(toolCall('create_lead')).build().run('go'),
  'tool error that its own options stop on': () =>
    scripted(toolCall('charge'))
      .withTools(mockTool('charge', new Error('the card was declined'), { onError: 'stop' }))
      .withErrorPolicy(ErrorPolicy.production())
      .build()
      .run('go'),
  'own retries of a tool used': () =>
    scripted(toolCall('lookup'), toolCall('search'), toolCall('lookup'), toolCall('lookup'))
      .withTools(mockTool('lookup', new Error('the index is offline'), { maxRetries: 2 }))
      .build()
      .run('go'),
  'tool retries used under the production policy': () =>
    scripted(...Array<ScenarioStep>(6).fill(toolCall('create_lead')))
      .withErrorPolicy(ErrorPolicy.production())
      .build()
      .run('go'),
  'tool timeout': () => scripted(toolCall('enrich')).build().run('go'),
  'answer truncated at the length limit': () =>
    scripted(final('The three partners are', { finishReason: 'length' }))
      .build()
      .run('go'),
  'content filter': () =>
    scripted(final('', { finishReason: 'content_filter' }))
      .build()
      .run('go'),
  refusal: () => failing('refusal', 'I cannot help with that.'),
  'context too long': () => failing('context_length', 'maximum context length is 8192 tokens'),
  'wrong key': () => failing('auth', '401 invalid key'),
  'quota exceeded': () => failing('quota', 'You exceeded your current quota.', 'rate_limit'),
  'provider down': () =>
    scripted(error({ type: 'model', code: 'server', message: '502 Bad Gateway' }))
      .build()
      .run('go'),
  'rate limit': () =>
    scripted(
      error({ type: 'rate_limit', code: 'rate_limit', message: '429', retryAfterMs: 20_000 }),
    )
      .withClock(fakeClock())
      .build()
      .run('go'),
  'rate limit after all retries': async () => {
    const clock = fakeClock();
    const slow = error({
      type: 'rate_limit',
      code: 'overloaded',
      message: '529',
      retryAfterMs: 90_000,
    });
    const run = scripted(slow, slow)
      .withErrorPolicy(ErrorPolicy.retryAll(1))
      .withClock(clock)
      .build()
      .run('go');
    // a provider's retry delay is capped at one minute
    await clock.advance(60_000);
    return run;
  },
  'provider down with a retry time': () =>
    scripted(
      error({
        type: 'model',
        code: 'server',
        message: '503 Service Unavailable',
        retryAfterMs: 120_000,
      }),
    )
      .withClock(fakeClock())
      .build()
      .run('go'),
  'quota exceeded with a reset time': () =>
    scripted(
      error({
        type: 'rate_limit',
        code: 'quota',
        message: 'Daily quota reached.',
        retryable: false,
        retryAfterMs: 43_200_000,
      }),
    )
      .withClock(fakeClock())
      .build()
      .run('go'),
  'stopped by the user': async () => {
    const abort = new AbortController();
    abort.abort('Mira pressed stop');
    return scripted(final('x')).build().run('go', { signal: abort.signal });
  },
  'denied approval': async () => {
    const agent = scripted(toolCall('delete_lead'), final('Then not.')).build();
    const paused = await agent.run('go');
    const callId = paused.pendingApprovals[0]?.callId ?? '';
    return agent.resume(paused, { approvals: { [callId]: { deny: 'not this one' } } });
  },
  'denied approvals by a named approver, then the step limit': async () => {
    const agent = scripted(
      toolCalls([{ name: 'delete_lead' }, { name: 'charge' }, { name: 'search' }]),
      ...pages(2),
    )
      .withTools(tool('charge', () => 'paid', { needsApproval: true }))
      .withMaxSteps(3)
      .build();
    const paused = await agent.run('go');
    return agent.resume(paused, {
      approvals: Object.fromEntries(
        paused.pendingApprovals.map(({ callId }) => [callId, { deny: 'not now' }]),
      ),
      by: 'Mira',
    });
  },
  'approved after a denial': async () => {
    const agent = scripted(
      toolCall('delete_lead'),
      toolCall('delete_lead'),
      final('Gone.'),
    ).build();
    const first = await agent.run('go');
    const [one] = first.pendingApprovals;
    const second = await agent.resume(first, {
      approvals: { [one?.callId ?? '']: { deny: 'which one?' } },
    });
    const [two] = second.pendingApprovals;
    return agent.resume(second, { approvals: { [two?.callId ?? '']: { approve: true } } });
  },
  'nested agent stopped by its limit': () => nested(20),
  'stopped again after a grant': async () => {
    const agent = scripted(...pages(5))
      .withMaxSteps(2)
      .build();
    return agent.resume(await agent.run('go'), { grant: { steps: 3 } });
  },
  'error on the last allowed step': () =>
    scripted(...pages(1), toolCall('create_lead'))
      .withMaxSteps(2)
      .build()
      .run('go'),
  'family step limit': () => nested(20, 2),
  'session limit': () =>
    scripted(...pages(2))
      .addContinuationCriteria(sessionStepsLimit(2))
      .build()
      .run('go'),
  'no progress': () =>
    scripted(toolCall('search'), toolCall('search'), toolCall('search'))
      .addContinuationCriteria(noProgressLimit(3))
      .build()
      .run('go'),
  'criterion that threw': () =>
    scripted(...pages(1))
      .addContinuationCriteria({
        name: 'BudgetCheck',
        evaluate: () => {
          throw new Error('no budget table');
        },
      })
      .build()
      .run('go'),
  'custom criterion': () =>
    scripted(...pages(1))
      .addContinuationCriteria({
        name: 'OfficeHours',
        evaluate: ({ stepCount }) =>
          stepCount === 0 ? 'allow' : { decision: 'forbid', reason: 'The office is closed.' },
      })
      .build()
      .run('go'),
  ...guardExplanationCases,
  'tool that asked to stop': () => scripted(toolCall('hand_off')).build().run('go'),
  'wait longer than the deadline': () =>
    scripted(
      error({ type: 'rate_limit', code: 'rate_limit', message: '429', retryAfterMs: 45_000 }),
    )
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .withCumulativeTimeout({ seconds: 30 })
      .withClock(fakeClock())
      .build()
      .run('go'),
  'hook that threw': () =>
    scripted(final('x'))
      .withHooks({
        name: 'audit',
        aroundExecution: () => Promise.reject(new Error('the audit log is full')),
      })
      .build()
      .run('go'),
  'step limit of createAgent': () => created(pages(2), { maxSteps: 2 }),
  'token, cost and time limit of createAgent': () => {
    const clock = fakeClock();
    const slow = tool('slow', () => clock.jump(40_000));
    return created(
      [toolCall('slow', {}, '', { usage: { input: 1_500, output: 100 }, cost: 0.06 })],
      { maxTokens: 1_500, maxCost: 0.05, timeout: { seconds: 30 }, clock, tools: [slow] },
    );
  },
  'working time limit of createAgent': () => {
    const clock = fakeClock();
    const slow = tool('slow', () => clock.jump(40_000));
    return created([toolCall('slow')], {
      cumulativeTimeout: { seconds: 30 },
      clock,
      tools: [slow],
    });
  },
  'retry limit of createAgent': () =>
    created(
      Array.from({ length: 2 }, () => error({ type: 'model', code: 'server', message: '502' })),
      { errorPolicy: ErrorPolicy.retryAll(1).withBackoff({ initialMs: 0 }) },
    ),
  'tool error of createAgent': () => created([toolCall('create_lead')]),
  'truncated answer of createAgent': () =>
    created([final('The three partners are', { finishReason: 'length' })]),
  'unknown model of createAgent': () => created([noModel]),
  'unknown model of the builder': () => scripted(noModel).build().run('go'),
  'step limit of a criterion by hand': () =>
    AgentBuilder.new()
      .withDriver(DeterministicDriver.fromSteps(...pages(2)))
      .withTools(...tools)
      .addContinuationCriteria(stepsLimit(2))
      .build()
      .run('go'),
  'paused for input': () => asking(1).build().run('go'),
  'paused for several inputs': () => asking(2).build().run('go'),
  'paused for approval': () => scripted(toolCall('delete_lead')).build().run('go'),
  'paused for several approvals': () =>
    scripted(toolCalls([{ name: 'delete_lead' }, { name: 'delete_lead' }]))
      .build()
      .run('go'),
  'paused on request': () => scripted(toolCall('take_break')).build().run('go'),
};
