import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { until } from '../setup/sessions.ts';
import { install, Running, type Ended, type Installed } from './install.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A model that follows the first word of the message. */
const config = `import { AgentBuilder, defineTool } from 'onward';
import { defineConfig } from 'onward/config';
import { existsSync, writeFileSync } from 'node:fs';

interface Args { readonly article: string }
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const stock = defineTool({
  name: 'stock',
  description: 'Pieces of an article.',
  parameters: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
  idempotent: true,
  async execute(args) {
    const { article } = args as unknown as Args;
    if (article === 'slow') {
      writeFileSync('entered', '');
      while (!existsSync('go')) await sleep(20);
    }
    return { article, pieces: 7 };
  },
});
const usage = { input: 10, output: 5, total: 15 };
const driver = {
  name: 'by-rules',
  async infer({ messages }: { messages: { last(): { isTool(): boolean; text: string } } & Iterable<{ text: string }> }) {
    const [first] = messages;
    const word = first?.text.split(' ')[0] ?? '';
    if (word === 'long') return { content: 'a line of text\\n'.repeat(50_000), toolCalls: [], finishReason: 'stop', usage };
    if (messages.last().isTool() && word !== 'loop')
      return { content: 'Seven lamps.', toolCalls: [], finishReason: 'stop', usage };
    return { content: '', toolCalls: [{ name: 'stock', args: { article: word } }], finishReason: 'tool_calls', usage };
  },
};
export default defineConfig({
  name: 'Shop',
  agents: [AgentBuilder.base().withName('support').withModel(driver).withTools(stock).withMaxSteps(3).build()],
  lease: { leaseMs: 1_000, heartbeatMs: 300, signalMs: 100 },
});
`;

let installed: Installed;
beforeAll(async () => {
  installed = await install();
}, 60_000);
afterAll(() => installed.remove());

const shop = (): string => installed.project({ 'onward.config.ts': config });
const started = (cwd: string, ...argv: string[]): Running => new Running(installed.main, cwd, argv);
const ran = (cwd: string, ...argv: string[]): Promise<Ended> => started(cwd, ...argv).ended;

describe('the command as a process', () => {
  it('reads a TypeScript config, and prints only the answer without colors to a pipe', async () => {
    const cwd = shop();
    const { code, stdout, stderr } = await ran(cwd, 'run', 'lamp');
    expect(stderr).toContain('✓ stock');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Seven lamps.\n' });
    expect(stdout + stderr).not.toContain('\u001b');
    const forced = new Running(installed.main, cwd, ['explain', 'last'], { FORCE_COLOR: '1' });
    expect((await forced.ended).stdout).toContain('\u001b[');
  });

  it('exits with the code of the stop reason, and prints JSON lines with --json', async () => {
    const cwd = shop();
    const { code, stdout } = await ran(cwd, 'run', 'loop', '--json');
    expect(code).toBe(10);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      stop_reason: 'steps_limit',
      exit_code: 10,
    });
    expect((await ran(cwd, 'explain', 'unknown')).code).toBe(3);
    expect((await ran(cwd, 'run', '--nonsense')).code).toBe(2);
  });

  it('exits with 0 if the reader of its pipe closes early', () => {
    const cwd = shop();
    const line = `"${process.execPath}" "${installed.main}" run long | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', line], { cwd, encoding: 'utf8' });
    expect(stdout).toBe('a line of text\n0\n');
    expect(stderr).not.toMatch(/EPIPE|Error|    at /);
  });

  it('writes a long answer completely', async () => {
    const { stdout } = await ran(shop(), 'run', 'long');
    expect(stdout.length).toBe(15 * 50_000);
  });

  it('stops on Ctrl-C with an explanation and exit code 130, and the session can be resumed', async () => {
    const cwd = shop();
    const run = started(cwd, 'run', 'slow');
    await until(() => existsSync(join(cwd, 'entered')));
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped because');
    const grant = /onward (resume \S+ --grant \S+)/.exec(stderr)![1]!.split(' ');
    const { stdout } = await ran(cwd, ...grant);
    expect(stdout).toBe('Seven lamps.\n');
  });

  it('recover completes a run after kill -9', async () => {
    const cwd = shop();
    const run = started(cwd, 'run', 'slow');
    await until(() => existsSync(join(cwd, 'entered')));
    run.child.kill('SIGKILL');
    expect((await run.ended).signal).toBe('SIGKILL');
    const recovery = started(cwd, 'recover');
    await until(() => recovery.stderr.includes('continues'));
    spawnSync('touch', [join(cwd, 'go')]);
    const { code, stdout, stderr } = await recovery.ended;
    expect(stdout).toBe('Recovered 1 session.\n');
    expect(stderr).toContain('completed (completed) after 2 steps');
    expect(code).toBe(0);
  });

  it('dev finishes the step on SIGTERM and exits with 0', async () => {
    const cwd = shop();
    const dev = started(cwd, 'dev', '--port', '0', '--json');
    await until(() => dev.stdout.includes('\n'));
    const { url, token } = JSON.parse(dev.stdout) as { url: string; token: string };
    const answer = await fetch(`${url}/api/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'slow' }),
    });
    expect(answer.status).toBe(201);
    await until(() => existsSync(join(cwd, 'entered')));
    dev.child.kill('SIGTERM');
    spawnSync('touch', [join(cwd, 'go')]);
    const { code, stderr } = await dev.ended;
    expect(stderr).toBe('');
    expect(code).toBe(0);
    // the step is finished; another process runs the next one
    const { stdout } = await ran(cwd, 'recover');
    expect(stdout).toBe('Recovered 1 session.\n');
  });
});

describe('the project of onward init', () => {
  it('runs without changes', async () => {
    const cwd = installed.project({});
    expect((await ran(cwd, 'init', 'new')).code).toBe(0);
    const folder = join(cwd, 'new');
    expect(readdirSync(folder)).toContain('onward.config.ts');
    const { code, stdout, stderr } = await ran(folder, 'run', 'three small words');
    expect(stderr).toContain('✓ count_words');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The tool says: {"words":3}\n' });
    expect(readFileSync(join(folder, '.onward', '.gitignore'), 'utf8')).toBe('*\n');
  });
});

describe('two copies of onward', () => {
  it('an agent of another copy is refused with a helpful message', async () => {
    const cwd = shop();
    const own = dirname(dirname(dirname(installed.main)));
    cpSync(own, join(cwd, 'node_modules', 'onward'), { recursive: true });
    const { code, stderr } = await ran(cwd, 'run', 'lamp');
    expect(code).toBe(2);
    expect(stderr).toContain('expected an agent from the same copy of onward as this command');
    expect(stderr).toContain('npx onward');
  });
});
