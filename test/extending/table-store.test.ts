import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../setup/folders.ts';

/** The store from docs/extending.md, without the lines that run the test suite. */
const page = readFileSync('docs/extending.md', 'utf8');
const code = /```ts\n(import \{ DatabaseSync \}[\s\S]*?)\nconst cases = /.exec(page)?.[1] ?? '';

mkdirSync('build', { recursive: true });
const folder = mkdtempSync(resolve('build', 'extending-'));
const worker = join(folder, 'worker.mjs');
beforeAll(async () => {
  writeFileSync(join(folder, 'table-store.ts'), code);
  writeFileSync(
    join(folder, 'worker.ts'),
    `import { tableStore } from './table-store.ts';
     import { work } from '../../test/extending/table-worker.ts';
     const [, , path, effects, dieAt] = process.argv;
     await work(tableStore(path), { effects, dieAt });`,
  );
  const bundle = await rolldown({
    input: join(folder, 'worker.ts'),
    platform: 'node',
    external: [/^(?![./]|onward(\/|$))/],
    resolve: { conditionNames: ['onward-source', 'node', 'import', 'default'] },
    logLevel: 'silent',
  });
  await bundle.write({ file: worker, format: 'esm', codeSplitting: false });
  await bundle.close();
}, 60_000);
afterAll(() => removeFolder(folder));

/** Runs a process on the database of a case until it exits. */
function run(name: string, dieAt: string): { signal: string | null; said: string } {
  const args = [worker, join(folder, `${name}.db`), join(folder, `${name}.txt`), dieAt];
  const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { signal, said: `${stdout}${stderr}` };
}

const effects = (name: string): string[] =>
  readFileSync(join(folder, `${name}.txt`), 'utf8')
    .trim()
    .split('\n');

describe('the store recipe in docs/extending.md', () => {
  it('is on the page', () => {
    expect(code).toContain('export function tableStore');
  });

  it('stores a session', () => {
    const { signal, said } = run('whole', '');
    expect([signal, said.split('\n')[0]]).toEqual([null, 'user: "Note three things."']);
    expect(said).toContain('assistant: "All noted."');
    expect(effects('whole')).toEqual(['a', 'b', 'c']);
  }, 30_000);

  it.each(['a', 'b', 'c'])(
    'D18 D24: after a process dies in call %s, another one continues, loses nothing and runs nothing twice',
    (dieAt) => {
      expect(run(dieAt, dieAt).signal).toBe('SIGKILL');
      const { signal, said } = run(dieAt, '');
      expect(signal, said).toBeNull();
      expect(said).toContain('user: "Note three things."');
      expect(said).toContain('assistant: "All noted."');
      expect(effects(dieAt)).toEqual(['a', 'b', 'c']);
    },
    30_000,
  );
});
