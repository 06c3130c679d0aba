import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseDemoModel } from '../../src/cli/demo-model.ts';
import { initNeeds, type InitNeeds, type NodeGifts } from '../../src/cli/init-needs.ts';
import { cli, tempFolder, worldOf } from './cli.ts';

describe('the command line', () => {
  it('prints help for every command, and the version', async () => {
    const main = await cli(worldOf(), '--help');
    expect(main.code).toBe(0);
    for (const name of [
      'dev',
      'run',
      'explain',
      'sessions',
      'resume',
      'approve',
      'deny',
      'stop',
      'recover',
      'parked',
      'init',
    ]) {
      expect(main.stdout).toMatch(new RegExp(`^  ${name}`, 'm'));
      const own = await cli(worldOf(), name, '--help');
      expect(own).toMatchObject({ code: 0, stderr: '' });
      expect(own.stdout).toContain('--config <file>');
    }
    expect(main.stdout).toContain('onward help exit-codes');
    expect((await cli(worldOf(), '--version')).stdout).toBe(
      `${(JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version}\n`,
    );
  });

  it('accepts common options before and after the command', async () => {
    for (const argv of [
      ['--json', 'run', 'x'],
      ['run', 'x', '--json'],
      ['run', '--json', 'x'],
    ])
      expect((await cli(worldOf(), ...argv)).last).toMatchObject({ type: 'result' });
  });

  it.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['rnu'], 'Did you mean run?'],
    [['run', 'x', '--fast'], "unknown option '--fast'"],
    [['run', 'x', 'y'], 'too many arguments'],
    [['explain'], "missing required argument 'session'"],
    [['explain', 'last', '--step', 'two'], 'Expected a whole number'],
    [['deny', 'last'], "required option '-r, --reason <text>' not specified"],
    [['deny', 'last'], '(onward deny --help lists commands and options)'],
    [['sessions', 'list', '--fast'], '(onward sessions list --help lists commands and options)'],
    [['dev', '--port', '99999'], 'Expected a whole number from 0 to 65535'],
    [['run', 'x', '--session', 'last', '--agent', 'a'], 'either --session or --agent'],
    [
      ['run', 'x', '--agent', 'unknown'],
      'There is no agent "unknown". --agent accepts one of: support.',
    ],
  ])('refuses %j with 2 and the reason', async (argv, message) => {
    const { code, stdout, stderr } = await cli(worldOf(), ...argv);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^onward: /);
    expect(stderr).not.toContain('    at ');
  });

  it('prints help and exits with 2 without a command', async () => {
    const { code, stderr } = await cli(worldOf());
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: onward');
  });

  it('prints an error as a JSON line with --json, and a stack only with --debug', async () => {
    const plain = await cli(worldOf(), 'explain', 'unknown', '--json');
    expect(plain.last).toMatchObject({
      type: 'error',
      error: { code: 'session_not_found' },
      exit_code: 3,
    });
    expect(plain.stderr).not.toContain('    at ');
    const debug = await cli(worldOf(), 'explain', 'unknown', '--debug');
    expect(debug.stderr).toContain('    at ');
    const env = await cli({ ...worldOf(), env: { ONWARD_DEBUG: '1' } }, 'explain', 'unknown');
    expect(env.stderr).toContain('    at ');
  });

  it('exits with 5 if the store cannot be opened', async () => {
    const world = worldOf();
    writeFileSync(
      join(world.cwd, 'broken.db'),
      'this is no database, and long enough to be read as one',
    );
    const { code, stderr } = await cli(world, 'sessions', 'list', '--store', 'broken.db');
    expect(code).toBe(5);
    expect(stderr).toMatch(/^onward: The SQLite store failed/);
  });

  it('refuses a missing, invalid or failing config', async () => {
    const cwd = tempFolder();
    const missing = await cli({ cwd }, 'sessions', 'list', '--config', 'none.ts');
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain('There is no config file');
    writeFileSync(join(cwd, 'onward.config.mjs'), 'export default { agents: [] };');
    const empty = await cli({ cwd }, 'sessions', 'list');
    expect(empty).toMatchObject({ code: 2 });
    expect(empty.stderr).toContain('onward.config.mjs: agents is an array of 0');
    writeFileSync(
      join(cwd, 'other.mjs'),
      'throw new Error("no database: password=hunter2-CANARY")',
    );
    const thrown = await cli({ cwd }, 'sessions', 'list', '--config', 'other.mjs');
    expect(thrown).toMatchObject({ code: 2 });
    expect(thrown.stderr).toContain('other.mjs could not be loaded: no database');
    expect(thrown.stderr).not.toContain('CANARY');
  });
});

describe('the demo model', () => {
  const all = () => true;
  const none = () => false;

  it('is scripted without a key, from OpenAI with a key, or the named one', () => {
    expect(chooseDemoModel({ env: {} }, all)).toEqual({
      model: null,
      note: 'no key found; set OPENAI_API_KEY to use a live one',
    });
    expect(chooseDemoModel({ env: { OPENAI_API_KEY: ' ' } }, all).model).toBeNull();
    expect(chooseDemoModel({ env: { OPENAI_API_KEY: 'k' } }, all)).toEqual({
      model: 'openai:gpt-5-mini',
      note: null,
    });
    expect(chooseDemoModel({ env: { ONWARD_MODEL: 'ollama:llama3.2' } }, all).model).toBe(
      'ollama:llama3.2',
    );
  });

  it('explains how to install a missing package, and refuses an unknown model', () => {
    const { model, note } = chooseDemoModel({ env: { OPENAI_API_KEY: 'k' } }, none);
    expect(model).toBeNull();
    expect(note).toContain('npm install openai');
    expect(() => chooseDemoModel({ env: { ONWARD_MODEL: 'openai:x' } }, none)).toThrow(
      'npm install openai',
    );
    const hasOpenai = (name: string) => name === 'openai';
    expect(() =>
      chooseDemoModel({ env: { ONWARD_MODEL: 'anthropic:claude-haiku-4-5' } }, hasOpenai),
    ).toThrow('Run: npm install @ai-sdk/anthropic');
    expect(() => chooseDemoModel({ env: { ONWARD_MODEL: 'nowhere:x' } }, all)).toThrow(
      'There is no model',
    );
  });
});

describe('the packages of a named model', () => {
  const choose = (name: string) => chooseDemoModel({ env: { ONWARD_MODEL: name } });

  it('are looked up where the command is installed', () => {
    expect(choose('anthropic:claude-haiku-4-5').model).toBe('anthropic:claude-haiku-4-5');
    expect(choose('google:gemini-2.5-flash').model).toBe('google:gemini-2.5-flash');
    expect(choose('ollama:m').model).toBe('ollama:m');
    expect(() => choose('bedrock:m')).toThrow('npm install @ai-sdk/amazon-bedrock');
    expect(() => choose('vertex:m')).toThrow('npm install @ai-sdk/google-vertex');
  });
});

describe('onward init', () => {
  it('writes a project and overwrites nothing', async () => {
    const cwd = tempFolder();
    const { code, stderr } = await cli({ cwd }, 'init', 'My Agents');
    expect(code).toBe(0);
    const folder = join(cwd, 'My Agents');
    const names = readdirSync(folder).toSorted();
    expect(names).toHaveLength(4);
    expect(names).toContain('package.json');
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('.onward/\nnode_modules/\n');
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'my-agents',
      scripts: { dev: 'onward dev' },
    });
    expect(stderr).toContain("cd 'My Agents'");
    expect(stderr).toContain('npx onward dev');
    const again = await cli({ cwd }, 'init', 'My Agents');
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('exists, and nothing was written');
  });

  it('keeps an existing package.json, and adds a line to .gitignore', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'package.json'), '{"name":"mine"}');
    writeFileSync(join(cwd, '.gitignore'), 'dist');
    const { last } = await cli({ cwd }, 'init', '--json');
    expect(last).toMatchObject({ type: 'init', kept: ['package.json'] });
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('dist\n.onward/\n');
  });

  it.each<[NodeGifts, Record<string, string>, InitNeeds['ending'], string[], string]>([
    [{ typescript: true, sqlite: true }, {}, 'ts', [], 'a new Node needs nothing more'],
    [
      { typescript: true, sqlite: true },
      { 'package.json': '{"name":"mine"}' },
      'mts',
      [],
      'a plain .ts would be read as CommonJS first, with a warning',
    ],
    [
      { typescript: true, sqlite: true },
      { 'package.json': '{"type":"module"}' },
      'ts',
      [],
      'the package.json has type module',
    ],
    [
      { typescript: false, sqlite: false },
      {},
      'mjs',
      ['@photostructure/sqlite'],
      'Node 20 has no SQLite and reads no TypeScript',
    ],
    [{ typescript: false, sqlite: true }, {}, 'mjs', [], 'Node 22.13 has SQLite'],
  ])('%j %j -> .%s with %j: %s', (gifts, files, ending, packages) => {
    const folder = tempFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const needs = initNeeds(folder, gifts);
    expect(needs.ending).toBe(ending);
    expect(Object.keys(needs.packages)).toEqual(packages);
    expect(needs.missing).toEqual(['onward', ...packages]);
  });
});

describe('suggested commands', () => {
  it.each([
    [{}, 'onward'],
    [{ npm_command: 'exec' }, 'npx onward'],
    [{ npm_command: 'run-script' }, 'npx onward'],
  ])('with the environment %j start with "%s"', async (env, name) => {
    const world = { ...worldOf(), env };
    expect((await cli(world, 'sessions', 'list')).stderr).toBe(
      `dev has no sessions yet. Start one with: ${name} run "…"\n`,
    );
    expect((await cli(world, 'explain', 'unknown')).stderr).toContain(`: ${name} sessions list`);
    expect((await cli(world, 'run')).stderr).toContain(`Type one: ${name} run`);
    expect((await cli(world, 'run', 'x')).stderr).toMatch(new RegExp(`· ${name} explain \\w{8}\n`));
  });
});
