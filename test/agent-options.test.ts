import {
  AgentBuilder,
  createAgent,
  ErrorPolicy,
  noProgressLimit,
  sessionStepsLimit,
  SessionRuntime,
  type AgentOptions,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from './setup/sessions.ts';

const driver = () => DeterministicDriver.fromResponses('hello');

const base = () => AgentBuilder.base().withDriver(driver());

describe('misconfiguration is rejected with the actual and the expected value', () => {
  const odd = (value: unknown): never => value as never;

  it.each<[string, string, (b: AgentBuilder) => unknown, string]>([
    ['no driver', 'driver_missing', () => AgentBuilder.base().build(), 'Call .withModel(...)'],
    ['no driver in createAgent', 'driver_missing', () => createAgent({}), 'Set model or driver.'],
    [
      'an object that is not a driver',
      'driver_missing',
      (b) => b.withDriver(odd({ name: 'x' })).build(),
      'withDriver got an object with name, expected a driver with infer()',
    ],
    [
      'a negative step limit',
      'invalid_option',
      (b) => b.withMaxSteps(-1),
      'withMaxSteps got -1, expected a finite number above 0',
    ],
    ['a zero step limit', 'invalid_option', (b) => b.withMaxSteps(0), 'withMaxSteps got 0'],
    [
      'a step limit given as a string',
      'invalid_option',
      (b) => b.withMaxSteps(odd('5')),
      'withMaxSteps got "5"',
    ],
    [
      'a token limit of NaN',
      'invalid_option',
      (b) => b.withMaxTokens(Number.NaN),
      'withMaxTokens got NaN',
    ],
    [
      'an infinite cost limit',
      'invalid_option',
      (b) => b.withMaxCost(Number.POSITIVE_INFINITY),
      'withMaxCost got Infinity',
    ],
    [
      'a bare number of seconds',
      'invalid_option',
      (b) => b.withTimeout(odd(300)),
      'withTimeout got 300, expected { seconds: <number> }',
    ],
    [
      'a negative timeout',
      'invalid_option',
      (b) => b.withTimeout({ seconds: -5 }),
      'withTimeout seconds got -5, expected a finite number above 0',
    ],
    [
      'a cumulative timeout of zero',
      'invalid_option',
      (b) => b.withCumulativeTimeout({ seconds: 0 }),
      'withCumulativeTimeout seconds got 0',
    ],
    [
      'limits through createAgent',
      'invalid_option',
      () => createAgent({ driver: driver(), maxSteps: -1 }),
      'maxSteps got -1, expected a finite number above 0',
    ],
    [
      'a negative soft landing reserve',
      'invalid_option',
      (b) => b.withSoftLanding({ tokens: -1 }).build(),
      'withSoftLanding tokens got -1',
    ],
    [
      'two tools with the same name',
      'duplicate_tool',
      (b) => b.withTools(mockTool('a'), mockTool('a')).build(),
      'Two tools are named "a". The model calls tools by name: rename one of them.',
    ],
    [
      'a tool added again by a capability',
      'duplicate_tool',
      (b) =>
        b
          .withTools(mockTool('a'))
          .withCapability({ name: 'c', tools: [mockTool('a')] })
          .build(),
      'Two tools are named "a"',
    ],
    [
      'an object that is not a tool',
      'invalid_tool',
      (b) => b.withTools(odd({ name: 'a', execute: () => 1 })).build(),
      'withTools got an object with name, execute, expected the result of defineTool()',
    ],
    [
      'a fractional step limit',
      'invalid_option',
      (b) => b.withMaxSteps(2.5),
      'withMaxSteps got 2.5, expected a whole number above 0.',
    ],
    [
      'a fractional step limit in createAgent',
      'invalid_option',
      () => createAgent({ driver: DeterministicDriver.fromResponses('a'), maxSteps: 2.5 }),
      'maxSteps got 2.5, expected a whole number above 0.',
    ],
    [
      'a fractional session step limit',
      'invalid_option',
      (b) => b.addContinuationCriteria(sessionStepsLimit(7.1)).build(),
      'SessionStepsLimit got 7.1, expected a whole number above 0.',
    ],
    [
      'a fractional retry limit',
      'invalid_option',
      (b) => b.withErrorPolicy(ErrorPolicy.retryAll(1.5)),
      'ErrorPolicy.maxRetries got 1.5, expected a whole number',
    ],
    [
      'a fractional repeat limit',
      'invalid_option',
      (b) => b.addContinuationCriteria(noProgressLimit(1.5)).build(),
      'NoProgressLimit got 1.5, expected a whole number above 0.',
    ],
    [
      'a fractional message limit',
      'invalid_option',
      (b) => new SessionRuntime({ store: memoryStore(), agents: [b.build()], maxMessages: 1.5 }),
      'SessionRuntime maxMessages got 1.5, expected a whole number above 0.',
    ],
    ['a missing tool', 'invalid_tool', (b) => b.withTools(odd(undefined)).build(), 'got undefined'],
    [
      'a tool choice that names an unknown tool',
      'invalid_option',
      (b) => b.withTools(mockTool('a')).withToolChoice({ tool: 'b' }).build(),
      "withToolChoice got \"b\", expected 'auto', 'none', 'required' or { tool } with one of: a",
    ],
    [
      'an invalid tool choice',
      'invalid_option',
      (b) => b.withToolChoice(odd('sometimes')).build(),
      'withToolChoice got "sometimes"',
    ],
    ['an empty name', 'invalid_option', (b) => b.withName('').build(), 'withName got ""'],
    [
      'a hook without a name',
      'invalid_option',
      (b) => b.withHooks(odd({})).build(),
      'withHooks got an empty object, expected hooks with a name',
    ],
    [
      'a value that is not a capability',
      'invalid_option',
      (b) => b.withCapability(odd(null)).build(),
      'withCapability got null, expected capabilities with a name',
    ],
    [
      'an object that is not a criterion',
      'invalid_option',
      (b) => b.addContinuationCriteria(odd({ name: 'x' })).build(),
      'addContinuationCriteria got an object with name, expected criteria of { name, evaluate }',
    ],
    [
      'a value that is not a schema as response format',
      'invalid_option',
      (b) => b.withResponseFormat(odd('json')).build(),
      'withResponseFormat got "json", expected a Standard Schema',
    ],
  ])('%s', async (_case, code, build, message) => {
    const error = await refusal(() => build(base()));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});

/** An invalid value for each option, with its builder call. The builder has no method for `random`. */
const wrong: {
  readonly [O in keyof Required<AgentOptions>]: readonly [
    value: unknown,
    build: ((builder: AgentBuilder, value: never) => AgentBuilder) | null,
    name?: string,
  ];
} = {
  model: [5, (b, value) => b.withModel(value), 'withModel'],
  driver: [{ name: 'x' }, (b, value) => b.withDriver(value), 'withDriver'],
  fallback: [[5], (b, value) => b.withFallback(...(value as [never])), 'withFallback'],
  models: [{}, (b, registry) => b.withModel('a:b', { registry }), 'withModel registry'],
  prices: [{ m: { input: -1 } }, (b, value) => b.withPrices(value), 'withPrices["m"]'],
  name: ['', (b, value) => b.withName(value), 'withName'],
  systemPrompt: [['Be kind.'], (b, value) => b.withSystemPrompt(value), 'withSystemPrompt'],
  tools: [[{ name: 'a' }], (b, value) => b.withTools(...(value as [never])), 'withTools'],
  toolChoice: ['sometimes', (b, value) => b.withToolChoice(value), 'withToolChoice'],
  activeTools: [
    ['nope'],
    (b, value) => b.withActiveTools(...(value as [never])),
    'withActiveTools',
  ],
  prepareStep: [{}, (b, value) => b.withPrepareStep(value), 'withPrepareStep'],
  maxSteps: [0.5, (b, value) => b.withMaxSteps(value), 'withMaxSteps'],
  maxFamilySteps: [-1, (b, value) => b.withMaxFamilySteps(value), 'withMaxFamilySteps'],
  maxTokens: ['5', (b, value) => b.withMaxTokens(value), 'withMaxTokens'],
  maxCost: [Number.NaN, (b, value) => b.withMaxCost(value), 'withMaxCost'],
  timeout: [300, (b, value) => b.withTimeout(value), 'withTimeout'],
  cumulativeTimeout: [300, (b, value) => b.withCumulativeTimeout(value), 'withCumulativeTimeout'],
  errorPolicy: ['retry', (b, value) => b.withErrorPolicy(value), 'withErrorPolicy'],
  errorContextResolver: [
    { resolve: 1 },
    (b, resolver) => b.withErrorPolicy(ErrorPolicy.stopOnAnyError(), { resolver }),
    'withErrorPolicy resolver',
  ],
  finishReasons: [[7], (b, value) => b.withFinishReasons(value), 'withFinishReasons'],
  softLanding: ['soon', (b, value) => b.withSoftLanding(value), 'withSoftLanding'],
  budgetNote: ['yes', (b, value) => b.withBudgetNote(value), 'withBudgetNote'],
  compaction: ['yes', (b, value) => b.withCompaction(value), 'withCompaction'],
  criteria: [
    [{ name: 'x' }],
    (b, value) => b.addContinuationCriteria(...(value as [never])),
    'addContinuationCriteria',
  ],
  hooks: [[{}], (b, value) => b.withHooks(...(value as [never])), 'withHooks'],
  capabilities: [
    [{ tools: [] }],
    (b, value) => b.withCapability(...(value as [never])),
    'withCapability',
  ],
  responseFormat: ['json', (b, value) => b.withResponseFormat(value), 'withResponseFormat'],
  clock: [{ now: () => 0 }, (b, value) => b.withClock(value), 'withClock'],
  redactor: [{ text: () => '' }, (b, value) => b.withRedactor(value), 'withRedactor'],
  random: [0.5, null],
};

describe('an error names the option as the caller wrote it', () => {
  it.each(Object.entries(wrong))('createAgent: %s', async (option, [value]) => {
    const given = option === 'model' ? {} : { driver: driver() };
    const { message } = await refusal(() => createAgent({ ...given, [option]: value }));
    expect(message).toMatch(new RegExp(`^${option}(?:\\["m"\\])? got .+, expected .+\\.$`));
  });

  it.each(
    Object.values(wrong).flatMap(([value, build, name]) =>
      build && name !== undefined ? [[name, value, build] as const] : [],
    ),
  )('the builder: %s', async (name, value, build) => {
    const { message } = await refusal(() => build(base(), value as never).build());
    expect(message.startsWith(`${name} got `), message).toBe(true);
  });

  it.each<[string, object, string]>([
    ['a field of a time limit', { timeout: { seconds: 0 } }, 'timeout seconds got 0'],
    [
      'a field of the soft landing reserve',
      { softLanding: { tokens: -1 } },
      'softLanding tokens got -1',
    ],
    [
      'a field of an error policy',
      { errorPolicy: { maxRetries: 1.5 } },
      'errorPolicy: ErrorPolicy.maxRetries got 1.5',
    ],
    ['a tool instead of a list of tools', { tools: mockTool('a') }, 'tools got an object with'],
    [
      'a tool of a capability',
      { capabilities: [{ name: 'crm', tools: [{ name: 'a' }] }] },
      'capabilities "crm" tools got an object with name',
    ],
    [
      'a hook of a capability',
      { capabilities: [{ name: 'crm', hooks: [{}] }] },
      'capabilities "crm" hooks got an empty object',
    ],
    [
      'a prepareStep of a capability',
      { capabilities: [{ name: 'crm', prepareStep: 'later' }] },
      'capabilities "crm" prepareStep got "later", expected a function',
    ],
    [
      'a criterion of a capability',
      { capabilities: [{ name: 'crm', criteria: [() => 'allow'] }] },
      'capabilities "crm" criteria got a function',
    ],
  ])('%s', async (_case, options, message) => {
    const error = await refusal(() => createAgent({ driver: driver(), ...options }));
    expect(error.message.startsWith(message), error.message).toBe(true);
  });

  it('null means no limit, and a partial reserve gets defaults', () => {
    const none = { maxSteps: null, maxFamilySteps: null, maxTokens: null, maxCost: null } as const;
    const times = { timeout: null, cumulativeTimeout: null, finishReasons: null } as const;
    const agent = createAgent({ driver: driver(), ...none, ...times, softLanding: { tokens: 9 } });
    expect(agent.describe()).toMatchObject({ softLanding: { tokens: 9, seconds: 20 } });
  });
});
