import { mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent } from 'onward';
import { defineEval, runEval, type EvalReport } from 'onward/evals';
import { evalReportFolder, readDataset } from 'onward/evals/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptOf } from '../setup/eval-script.ts';
import { removeFolder } from '../setup/folders.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'onward-evals-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

const report = (name: string = 'leads'): Promise<EvalReport> =>
  runEval(
    defineEval({
      name,
      agent: createAgent({ driver: scriptOf([{ text: 'hi' }]) }),
      cases: [{ input: 'hello' }],
    }),
  );

describe('evalReportFolder', () => {
  it('numbers reports, lists them newest first, and reads them', async () => {
    const folder = join(newFolder(), 'evals');
    const reports = evalReportFolder(folder);
    expect(await reports.list()).toEqual([]);
    expect(await reports.latest('leads')).toBeNull();
    const first = await reports.save(await report());
    const second = await reports.save(await report());
    await reports.save(await report('other'));
    expect([first.number, second.number]).toEqual([1, 2]);
    const suites = await reports.list();
    expect(suites.map(({ name, runs }) => [name, runs.map(({ number }) => number)])).toEqual([
      ['leads', [2, 1]],
      ['other', [1]],
    ]);
    expect(suites[0]?.runs[0]).not.toHaveProperty('cases');
    expect(await reports.read('leads', 1)).toEqual(first);
    expect(await reports.latest('leads')).toEqual(second);
    expect(statSync(join(folder, 'leads', '1.json')).mode & 0o077).toBe(0);
    // another process reads and writes the same folder
    expect((await evalReportFolder(folder).save(await report())).number).toBe(3);
    expect((await reports.list())[0]?.runs).toHaveLength(3);
  });

  it('gives concurrent reports different numbers', async () => {
    const reports = evalReportFolder(newFolder());
    const one = await report();
    const saved = await Promise.all(Array.from({ length: 10 }, () => reports.save(one)));
    expect(saved.map(({ number }) => number).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 1),
    );
  });

  it.each([
    ['../leads', 1],
    ['leads/../leads', 1],
    ['.', 1],
    ['leads', 1.5],
    ['leads', -1],
    ['leads', Number.NaN],
    ['unknown', 1],
  ])('reads nothing outside: %s %d', async (suite, number) => {
    const folder = newFolder();
    const reports = evalReportFolder(folder);
    await reports.save(await report());
    expect(await reports.read(suite, number)).toBeNull();
  });

  it('leaves out what is no report, and says so when it is read', async () => {
    const folder = newFolder();
    const reports = evalReportFolder(folder);
    await reports.save(await report());
    writeFileSync(join(folder, 'leads', '2.json'), '{"format":"onward.eval","version":99}');
    writeFileSync(join(folder, 'leads', '3.json'), 'no json');
    writeFileSync(join(folder, 'leads', 'notes.txt'), '');
    mkdirSync(join(folder, 'leads', '4.json'));
    mkdirSync(join(folder, '.hidden'));
    symlinkSync('/etc', join(folder, 'leads', '5.json'));
    expect((await reports.list()).map(({ name, runs }) => [name, runs.length])).toEqual([
      ['leads', 1],
    ]);
    await expect(reports.read('leads', 2)).rejects.toThrow('has version 99, expected 1');
    await expect(reports.read('leads', 3)).rejects.toThrow('3.json is no JSON');
    expect(await reports.read('leads', 4)).toBeNull();
    expect((await reports.save(await report())).number).toBe(6);
    expect(readdirSync(join(folder, 'leads'))).toContain('6.json');
  });
});

describe('readDataset', () => {
  it.each([
    ['cases.jsonl', '\ufeff{"input":"a"}\n{"input":"b"}\n'],
    ['cases.json', '[{"input":"a"},{"input":"b"}]'],
    ['cases.YAML', '- input: a\n- input: b\n'],
    ['cases.yml', 'cases:\n  - &one { input: a }\n  - { <<: *one, input: b }\n'],
  ])('reads %s', async (name, text) => {
    const file = join(newFolder(), name);
    writeFileSync(file, text);
    const cases = await readDataset(new URL(`file://${file}`));
    expect(cases.map(({ input }) => input)).toEqual(['a', 'b']);
  });

  it.each([
    ['cases.csv', '', 'expected a file that ends with .json, .jsonl, .ndjson, .yaml, .yml'],
    ['cases.yaml', `a: &a [x, x]\nb: &b [*a, *a]\n${bomb()}`, 'could not be read'],
  ])('refuses %s', async (name, text, message) => {
    const file = join(newFolder(), name);
    writeFileSync(file, text);
    await expect(readDataset(file)).rejects.toThrow(message);
  });

  it('runs no code of a file', async () => {
    const file = join(newFolder(), 'cases.yaml');
    writeFileSync(file, '- input: !!js/function "function () { return 1; }"');
    expect(await readDataset(file)).toEqual([
      { name: 'case-1', input: 'function () { return 1; }' },
    ]);
  });

  it('names a missing file', async () => {
    await expect(readDataset('nowhere.json')).rejects.toThrow(
      'The dataset nowhere.json could not be read',
    );
  });
});

/** Aliases of aliases, which would grow to billions of items. */
function bomb(): string {
  const names = Array.from('cdefghijklmnopqrstuvwxyz');
  return names
    .map((name, i) => {
      const before = i === 0 ? 'b' : names[i - 1];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
    })
    .join('\n');
}
