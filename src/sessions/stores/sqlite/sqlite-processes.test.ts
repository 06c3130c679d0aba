import { spawn } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, folder, newPath, session } from '../../../../test/setup/sqlite-files.ts';
import { sqliteStore } from './index.ts';

describe('SQLite stores in separate processes', () => {
  const built = join(folder, 'built');
  beforeAll(async () => {
    const bundle = await rolldown({
      input: resolve('src/sessions/stores/sqlite/index.ts'),
      external: ['@photostructure/sqlite'],
      platform: 'neutral',
    });
    await bundle.write({ dir: built, format: 'esm', entryFileNames: 'sqlite.mjs' });
    await bundle.close();
  });

  /** Runs code in a process and returns its output. */
  function printed(name: string, code: string): Promise<string> {
    const file = join(built, `${name}.mjs`);
    writeFileSync(file, `import { sqliteStore } from './sqlite.mjs';\n${code}`);
    return new Promise((done) => {
      const child = spawn(process.execPath, ['--no-warnings', file]);
      let text = '';
      child.stdout.on('data', (chunk) => (text += String(chunk)));
      child.stderr.on('data', (chunk) => (text += String(chunk)));
      child.on('close', () => done(text.trim()));
    });
  }

  it.skipIf(process.getBuiltinModule('node:sqlite'))(
    'name the package to install if SQLite is missing',
    async () => {
      const said = await printed(
        'missing',
        `await sqliteStore({ path: 'x.db' }).find('s').catch((e) => console.log(e.code, e.message))`,
      );
      expect(said).toMatch(/^package_missing .*npm install @photostructure\/sqlite$/);
    },
  );

  it('create and write one new file at the same time without losing data', async () => {
    symlinkSync(resolve('node_modules'), join(built, 'node_modules'), 'junction');
    const path = newPath();
    const names = ['a', 'b', 'c'];
    const worker = (name: string): string => `
      const store = sqliteStore({ path: ${JSON.stringify(path)} });
      const at = ${JSON.stringify(at)};
      const session = (id) => ({ ...${JSON.stringify(session(''))}, id });
      const won = [];
      for (let n = 0; n < 20; n++) {
        const id = 's' + n;
        await store.create(session(id));
        await store.accept(id, { kind: 'message', executionId: 'e', body: '{}', at }, { phases: ['idle'] });
        const row = await store.claim(id, { worker: '${name}', ttlMs: 60000 });
        if (row) won.push(id);
        for (let revision = 0; row && revision < 10; revision++)
          await store.commit({ sessionId: id, token: row.token, revision, at,
            messages: [{ agentId: '', position: revision, role: 'user', body: '"${name}"' }] });
      }
      await store.close();
      console.log(JSON.stringify(won));
    `;
    const said = await Promise.all(names.map((name) => printed(name, worker(name))));
    const won = said.map((line) => JSON.parse(line) as string[]);
    const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
    expect(won.flat().toSorted()).toEqual(ids.toSorted());
    const store = sqliteStore({ path });
    for (const [i, name] of names.entries())
      for (const id of won[i] ?? []) {
        const bodies = (await store.messages(id, '')).map(({ body }) => body);
        expect(bodies).toEqual(Array.from({ length: 10 }, () => `"${name}"`));
      }
    await store.close();
  });
});
