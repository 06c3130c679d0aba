import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { newFolder, runStarter, type Ended } from './run.ts';

vi.setConfig({ testTimeout: 60_000 });

function office() {
  const cwd = newFolder();
  return {
    evening: (...args: readonly string[]) =>
      runStarter('overnight-approval/evening.ts', { cwd, args }),
    morning: (...args: readonly string[]) =>
      runStarter('overnight-approval/morning.ts', { cwd, args }),
    ledger: () => readFileSync(join(cwd, 'ledger.log'), 'utf8').trim().split('\n'),
  };
}

const callIn = ({ stdout }: Ended): string => /^ {2}(\S+) {2}pay /m.exec(stdout)?.[1] ?? '';

describe('the overnight approval example', () => {
  it('waits in a file, continues in another process with other arguments, and runs nothing twice', async () => {
    const { evening, morning, ledger } = office();
    const before = await evening('Settle INV-9 over 900 euros');
    expect([before.code, before.stderr]).toEqual([0, '']);
    expect(before.stdout).toMatch(/ is paused after step 1\./);
    expect(ledger()).toEqual([expect.stringMatching(/^900 euros reserved \(process \d+\)$/)]);

    const listed = await morning();
    expect(listed.stdout).toContain('Sessions that wait: 1');
    expect(listed.stdout).toContain('pay {"invoice":"INV-9","euros":900}');
    const callId = callIn(listed);

    const changed = JSON.stringify({ invoice: 'INV-9', euros: 450 });
    const wrong = await morning(callId, JSON.stringify({ invoice: 'INV-9', euros: -1 }));
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('invalid_approval')]);
    const done = await morning(callId, changed);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('is completed: Settled: ');
    expect(done.stdout).toContain('Completed (ToolCallPresenceCheck)');

    const again = await morning(callId, changed);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`No call ${callId}`)]);
    expect((await morning()).stdout).toContain('Sessions that wait: 0');
    const lines = ledger();
    expect(lines.map((line) => line.replace(/ \(.*/, ''))).toEqual([
      '900 euros reserved',
      '450 euros paid for INV-9',
    ]);
    const [first, second] = lines.map((line) => /\d+(?=\)$)/.exec(line)?.[0]);
    expect(first).not.toBe(second);
  });

  it('pays once if two approvers approve at the same time', async () => {
    const { evening, morning, ledger } = office();
    const callId = callIn(await evening());
    const both = await Promise.all([morning(callId), morning(callId)]);
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 1]));
    expect(ledger().filter((line) => line.includes('paid'))).toHaveLength(1);
  });
});
