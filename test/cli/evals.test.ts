import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readEvalReport } from '../../src/evals/index.ts';
import { until } from '../setup/sessions.ts';
import { install, Running, type Ended, type Installed } from './install.ts';

vi.setConfig({ testTimeout: 60_000 });

/** An agent that answers with the message, and searches if it asks for something. */
const suite = `import { createAgent, defineTool } from 'onward';
import { calledTool, defineEval, outputContains } from 'onward/evals';
import { readDataset } from 'onward/evals/node';
import { existsSync, writeFileSync } from 'node:fs';

const search = defineTool({ name: 'search', description: 'Searches.', execute: () => 'found' });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const usage = { input: 10, output: 5, total: 15 };
const agent = createAgent({
  name: 'finder',
  tools: [search],
  driver: {
    name: 'by-rules',
    async infer({ messages }) {
      const all = [...messages];
      const text = all[0]?.text ?? '';
      if (text === 'slow') { writeFileSync('entered', ''); while (!existsSync('go')) await sleep(20); }
      if (text.includes('find') && !all.at(-1)?.isTool())
        return { content: '', toolCalls: [{ id: null, name: 'search', args: {} }], finishReason: 'tool_calls', usage };
      return { content: 'You said ' + text, toolCalls: [], finishReason: 'stop', usage };
    },
  },
});
export default defineEval({
  name: 'finds',
  agent,
  cases: () => readDataset(new URL('./cases.jsonl', import.meta.url)),
  scorers: [outputContains(), calledTool('search', { name: 'searched' })],
});
`;
const good =
  '{"name":"good","input":"find it","expected":"find"}\n{"name":"also","input":"find me","expected":"me"}\n';
const bad = `${good}{"name":"bad","input":"hello","expected":"world","tags":["x"]}\n`;

let installed: Installed;
beforeAll(async () => {
  installed = await install();
}, 60_000);
afterAll(() => installed.remove());

const project = (cases: string, more: Record<string, string> = {}): string =>
  installed.project({ 'finds.eval.ts': suite, 'cases.jsonl': cases, ...more });
const ran = (cwd: string, ...argv: string[]): Promise<Ended> =>
  new Running(installed.main, cwd, ['eval', ...argv]).ended;

const lines = ({ stdout }: Ended): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('onward eval', () => {
  it('finds TypeScript evals, prints a table, stores a report and compares with the run before', async () => {
    const cwd = project(good);
    const first = await ran(cwd);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain('finds  finds.eval.ts');
    expect(first.stdout).toMatch(/^ +CASE +output_contains +searched +STEPS +COST +TIME$/m);
    expect(first.stdout).toMatch(/^✓ +good +✓ +✓ +2 /m);
    expect(first.stdout).toContain('2 of 2 cases passed · ');
    expect(first.stderr).toContain('✓ good  ');
    const file = join(cwd, '.onward', 'evals', 'finds', '1.json');
    expect(first.stderr).toContain('Stored as run 1');
    expect(statSync(file).mode & 0o077).toBe(0);

    writeFileSync(join(cwd, 'cases.jsonl'), bad.replace('"expected":"me"', '"expected":"them"'));
    const second = await ran(cwd);
    expect(second.code).toBe(9);
    expect(second.stdout).toContain('1 of 3 cases passed');
    expect(second.stdout).toContain('−1 from run 1: 1 regressed (also), 1 new');
    expect(second.stdout).toContain(
      '✗ bad\n    output_contains: Expected the output to contain “world”. It was “You said hello”.',
    );
    expect(second.stdout).toContain(
      '    searched: Expected search. It was not called. The run called no tool.',
    );

    writeFileSync(join(cwd, 'cases.jsonl'), good);
    const third = await ran(cwd, 'finds', '--json');
    expect(lines(third).at(-1)).toEqual({ type: 'result', passed: true, exit_code: 0 });
    expect(lines(third).at(-2)).toMatchObject({
      type: 'eval_report',
      report: { number: 3, baseline: { number: 2, fixed: ['also'], removed: ['bad'] } },
    });
    const old = await ran(cwd, '--baseline', '1', '--no-save');
    expect(old.stdout).toContain('No change from run 1');
    expect(existsSync(join(cwd, '.onward', 'evals', 'finds', '4.json'))).toBe(false);
  });

  it('filters, repeats and writes JSON and JUnit', async () => {
    const cwd = project(bad);
    const files = ['--junit', 'out/junit.xml', '--report', 'out/report.json', '--no-save'];
    const ended = await ran(cwd, 'finds.eval.ts', '--filter', 'X', '--repeats', '3', ...files);
    expect(ended.code).toBe(9);
    expect(ended.stdout).toMatch(/^✗ +bad +✗ 0\/3 +✗ 0\/3 /m);
    expect(ended.stdout).toContain('✗ bad  0 of 3 runs passed');
    const json: unknown = JSON.parse(readFileSync(join(cwd, 'out', 'report.json'), 'utf8'));
    expect(readEvalReport('it', json).cases.map(({ name, runs }) => [name, runs.length])).toEqual([
      ['bad', 3],
    ]);
    const tags: string[] = [];
    const parser = new SaxesParser();
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name }) => tags.push(name));
    parser.write(readFileSync(join(cwd, 'out', 'junit.xml'), 'utf8')).close();
    expect(tags.filter((name) => name === 'failure')).toHaveLength(1);
    expect(existsSync(join(cwd, '.onward'))).toBe(false);
    // the file is a baseline of later runs
    const later = await ran(cwd, '--baseline', 'out/report.json', '--no-save');
    expect(later.stdout).toContain('2 new');
  });

  it('records runs as sessions, which explain shows', async () => {
    const cwd = project(good);
    const ended = await ran(cwd, '--record', '--json');
    const { report } = lines(ended).at(-2) as { report: unknown };
    const [run] = readEvalReport('it', report).cases[0]?.runs ?? [];
    expect(run).toMatchObject({ status: 'passed', steps: 2, calls: [{ tool: 'search', step: 1 }] });
    const id = run?.sessionId ?? '';
    const explained = await new Running(installed.main, cwd, ['explain', id]).ended;
    expect(explained.stdout).toContain('good');
    expect(explained.stdout).toContain('search');
  });

  it('ends on Ctrl-C with what has run', async () => {
    const cwd = project(
      `${good}{"name":"hangs","input":"slow"}\n{"name":"later","input":"slow"}\n`,
    );
    const running = new Running(installed.main, cwd, ['eval', '--concurrency', '1', '--json']);
    await until(() => existsSync(join(cwd, 'entered')));
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(lines(ended).at(-2)).toMatchObject({
      report: { isAborted: true, counts: { cases: 4, passed: 2, failed: 0, notRun: 2 } },
    });
  });

  it.each([
    [{}, ['nothing'], 'There is no file and no suite "nothing". Suites here: finds.'],
    [{}, ['--baseline', '7'], '--baseline got 7, but finds has no stored run of that number.'],
    [{}, ['--baseline', 'cases.jsonl'], 'which is no JSON'],
    [{ 'b.eval.mjs': 'export default 5;' }, [], 'b.eval.mjs exports no eval'],
    [{ 'b.eval.mjs': 'throw new Error("broken");' }, [], 'could not be loaded: broken'],
    [{ 'b.eval.ts': suite }, [], 'Two evals have the name "finds"'],
  ])('refuses wrong files and options: %#', async (files, argv, message) => {
    const ended = await ran(project(good, files), ...argv);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(message);
  });

  it('says what to do in a folder without evals', async () => {
    const ended = await ran(installed.project({}));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(
      'Name it like leads.eval.ts, with: export default defineEval({ ... })',
    );
  });
});
