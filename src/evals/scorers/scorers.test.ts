import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createAgent } from '../../agent/agent.ts';
import { AgentBuilder } from '../../agent/agent-builder.ts';
import { ErrorPolicy } from '../../errors/error-policy.ts';
import type { EvalCase } from '../eval-case.ts';
import { evalHarness } from '../eval-harness.ts';
import type { EvalRun } from '../eval-run.ts';
import type { Score, Scorer } from '../score.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { calledTool, calledTools, didNotCallTool, noFailedTools } from './call-scorers.ts';
import { scorer } from './custom-scorer.ts';
import { maxCost, maxSeconds, maxSteps, maxTokens } from './limit-scorers.ts';
import { outputContains, outputEquals, outputMatchesSchema } from './output-scorers.ts';
import { stoppedBecause } from './stop-scorer.ts';
import { scriptOf, type ScriptAnswer } from '../../../test/setup/eval-script.ts';

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: z.object({ q: z.string(), limit: z.number().optional() }),
  execute: ({ q }) => {
    if (q === 'fail') throw new Error('the index is down, key sk-abcdefghijklmnopqrstuvwx');
    return `found ${q}`;
  },
});
const buy = defineTool({
  name: 'buy',
  description: 'Buys.',
  needsApproval: true,
  execute: () => 'bought',
});

const script: readonly ScriptAnswer[] = [
  { calls: [{ name: 'search', args: { q: 'a', limit: 2 } }], usage: { input: 100, output: 10 } },
  { calls: [{ name: 'search', args: { q: 'b' } }], usage: { input: 200, output: 10 } },
  { text: 'The answer is 42.', usage: { input: 300, output: 10 } },
];

const runWith = (answers: readonly ScriptAnswer[], model?: string): Promise<EvalRun> =>
  evalHarness({
    agent: createAgent({
      name: 'shop',
      driver: scriptOf(answers, model),
      tools: [search, buy],
      errorPolicy: ErrorPolicy.retryToolErrors(2),
      prices: { priced: { input: 1_000, output: 10_000 } },
    }),
  }).run('question');

const scoreOf = async (one: Scorer, run: EvalRun, more: Partial<EvalCase> = {}): Promise<Score> =>
  one.score({
    run,
    case: { name: 'c', input: 'question', ...more },
    signal: new AbortController().signal,
  });

describe('scorers of a run with two searches', async () => {
  const run = await runWith(script, 'priced');
  const calls = [{ tool: 'search', args: { q: 'a' } }, { tool: 'search' }];

  it.each<[Scorer, Score['status'], string, Partial<EvalCase>?]>([
    [calledTool('search'), 'pass', 'search was called twice'],
    [calledTool('search', { args: { q: 'b' } }), 'pass', 'was called once'],
    [calledTool('search', { args: { q: /^a/ }, times: 1 }), 'pass', 'was called once'],
    [calledTool('search', { times: 1 }), 'fail', 'Expected search once. It was called twice.'],
    [
      calledTool('search', { args: { q: 'c' } }),
      'fail',
      'other arguments: search {"q":"a","limit":2}',
    ],
    [calledTool('buy'), 'fail', 'Expected buy. It was not called. The run called search, search.'],
    [calledTool('buy', { times: 0 }), 'pass', 'not called'],
    [didNotCallTool('buy'), 'pass', 'buy was not called'],
    [didNotCallTool('search'), 'fail', 'It was called: search {"q":"a","limit":2}.'],
    [calledTools(['search', { tool: 'search', args: { q: 'b' } }]), 'pass', 'search, search'],
    [calledTools(calls, { order: 'exact' }), 'pass', 'search, search'],
    [
      calledTools(['search'], { order: 'exact' }),
      'fail',
      'no further call. It got search {"q":"b"}',
    ],
    [
      calledTools([{ tool: 'search', args: { q: 'b' } }, calls[0]!]),
      'fail',
      'Expected call 2: search',
    ],
    [calledTools([{ tool: 'search', args: { q: 'b' } }, calls[0]!], { order: 'any' }), 'pass', ''],
    [calledTools(['search', 'search', 'search']), 'fail', 'Expected call 3: search'],
    [calledTools(), 'skip', 'the case expects no calls'],
    [calledTools(), 'pass', '', { expected: { calls } }],
    [noFailedTools(), 'pass', 'no tool failed'],
    [stoppedBecause(), 'pass', 'completed'],
    [stoppedBecause('steps_limit'), 'fail', 'Expected steps_limit. It was completed: Completed'],
    [stoppedBecause(['error', 'completed']), 'pass', 'completed'],
    [stoppedBecause(), 'fail', 'Expected guard.', { expected: { stopReason: 'guard' } }],
    [maxSteps(3), 'pass', '3 steps of at most 3'],
    [maxSteps(2), 'fail', 'Expected at most 2. The run used 3 steps.'],
    [maxTokens(630), 'pass', '630 tokens'],
    [maxTokens(629), 'fail', 'The run used 630 tokens.'],
    [maxSeconds(60), 'pass', 'of at most 60 s'],
    [maxCost(0.9), 'pass', '$0.90'],
    [maxCost(0.89), 'fail', 'Expected at most $0.89. The run used $0.90'],
    [outputEquals('The answer is 42.'), 'pass', ''],
    [
      outputEquals('The answer is 41.'),
      'fail',
      'Expected “The answer is 41.”. It was “The answer is 42.”.',
    ],
    [outputEquals(), 'skip', ''],
    [outputEquals(), 'pass', '', { expected: { output: ' The answer is 42. ' } }],
    [outputContains(['answer', /\d+/]), 'pass', ''],
    [outputContains(['ANSWER', 'why']), 'fail', 'to contain “why”'],
    [outputContains(), 'fail', '“41”', { expected: { output: '41' } }],
    [outputContains(), 'skip', '', { expected: { output: { a: 1 } } }],
    [outputMatchesSchema(z.string().max(5)), 'fail', 'does not fit the schema'],
    [outputMatchesSchema({ type: 'string' }), 'pass', ''],
    [scorer('short', ({ run: { outputText } }) => outputText.length < 5), 'fail', 'returned false'],
    [scorer('good', () => 0.8, { threshold: 0.7 }), 'pass', 'passed'],
    [scorer('good', () => ({ score: 0.6, reason: 'so so' }), { threshold: 0.7 }), 'fail', 'so so'],
    [scorer('none', () => null), 'skip', ''],
  ])('%o -> %s %s', async (one, status, reason, more) => {
    const score = await scoreOf(one, run, more);
    expect(score.status, score.reason).toBe(status);
    expect(score.reason).toContain(reason);
  });

  it('name the step that shows it', async () => {
    expect(await scoreOf(didNotCallTool('search'), run)).toMatchObject({ step: 1 });
    expect(await scoreOf(calledTool('search', { args: { q: 'b' } }), run)).toMatchObject({
      step: 2,
    });
    expect(await scoreOf(stoppedBecause('error'), run)).toMatchObject({ step: 3 });
  });

  it('have labels with their thresholds', () => {
    expect([maxCost(0.1).label, maxTokens(20_000).label, maxSeconds(5).label]).toEqual([
      'cost ≤ $0.10',
      'tokens ≤ 20,000',
      'seconds ≤ 5 s',
    ]);
    expect(scorer('good', () => 1, { threshold: 0.7 }).label).toBe('good ≥ 0.70');
  });
});

describe('scorers of other runs', () => {
  it('show what failed, without secrets', async () => {
    const run = await runWith([
      { calls: [{ name: 'search', args: { q: 'fail' } }] },
      { text: 'It is down.' },
    ]);
    const score = await scoreOf(noFailedTools(), run);
    expect(score).toMatchObject({ status: 'fail', step: 1 });
    expect(score.reason).toContain('search {"q":"fail"} failed in step 1: ');
    expect(score.reason).not.toContain('sk-');
    expect(await scoreOf(noFailedTools({ except: ['search'] }), run)).toMatchObject({
      status: 'pass',
    });
  });

  it('fail on an unknown cost', async () => {
    const run = await runWith([{ text: 'hi', usage: { input: 5, output: 5 } }], 'unheard-of');
    expect(await scoreOf(maxCost(1), run)).toMatchObject({
      status: 'fail',
      reason: expect.stringContaining('The cost is unknown') as string,
    });
  });

  it('see a run that waits for approval', async () => {
    const run = await runWith([{ calls: [{ name: 'buy', args: {} }] }]);
    expect(await scoreOf(stoppedBecause('paused'), run)).toMatchObject({ status: 'pass' });
    expect(run.calls).toMatchObject([{ tool: 'buy', kind: 'waiting', result: null }]);
    expect(run.trace.steps).toMatchObject([{ number: 1, type: 'waiting' }]);
  });

  it('read the value of a response format', async () => {
    const agent = AgentBuilder.base()
      .withDriver(scriptOf([{ text: '{"total":5}' }]))
      .withResponseFormat(z.object({ total: z.number() }))
      .build();
    const run = await evalHarness({ agent }).run('how much');
    expect(await scoreOf(outputEquals({ total: 5 }), run)).toMatchObject({ status: 'pass' });
    expect(await scoreOf(outputMatchesSchema(z.object({ total: z.string() })), run)).toMatchObject({
      status: 'fail',
    });
    expect(await scoreOf(outputContains('5'), run)).toMatchObject({ status: 'pass' });
  });

  it.each([[2], [Number.NaN], ['yes'], [undefined]])(
    'of your own refuse %s, so that a mistake does not pass',
    async (result) => {
      const run = await runWith([{ text: 'hi' }]);
      const mine = scorer('mine', () => result as number);
      await expect(scoreOf(mine, run)).rejects.toThrow('expected a boolean, a number from 0 to 1');
    },
  );
});
