import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { evalHarness, readEvalReport, runEval } from 'onward/evals';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { support } from '../../examples/evals/agent.ts';
import evals from '../../examples/evals/support.eval.ts';
import { removeFolder } from '../setup/folders.ts';
import type { Ended } from './run.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A copy of the example inside the repository, where its packages are found. */
function copyOfExample(): string {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build/evals-'));
  onTestFinished(() => removeFolder(folder));
  cpSync('examples/evals', folder, { recursive: true });
  return folder;
}

function onward(cwd: string, ...argv: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [resolve('dist/cli/main.js'), ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '' },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data) => (stdout += String(data)));
  child.stderr.on('data', (data) => (stderr += String(data)));
  return new Promise((done) => {
    child.once('close', (code) => done({ code, stdout, stderr }));
  });
}

describe('the evals example', () => {
  it('passes all ten cases, in a test runner', async () => {
    const report = await runEval(evals);
    expect(report.counts).toEqual({ cases: 10, passed: 10, failed: 0, notRun: 0 });
    expect(report.scorers.map(({ name, passed, applied }) => [name, passed, applied])).toEqual([
      ['stopped_because', 10, 10],
      ['output_contains', 10, 10],
      ['tool_calls', 10, 10],
      ['no_failed_tools', 10, 10],
      ['steps', 10, 10],
      ['cost', 10, 10],
      ['looked_up_first', 1, 1],
    ]);
    expect(report.cost).toBeCloseTo(0.0072, 6);
  });

  it('passes with the command, and fails when the agent changes', async () => {
    const cwd = copyOfExample();
    const good = await onward(cwd, 'eval');
    expect(good.stderr).not.toContain('failed');
    expect(good.stdout).toContain('10 of 10 cases passed');
    expect(good.code).toBe(0);
    const file = join(cwd, '.onward', 'evals', 'support', '1.json');
    expect(readEvalReport(file, JSON.parse(readFileSync(file, 'utf8'))).passed).toBe(true);

    const model = join(cwd, 'scripted-model.ts');
    const changed = readFileSync(model, 'utf8').replace('daysAgo > 30', 'daysAgo > 300');
    writeFileSync(model, changed);
    const bad = await onward(cwd, 'eval', '--filter', 'refunds');
    expect(bad.code).toBe(9);
    expect(bad.stdout).toContain('2 of 3 cases passed');
    expect(bad.stdout).toContain('✗ refund-too-late');
    expect(bad.stdout).toContain(
      'tool_calls: Expected no further call. It got refund_order {"order":"C-1"}.',
    );
    expect(existsSync(join(cwd, '.onward', 'evals', 'support', '2.json'))).toBe(true);
  });

  it('waits for approval where the eval gives none', async () => {
    const shop = { orders: new Map([['A-17', { status: 'shipped', daysAgo: 3 }]]), refunded: [] };
    const run = await evalHarness({ agent: support, deps: { shop } }).run('Please refund A-17.');
    expect([run.status, run.calls.at(-1)?.kind, shop.refunded]).toEqual(['paused', 'waiting', []]);
  });
});
