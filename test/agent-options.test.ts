import {
  AgentBuilder,
  createAgent,
  ErrorPolicy,
  noProgressLimit,
  sessionStepsLimit,
  SessionRuntime,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from './setup/sessions.ts';

const driver = () => DeterministicDriver.fromResponses('hello');

const base = () => AgentBuilder.base().withDriver(driver());

describe('misconfiguration is refused: what was seen, what was expected', () => {
  const odd = (value: unknown): never => value as never;

  it.each<[string, string, (b: AgentBuilder) => unknown, string]>([
    ['no driver', 'driver_missing', () => AgentBuilder.base().build(), 'Call .withModel(...)'],
    ['no driver in createAgent', 'driver_missing', () => createAgent(odd({})), 'got undefined'],
    [
      'a driver that is none',
      'driver_missing',
      (b) => b.withDriver(odd({ name: 'x' })).build(),
      'It got an object with name',
    ],
    [
      'a negative step limit',
      'invalid_option',
      (b) => b.withMaxSteps(-1),
      'withMaxSteps got -1, expected a finite number above 0',
    ],
    ['a zero step limit', 'invalid_option', (b) => b.withMaxSteps(0), 'withMaxSteps got 0'],
    [
      'a step limit as text',
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
      'an endless cost limit',
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
      'a negative reserve',
      'invalid_option',
      (b) => b.withSoftLanding({ tokens: -1 }).build(),
      'withSoftLanding tokens got -1',
    ],
    [
      'two tools of one name',
      'duplicate_tool',
      (b) => b.withTools(mockTool('a'), mockTool('a')).build(),
      'Two tools are named "a". The model calls tools by name: rename one of them.',
    ],
    [
      'a tool twice through a capability',
      'duplicate_tool',
      (b) =>
        b
          .withTools(mockTool('a'))
          .withCapability({ name: 'c', tools: [mockTool('a')] })
          .build(),
      'Two tools are named "a"',
    ],
    [
      'a tool that is none',
      'invalid_tool',
      (b) => b.withTools(odd({ name: 'a', execute: () => 1 })).build(),
      'withTools got an object with name, execute, expected what defineTool()',
    ],
    [
      'half a step',
      'invalid_option',
      (b) => b.withMaxSteps(2.5),
      'withMaxSteps got 2.5, expected a whole number above 0.',
    ],
    [
      'half a step through createAgent',
      'invalid_option',
      () => createAgent({ driver: DeterministicDriver.fromResponses('a'), maxSteps: 2.5 }),
      'maxSteps got 2.5, expected a whole number above 0.',
    ],
    [
      'half a step of a session',
      'invalid_option',
      (b) => b.addContinuationCriteria(sessionStepsLimit(7.1)).build(),
      'SessionStepsLimit got 7.1, expected a whole number above 0.',
    ],
    [
      'half a retry',
      'invalid_option',
      (b) => b.withErrorPolicy(ErrorPolicy.retryAll(1.5)),
      'ErrorPolicy.maxRetries got 1.5, expected a whole number',
    ],
    [
      'half a repeat',
      'invalid_option',
      (b) => b.addContinuationCriteria(noProgressLimit(1.5)).build(),
      'NoProgressLimit got 1.5, expected a whole number above 0.',
    ],
    [
      'half a message',
      'invalid_option',
      (b) => new SessionRuntime({ store: memoryStore(), agents: [b.build()], maxMessages: 1.5 }),
      'SessionRuntime maxMessages got 1.5, expected a whole number above 0.',
    ],
    ['a missing tool', 'invalid_tool', (b) => b.withTools(odd(undefined)).build(), 'got undefined'],
    [
      'a choice of a tool that is not there',
      'invalid_option',
      (b) => b.withTools(mockTool('a')).withToolChoice({ tool: 'b' }).build(),
      "withToolChoice got \"b\", expected 'auto', 'none', 'required' or { tool } with one of: a",
    ],
    [
      'a choice that is none',
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
      'a capability that is none',
      'invalid_option',
      (b) => b.withCapability(odd(null)).build(),
      'withCapability got null, expected capabilities with a name',
    ],
    [
      'a criterion that is none',
      'invalid_option',
      (b) => b.addContinuationCriteria(odd({ name: 'x' })).build(),
      'addContinuationCriteria got an object with name, expected criteria of { name, evaluate }',
    ],
    [
      'a response format that is none',
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

describe('createAgent names the option that was given', () => {
  it.each<[string, object, string]>([
    ['maxTokens', { maxTokens: 0 }, 'maxTokens got 0, expected a finite number above 0'],
    ['timeout', { timeout: 300 }, 'timeout got 300, expected { seconds: <number> }'],
    ['cumulativeTimeout', { cumulativeTimeout: { seconds: 0 } }, 'cumulativeTimeout seconds got 0'],
    ['softLanding', { softLanding: { tokens: -1 } }, 'softLanding tokens got -1'],
    ['tools', { tools: [{ name: 'a' }] }, 'tools got an object with name, expected what'],
    ['toolChoice', { toolChoice: 'sometimes' }, 'toolChoice got "sometimes"'],
    ['name', { name: '' }, 'name got ""'],
    ['hooks', { hooks: [{}] }, 'hooks got an empty object'],
    ['capabilities', { capabilities: [null] }, 'capabilities got null'],
    ['criteria', { criteria: [{ name: 'x' }] }, 'criteria got an object with name'],
    ['responseFormat', { responseFormat: 'json' }, 'responseFormat got "json"'],
  ])('%s', async (_option, options, message) => {
    const error = await refusal(() => createAgent({ driver: driver(), ...options }));
    expect(error.message.startsWith(message)).toBe(true);
  });
});
