import { describe, expect, it } from 'vitest';
import { createAgent, type Agent } from '../agent/agent.ts';
import { defineTool } from '../tools/define-tool.ts';
import { scriptOf } from '../../test/setup/eval-script.ts';
import { defineEval, type EvalOptions } from './define-eval.ts';
import type { EvalCase } from './eval-case.ts';
import { runEval, type EvalProgress } from './run-eval.ts';
import { outputContains, outputEquals } from './scorers/output-scorers.ts';
import { scorer } from './scorers/custom-scorer.ts';
import type { Scorer } from './score.ts';

/** An agent that repeats the message. */
const echo = (): Agent =>
  createAgent({
    name: 'echo',
    driver: {
      name: 'echo',
      infer: ({ messages }) =>
        Promise.resolve({
          content: [...messages].at(-1)?.text ?? '',
          toolCalls: [],
          finishReason: 'stop',
          usage: { input: 10, output: 5, total: 15 },
        }),
    },
  });

const suite = (more: Partial<EvalOptions> = {}) =>
  defineEval({
    name: 'echoes',
    agent: echo(),
    cases: ['a', 'b', 'c'].map((input) => ({ name: input, input, expected: input })),
    scorers: [outputEquals()],
    ...more,
  });

/** Passes in these runs, counted per case from 1. */
const flaky = (passing: readonly number[]): Scorer => {
  const seen = new Map<string, number>();
  return scorer('flaky', ({ case: { name } }) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return passing.includes(count);
  });
};

describe('runEval', () => {
  it('reports every case in order, with its scores', async () => {
    const report = await runEval(suite());
    expect(report).toMatchObject({
      format: 'onward.eval',
      version: 1,
      suite: 'echoes',
      agent: 'echo',
      model: 'echo',
      passed: true,
      counts: { cases: 3, passed: 3, failed: 0, notRun: 0 },
      tokens: 45,
      scorers: [{ name: 'output_equals', label: 'output_equals', passed: 3, applied: 3 }],
    });
    expect(report.cases.map(({ name, status, steps }) => [name, status, steps])).toEqual([
      ['a', 'passed', 1],
      ['b', 'passed', 1],
      ['c', 'passed', 1],
    ]);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it.each([
    [5, 0.8, [1, 2, 3, 4], 'passed', '4 of 5 is 0.8'],
    [5, 0.8, [1, 2, 3], 'failed', '3 of 5 is less'],
    [3, 1, [1, 3], 'failed', 'all have to pass by default'],
    [10, 0.7, [1, 2, 3, 4, 5, 6, 7], 'passed', '0.7 of 10 is 7 in spite of rounding'],
  ])(
    '%i repeats with a rate of %d and passes in %j: %s (%s)',
    async (repeats, passRate, passing, status) => {
      const cases = [{ name: 'a', input: 'a' }];
      const report = await runEval(
        suite({ cases, repeats, passRate, concurrency: 1, scorers: [flaky(passing)] }),
      );
      expect(report.cases[0]).toMatchObject({ status, passedRuns: passing.length });
      expect(report.cases[0]?.runs).toHaveLength(repeats);
      expect(report.passed).toBe(status === 'passed');
      expect(report.cases[0]?.scores).toMatchObject([{ passed: passing.length, applied: repeats }]);
    },
  );

  it('continues after every kind of failure, and says what failed', async () => {
    const broken = {
      name: 'broken',
      score: () => {
        throw new Error('no service, key sk-abcdefghijklmnopqrstuvwx');
      },
    };
    const report = await runEval(
      suite({
        agent: ({ name }) => {
          if (name === 'b') throw new Error('no agent for b');
          return echo();
        },
        cases: [
          { name: 'a', input: 'a', scorers: [broken] },
          { name: 'b', input: 'b' },
          { name: 'c', messages: [{ role: 'robot' as never, content: 'c' }] },
          { name: 'd', input: 'd' },
        ],
      }),
    );
    expect(report.cases.map(({ status }) => status)).toEqual([
      'failed',
      'failed',
      'failed',
      'passed',
    ]);
    expect(report.cases.map(({ runs }) => runs[0]?.error)).toEqual([
      null,
      'no agent for b',
      expect.stringContaining('robot') as string,
      null,
    ]);
    const text = JSON.stringify(report);
    expect(text).toContain('The scorer failed: no service');
    expect(text).not.toContain('sk-');
    expect(report.counts).toEqual({ cases: 4, passed: 1, failed: 3, notRun: 0 });
  });

  it('never runs more at the same time than it may, and keeps the order', async () => {
    let [open, most] = [0, 0];
    const waits = defineTool({
      name: 'wait',
      description: 'Waits.',
      execute: async () => {
        most = Math.max(most, ++open);
        await new Promise((done) => setTimeout(done, 5 * Math.random()));
        open -= 1;
      },
    });
    const agent = createAgent({
      driver: scriptOf([{ calls: [{ name: 'wait', args: {} }] }, { text: 'done' }]),
      tools: [waits],
    });
    const cases = Array.from({ length: 10 }, (_, i) => ({ name: `case ${i}`, input: 'x' }));
    const seen: EvalProgress[] = [];
    const report = await runEval(suite({ agent, cases, repeats: 2, concurrency: 3, scorers: [] }), {
      onProgress: (progress) => seen.push(progress),
    });
    expect(most).toBe(3);
    expect(report.passed).toBe(true);
    expect(report.cases.map(({ name }) => name)).toEqual(cases.map(({ name }) => name));
    expect(report.cases.every(({ runs }) => runs[0]?.number === 1 && runs[1]?.number === 2)).toBe(
      true,
    );
    expect(seen.map(({ done }) => done)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('ends on an abort, and says what did not run', async () => {
    const abort = new AbortController();
    const report = await runEval(suite({ concurrency: 1 }), {
      signal: abort.signal,
      onProgress: ({ case: name }) => name === 'a' && abort.abort(),
    });
    expect(report).toMatchObject({ isAborted: true, passed: false });
    expect(report.cases.map(({ status }) => status)).toEqual(['passed', 'not_run', 'not_run']);
    expect(report.counts.notRun).toBe(2);
  });

  it('aborts a run that hangs', async () => {
    const abort = new AbortController();
    const agent = (): Promise<Agent> => {
      setTimeout(() => abort.abort(), 1);
      return new Promise(() => {});
    };
    const report = await runEval(suite({ agent, cases: [{ input: 'a' }] }), {
      signal: abort.signal,
    });
    expect(report.cases[0]?.status).toBe('not_run');
  });

  it('ends a run that takes too long, and continues', async () => {
    const agent = ({ name }: EvalCase): Agent | Promise<Agent> =>
      name === 'a' ? new Promise<Agent>(() => {}) : echo();
    const report = await runEval(suite({ agent, timeoutSeconds: 0.01, concurrency: 1 }));
    expect(report.cases.map(({ status }) => status)).toEqual(['failed', 'passed', 'passed']);
    expect(report.cases[0]?.runs[0]?.error).toContain('longer than 0.01 seconds');
  });

  it('filters by name and tag', async () => {
    const cases = [
      { name: 'Alpha', input: 'x' },
      { name: 'beta', input: 'x', tags: ['alphabet'] },
      { name: 'gamma', input: 'x' },
    ];
    const report = await runEval(suite({ cases, scorers: [] }), { filter: 'alpha' });
    expect(report.cases.map(({ name }) => name)).toEqual(['Alpha', 'beta']);
    const none = await runEval(suite({ cases }), { filter: 'delta' });
    expect(none).toMatchObject({ passed: false, cases: [] });
    expect(none.error).toBe('No case has "delta" in its name or tags. Change the filter.');
  });

  it.each([
    [() => Promise.reject(new Error('no file')), 'The cases could not be loaded: no file'],
    [() => [{ input: 'a' }, { name: 'case-1', input: 'b' }], 'two cases with the name'],
    [[], 'The eval has no cases. Add one.'],
  ])('reports cases that it cannot load', async (cases, error) => {
    const report = await runEval(suite({ cases }));
    expect(report.error).toContain(error);
    expect(report.passed).toBe(false);
  });

  it('compares with a baseline', async () => {
    const good = await runEval(suite());
    const bad = await runEval(
      suite({
        cases: [
          { name: 'a', input: 'a', expected: 'x' },
          { name: 'b', input: 'b', expected: 'b' },
          { name: 'new', input: 'n', expected: 'n' },
        ],
      }),
      { baseline: { ...good, number: 7 } },
    );
    expect(bad.baseline).toMatchObject({
      number: 7,
      change: -1,
      regressed: ['a'],
      fixed: [],
      added: ['new'],
      removed: ['c'],
    });
    const fixed = await runEval(suite(), { baseline: bad });
    expect(fixed.baseline).toMatchObject({ change: 1, regressed: [], fixed: ['a'] });
  });

  it('passes dependencies and answers approvals', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      needsApproval: true,
      execute: (_args, { deps }: { readonly deps: { readonly bank: string } }) =>
        `paid by ${deps.bank}`,
    });
    const agent = createAgent({
      driver: scriptOf([{ calls: [{ name: 'pay', args: {} }] }, { text: 'ok' }]),
      tools: [pay],
    });
    const results: unknown[] = [];
    const keep = scorer('keep', ({ run }) => {
      results.push([run.calls[0]?.kind, run.calls[0]?.result, run.stopReason]);
      return true;
    });
    const shared = { name: 's', agent, cases: [{ input: 'x' }], scorers: [keep], concurrency: 1 };
    const of = (case_: EvalCase) => ({ bank: `bank of ${case_.name}` });
    await runEval(defineEval({ ...shared, deps: of, approvals: 'approve' }));
    await runEval(defineEval({ ...shared, deps: { bank: 'b' }, approvals: 'deny' }));
    await runEval(defineEval({ ...shared, deps: { bank: 'b' } }));
    expect(results).toEqual([
      ['ok', 'paid by bank of case-1', 'completed'],
      ['denied', expect.stringContaining('Denied by the eval'), 'completed'],
      ['waiting', null, null],
    ]);
  });

  it('bounds and redacts what it reports', async () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwx';
    const input = `${secret} ${'long '.repeat(10_000)}\u001b[31m`;
    const report = await runEval(suite({ cases: [{ input, expected: { output: input } }] }));
    const text = JSON.stringify(report);
    expect(text).not.toContain(secret);
    expect(text.length).toBeLessThan(20_000);
  });
});

describe('defineEval', () => {
  it.each([
    [{ name: '../x' }, 'letters, digits, - and _'],
    [{ cases: 5 as never }, 'a list of cases, or a function'],
    [{ agent: 5 as never }, 'an agent, or a function'],
    [{ repeats: 0 }, 'a whole number from 1 to 1000'],
    [{ passRate: 0 }, 'above 0, at most 1'],
    [{ passRate: 1.1 }, 'above 0, at most 1'],
    [{ concurrency: 0 }, 'concurrency'],
    [{ timeoutSeconds: -1 }, 'timeoutSeconds'],
    [
      { scorers: [outputContains('a'), outputContains('b')] },
      'two scorers with the name "output_contains"',
    ],
    [{ scorers: [{ name: 'x' } as never] }, 'scorers, such as calledTool'],
  ] satisfies [Partial<EvalOptions>, string][])('refuses %o: %s', (more, message) => {
    expect(() => suite(more)).toThrow(message);
  });
});
