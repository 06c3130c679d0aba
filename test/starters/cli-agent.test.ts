import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { newFolder, runStarter } from './run.ts';

vi.setConfig({ testTimeout: 60_000 });

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => `${letter}.txt`);

async function talk(...lines: readonly string[]) {
  const cwd = newFolder();
  const files = join(cwd, 'files');
  mkdirSync(files);
  writeFileSync(join(cwd, 'outside.txt'), 'not yours');
  for (const name of names) writeFileSync(join(files, name), `words of ${name}`);
  const ended = await runStarter('cli-agent/main.ts', {
    cwd,
    args: ['files'],
    input: lines.join('\n'),
  });
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  return { printed: ended.stdout, left: readdirSync(files), outside: readdirSync(cwd) };
}

describe('the terminal agent example', () => {
  it('answers, runs tools and prints why it stopped', async () => {
    const { printed, left } = await talk('hello', 'read a.txt', 'read nothing.txt');
    expect(printed).toContain('> I can "list", "read notes.txt"');
    expect(printed).toContain('  … read_file {"file":"a.txt"}\n  ✓ read_file in ');
    expect(printed).toContain('\na.txt says: words of a.txt\n');
    expect(printed).toContain('  ✗ read_file: ');
    expect(printed.match(/Completed \(ToolCallPresenceCheck\)/g)).toHaveLength(3);
    expect(left).toEqual(names);
  });

  it('asks before a delete and handles yes, no and another file', async () => {
    const { printed, left } = await talk(
      'delete a.txt\ny',
      'delete b.txt\nit is still needed',
      'delete c.txt\n{"file":7}\n{"file":"d.txt"}',
    );
    expect(left).toEqual(names.filter((name) => name !== 'a.txt' && name !== 'd.txt'));
    expect(printed).toContain('delete_file {"file":"a.txt"}\nRun it?');
    expect(printed).toContain('Denied by a person: it is still needed');
    // invalid arguments are rejected before anything runs, and it asks again
    expect(printed.match(/delete_file \{"file":"c\.txt"\}\nRun it\?/g)).toHaveLength(2);
    expect(printed).toContain('d.txt is deleted');
  });

  it('exits and deletes nothing without an answer', async () => {
    const { printed, left } = await talk('delete a.txt');
    expect(left).toEqual(names);
    expect(printed).toContain('Denied by a person: no answer was given');
  });

  it('stays in its folder', async () => {
    const { left, outside } = await talk('delete ../outside.txt', 'y');
    expect(outside).toContain('outside.txt');
    expect(left).toEqual(names);
  });

  it('reaches its limit and continues with a grant', async () => {
    const { printed } = await talk('read all', 'y', 'read all', 'n');
    expect(printed.match(/It stopped \(steps_limit\)\. Grant \{"steps":5\}\?/g)).toHaveLength(2);
    expect(printed).toContain('I have read all 7.');
    expect(printed.match(/Stopped \(steps_limit\) by StepsLimit/g)).toHaveLength(1);
  });
});
