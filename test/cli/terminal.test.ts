import { defineTool, ErrorPolicy, type JsonObject, type PendingApproval } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { askApproval } from '../../src/cli/ask-approval.ts';
import { cliContext } from '../../src/cli/cli-context.ts';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, tempFolder, type FakeWorld } from './cli.ts';

const { toolCall, toolCalls, stream } = ScenarioStep;

/** Sets a title, clears the screen, conceals text, uses C1 colors, overwrites a line and reverses text. */
const evil = '\u001b]0;owned\u0007\u001b[2J\u001b[8mhello\u009b31m\r\u202eolleh\u2066';
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const shout = defineTool({
  name: 'shout',
  description: 'Shouts.',
  parameters: { type: 'object' },
  execute: () => {
    throw new Error(evil);
  },
});
const guarded = defineTool({
  name: 'guarded',
  description: 'Needs a person.',
  needsApproval: true,
  parameters: { type: 'object' },
  execute: () => evil,
});

/** A run with the text in all names, ids, arguments, errors and messages of model and tools. */
function worldOf(): FakeWorld {
  const driver = followingDriver([
    toolCall('shout', { [evil]: evil }),
    toolCall(evil, {}),
    toolCalls([
      { id: `1${evil}`, name: 'guarded', args: { [evil]: evil } },
      { id: `2${evil}`, name: 'guarded', args: {} },
    ]),
    stream([evil.slice(0, 4), evil.slice(4)]),
  ]);
  const agent = agentOn(driver, (builder) =>
    builder.withTools(shout, guarded).withErrorPolicy(ErrorPolicy.retryToolErrors(3)),
  );
  const env = { NO_COLOR: '1', TERM: 'xterm' };
  return { cwd: tempFolder(), config: { agents: [agent] }, isTTY: true, env };
}

describe('terminal output has no control characters of others', () => {
  it.each([
    ['as text', []],
    ['with stacks', ['--debug']],
    ['as JSON', ['--json']],
  ])('%s', async (_name, flags) => {
    const world = worldOf();
    const shown = async (...argv: string[]): Promise<string> => {
      const { stdout, stderr } = await cli(world, ...argv, ...flags);
      // the command removes its own progress line
      return `${stdout}${stderr}`.replaceAll('\r\u001b[2K', '');
    };
    const outputs = {
      run: await shown('run', evil),
      waiting: await shown('sessions', 'show', 'last'),
      ambiguous: await shown('approve', 'last'),
      unknown: await shown('approve', 'last', evil),
      list: await shown('sessions', 'list'),
      approve: await shown('approve', 'last', '--yes'),
      explain: await shown('explain', 'last'),
      show: await shown('sessions', 'show', 'last'),
    };
    for (const [name, output] of Object.entries(outputs)) {
      expect(
        output.split('\n').filter((line) => steering.test(line)),
        name,
      ).toEqual([]);
      expect(output, name).toContain('hello');
    }
  });

  /** Returns the output for these answers, followed by none. */
  async function asked(call: PendingApproval, ...says: string[]): Promise<string> {
    let shown = '';
    const output = { isTTY: true, write: (text: string) => void (shown += text) };
    const ask = (question: string): Promise<string | null> => {
      shown += question;
      return Promise.resolve(says.shift() ?? null);
    };
    const io = {
      stdout: output,
      stderr: output,
      env: { NO_COLOR: '1' },
      cwd: '.',
      isTTY: true,
      ask,
    };
    const context = cliContext(io as unknown as Parameters<typeof cliContext>[0], {});
    await askApproval(context, call);
    return shown;
  }

  it('in the question about a call', async () => {
    const args: JsonObject = { [evil]: evil };
    const hidden = [`/${evil}`];
    const call = { callId: evil, tool: evil, args, path: [evil], hidden };
    const shown = await asked(call, 'e');
    expect(shown).toMatch(/hello.* needs approval/);
    expect(shown).toMatch(/requested by the nested agent .*hello/);
    expect(shown).not.toMatch(steering);
    expect(shown).toMatch(/hello.*: ".*" \(hidden\)\n/);
    expect(shown).toMatch(/! Hidden from view: \/.*hello.*\. The tool gets the hidden values\.\n/);
    // the arguments offered for editing are unchanged
    const [, now = ''] = /All arguments as JSON \(now (.*)\): $/.exec(shown) ?? [];
    expect(JSON.parse(now)).toEqual(args);
  });

  it('in arguments with invisible characters, which are shown escaped', async () => {
    const args = { 'a\u202e': 'b\u{e0041}', 'a\\u202e': 'b\\u{e0041}', 'to ': 1, '': 2 };
    const shown = await asked({ callId: 'c', tool: 't', args, path: [] });
    const lines = shown.split('\n').filter((line) => line.startsWith('  '));
    expect(lines.slice(0, 4)).toEqual([
      String.raw`  a\u202e: "b\udb40\udc41"`,
      String.raw`  a\\u202e: "b\\u{e0041}"`,
      '  "to ": 1',
      '  "": 2',
    ]);
  });
});
