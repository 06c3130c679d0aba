import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from 'onward/stores/memory';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, owner, worldOf, type FakeWorld } from './cli.ts';

const { final, toolCall } = ScenarioStep;
const driver = () => followingDriver([final('hello')], [final('again')]);

async function worldWithSessions(count: number): Promise<FakeWorld> {
  const world = worldOf(driver());
  for (let n = 0; n < count; n++) await cli(world, 'run', 'Hello?');
  return world;
}
const fileIn = ({ cwd }: FakeWorld): string => join(cwd, '.onward', 'sessions.db');
const countIn = async ({ cwd }: FakeWorld, who = owner): Promise<number> =>
  (await lookInto(cwd, agentOn(driver())).list(who)).sessions.length;

describe('onward backup', () => {
  it('copies the sessions, reports it, and the copy can be restored', async () => {
    const world = await worldWithSessions(2);
    const { code, stdout, stderr } = await cli(world, 'backup', 'copy.db');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^Copied 2 sessions of SQLite · \.onward\/sessions\.db to copy\.db: \d+ kB, .+, readable only by you\.\n$/,
    );
    const copy = join(world.cwd, 'copy.db');
    expect(statSync(copy).mode & 0o777).toBe(0o600);

    await cli(world, 'run', 'After the copy.');
    const path = fileIn(world);
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    writeFileSync(path, readFileSync(copy));
    expect(await countIn(world)).toBe(2);
    expect((await cli(world, 'run', 'And now?', '--session', 'last')).stdout).toContain('again');
  });

  it('does not overwrite a file by default', async () => {
    const world = await worldWithSessions(1);
    writeFileSync(join(world.cwd, 'copy.db'), 'mine');
    const refused = await cli(world, 'backup', 'copy.db');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('overwrite it with --force');
    expect(readFileSync(join(world.cwd, 'copy.db'), 'utf8')).toBe('mine');
    const forced = await cli(world, 'backup', 'copy.db', '--force', '--json');
    expect(forced.last).toMatchObject({ type: 'backup', sessions: 1 });
  });

  it('refuses other stores than SQLite, and explains what to do', async () => {
    const world = { ...worldOf(), config: { agents: [agentOn(driver())], store: memoryStore() } };
    for (const command of [['backup', 'copy.db'], ['vacuum']]) {
      const { code, stderr } = await cli(world, ...command);
      expect(code).toBe(2);
      expect(stderr).toContain('works with SQLite files, and the store is memory');
    }
  });
});

describe('a truncated database file', () => {
  const old = ['--older-than', '0m'];
  it.each([
    ['list', 'prints what it can read', ['sessions', 'list'], [0, 5]],
    ['run', 'is refused', ['run', 'Hello?'], [5]],
    ['explain', 'is refused', ['explain', 'last'], [5]],
    ['recover', 'is refused', ['recover'], [5]],
    ['backup', 'is refused', ['backup', 'copy.db'], [5]],
    ['vacuum', 'is refused', ['vacuum'], [5]],
    ['expire', 'is refused', ['sessions', 'expire', ...old, '--yes'], [5]],
    ['prune', 'is refused', ['sessions', 'prune', ...old], [5]],
  ])(
    'onward %s %s without hanging',
    async (_name, _what, command, codes) => {
      const world = await worldWithSessions(3);
      const path = fileIn(world);
      truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
      const { code, stderr } = await cli(world, ...command);
      expect(codes).toContain(code);
      expect(existsSync(join(world.cwd, 'copy.db'))).toBe(false);
      if (code === 0) return;
      expect(stderr).toContain(path);
      expect(stderr).toContain('restore a backup');
    },
    20_000,
  );
});

describe('onward vacuum', () => {
  it('rewrites the file', async () => {
    const world = await worldWithSessions(2);
    const { code, stdout } = await cli(world, 'vacuum');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Rewrote SQLite · \.onward\/sessions\.db: \d+ kB, before \d+ kB\.\n$/);
    expect(await countIn(world)).toBe(2);
  });
});

describe('onward sessions expire', () => {
  it('counts, confirms and deletes sessions of this owner', async () => {
    const world = await worldWithSessions(2);
    await cli(world, 'run', 'Mine.', '--owner', 'someone');
    const expire = ['sessions', 'expire', '--older-than', '0m'];
    expect((await cli(world, ...expire, '--dry-run')).stdout).toBe('Would delete 2 sessions.\n');
    expect((await cli(world, ...expire, '--dry-run', '--all-owners', '--json')).last).toEqual({
      type: 'would_expire',
      sessions: 3,
    });
    const unsaid = await cli(world, ...expire);
    expect([unsaid.code, await countIn(world)]).toEqual([2, 2]);
    expect(unsaid.stderr).toContain(
      'This would delete 2 sessions permanently. Confirm with --yes.',
    );
    const no = await cli({ ...world, says: ['n'] }, ...expire);
    expect(no.questions).toEqual(['Delete 2 sessions permanently? [y/N] ']);
    expect(await countIn(world)).toBe(2);
    const { stdout } = await cli({ ...world, says: ['y'] }, ...expire);
    expect(stdout).toMatch(/^Deleted 2 sessions, \d+ rows\.\n$/);
    expect(await countIn(world)).toBe(0);
    expect(await countIn(world, { owner: 'someone' } as never)).toBe(1);
    const rest = await cli(world, ...expire, '--all-owners', '--yes', '--json');
    expect(rest.last).toMatchObject({ type: 'expired', sessions: 1, done: true });
  });

  it('keeps sessions that need approval, unless --waiting is given', async () => {
    const world = worldOf(followingDriver([toolCall('delete_lead', { id: 7 }), final('ok')]));
    await cli(world, 'run', 'Delete lead 7.');
    const expire = ['sessions', 'expire', '--older-than', '0m', '--yes'];
    expect((await cli(world, ...expire)).stdout).toContain('Deleted 0 sessions');
    expect((await cli(world, ...expire, '--waiting')).stdout).toContain('Deleted 1 session,');
  });

  it('accepts an age or a date', async () => {
    const world = await worldWithSessions(1);
    for (const age of ['90d', '2026-01-31'])
      expect(
        (await cli(world, 'sessions', 'expire', '--older-than', age, '--yes')).stdout,
      ).toContain('Deleted 0 sessions');
    const wrong = await cli(world, 'sessions', 'expire', '--older-than', 'soon', '--yes');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('expected an age such as 90d');
  });
});

describe('onward sessions prune', () => {
  it('deletes the logs of old sessions and keeps their conversations', async () => {
    const world = await worldWithSessions(2);
    const { stdout } = await cli(world, 'sessions', 'prune', '--older-than', '0m');
    expect(stdout).toMatch(/^Pruned 2 sessions, \d+ rows\.\n$/);
    expect(await countIn(world)).toBe(2);
    expect((await cli(world, 'sessions', 'prune', '--older-than', '0m', '--json')).last).toEqual({
      type: 'pruned',
      sessions: 0,
      rows: 0,
      done: true,
    });
  });
});
