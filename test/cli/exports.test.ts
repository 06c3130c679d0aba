import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExport } from 'onward/exports';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { cli, worldOf } from './cli.ts';

const { toolCall, final } = ScenarioStep;

const playedWorld = async () => {
  const world = worldOf(
    followingDriver([
      toolCall('stock', { article: 'a' }),
      final('Seven, key sk-live-0123456789abcdef.'),
    ]),
  );
  const { code } = await cli(world, 'run', 'How many?');
  expect(code).toBe(0);
  return world;
};

describe('onward export and import', () => {
  it('writes the records to stdout, or to a file that only the user can read', async () => {
    const world = await playedWorld();
    const { stdout, code } = await cli(world, 'export', 'last', '--json');
    expect(code).toBe(0);
    const { messages, steps, isRedacted } = await parseExport(stdout);
    expect([messages.length, steps.length, isRedacted]).toEqual([4, 2, true]);
    expect(stdout).not.toContain('sk-live');

    const out = await cli(world, 'export', 'last', '--out', 'session.jsonl');
    expect(out.stdout).toMatch(
      /^Exported session \w+ to session.jsonl: \d+ records, .*readable only by you.\n$/,
    );
    const path = join(world.cwd, 'session.jsonl');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await parseExport(readFileSync(path, 'utf8'))).steps).toEqual(steps);
    const again = await cli(world, 'export', 'last', '--out', 'session.jsonl');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--force')]);
    expect((await cli(world, 'export', 'last', '--out', 'session.jsonl', '--force')).code).toBe(0);
  });

  it('keeps secrets only if they are asked for', async () => {
    const world = await playedWorld();
    const { stdout } = await cli(world, 'export', 'last', '--unredacted');
    expect(stdout).toContain('sk-live-0123456789abcdef');
  });

  it('imports a file that show and explain read, and that nothing continues', async () => {
    const world = await playedWorld();
    await cli(world, 'export', 'last', '--out', 'session.jsonl');
    const support = ['--owner', 'support'];
    const done = await cli(world, 'import', 'session.jsonl', ...support, '--json');
    expect(done.code).toBe(0);
    expect(done.last).toMatchObject({ type: 'import', messageCount: 4, stepCount: 2 });
    const show = await cli(world, 'sessions', 'show', 'last', ...support);
    expect(show.stdout).toContain('read-only');
    expect(show.stdout).not.toMatch(/onward (?:run|resume)/);
    const explain = await cli(world, 'explain', 'last', ...support);
    expect(explain.stdout).toContain('stock');
    for (const words of [
      ['run', 'more', '--session', 'last'],
      ['resume', 'last'],
    ]) {
      const refused = await cli(world, ...words, ...support);
      expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('read-only')]);
    }
    expect((await cli(world, 'sessions', 'delete', 'last', '--yes', ...support)).code).toBe(0);
    // the session that was exported is still that of its owner
    expect((await cli(world, 'sessions', 'show', 'last')).code).toBe(0);
  });

  it('writes a test that repeats the session', async () => {
    const world = await playedWorld();
    const out = await cli(world, 'export', 'last', '--test', '--out', 'tests/lamps.test.ts');
    expect([out.code, out.stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
    const done = await cli(world, 'export', 'last', '--test', '--out', 'lamps.test.ts');
    expect(done.stdout).toMatch(
      /^Wrote lamps\.test\.ts, a test that repeats session .*\n {2}npx vitest run lamps\.test\.ts\n$/,
    );
    const text = readFileSync(join(world.cwd, 'lamps.test.ts'), 'utf8');
    expect(text).toContain('import config from "./onward.config.ts";');
    expect(text).toContain('it("support: How many?", async () => {');
    expect(text).toContain('"recordedTools": []');
    expect(text).not.toContain('sk-live');
    const recorded = await cli(world, 'export', 'last', '--test', '--recorded', 'stock');
    expect(recorded.stdout).toMatch(/"recordedTools": \[\s+"stock"\s+\]/);
    expect(await cli(world, 'export', 'last', '--recorded', 'all')).toMatchObject({ code: 2 });
    expect(await cli(world, 'export', 'last', '--test', '--unredacted')).toMatchObject({ code: 2 });
  });

  it('says what is wrong with a file, and keeps nothing of it', async () => {
    const world = await playedWorld();
    writeFileSync(join(world.cwd, 'bad.jsonl'), '{"type":"session"}\n');
    const bad = await cli(world, 'import', 'bad.jsonl', '--owner', 'support');
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('Line 1 of the export')]);
    const none = await cli(world, 'import', 'none.jsonl', '--owner', 'support');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no file none.jsonl')]);
    expect(existsSync(join(world.cwd, 'none.jsonl'))).toBe(false);
    expect((await cli(world, 'sessions', 'list', '--owner', 'support', '--json')).lines).toEqual(
      [],
    );
  });
});
