import { defineTool, ErrorPolicy } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, tempFolder, type FakeWorld } from './cli.ts';

const { toolCall, stream, error } = ScenarioStep;
const byLook = 'sk-live-CANARY0123456789abcdef';
const planted = {
  article: `use ${byLook}`,
  password: 'CANARY under a key',
  nested: [{ body: JSON.stringify({ apiKey: 'CANARY in a text' }) }],
};
const words = `401 for ${byLook}: {"password":"CANARY in an error"}`;

const leaky = defineTool({
  name: 'leaky',
  description: 'Gives away everything.',
  execute: () => planted,
});
const failing = defineTool({
  name: 'failing',
  description: 'Fails with everything.',
  execute: () => {
    throw new Error(words);
  },
});
const guarded = defineTool({
  name: 'guarded',
  description: 'Needs a person.',
  needsApproval: true,
  parameters: { type: 'object' },
  execute: () => planted,
});

function worldOf(): FakeWorld {
  const driver = followingDriver(
    [
      toolCall('leaky', {}, 'I look.'),
      toolCall('failing'),
      toolCall('guarded', planted),
      error({ message: words, type: 'rate_limit', retryable: true }),
      // text of the model is not redacted, see docs/redaction.md
      stream(['All ', 'done.']),
    ],
    [error({ message: words, type: 'model', retryable: false })],
  );
  const policy = ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 1 });
  const agent = agentOn(driver, (builder) =>
    builder.withTools(leaky, failing, guarded).withErrorPolicy(policy),
  );
  return { cwd: tempFolder(), config: { agents: [agent] } };
}

describe('D43: the command prints no secret', () => {
  it.each([
    ['to a pipe', {}, []],
    ['to a terminal', { isTTY: true, says: ['e', JSON.stringify(planted), 'a'] }, []],
    ['as JSON', {}, ['--json']],
    ['with stacks', {}, ['--debug']],
  ] as [string, Partial<FakeWorld>, string[]][])('%s', async (_name, more, flags) => {
    const world = { ...worldOf(), ...more };
    const outputs = [
      await cli(world, 'run', `Log in with ${byLook}`, ...flags),
      await cli(world, 'sessions', 'show', 'last', ...flags),
      await cli(world, 'explain', 'last', ...flags),
      await cli(world, 'approve', 'last', ...flags),
      await cli(world, 'run', 'again', '-s', 'last', ...flags),
      await cli(world, 'explain', 'last', ...flags),
      await cli(world, 'sessions', 'show', 'last', ...flags),
      await cli(world, 'sessions', 'list', ...flags),
      await cli(world, 'stop', 'last', '--reason', words, ...flags),
    ];
    const all = outputs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(all).toContain('guarded');
    expect(/.{0,80}CANARY.{0,20}/.exec(all)?.[0]).toBeUndefined();
  });

  it('in errors, by its form or from an environment variable', async () => {
    const env = { OPENAI_API_KEY: 'plain-value-of-a-key-CANARY' };
    const world = { ...worldOf(), env };
    for (const said of [byLook, env.OPENAI_API_KEY]) {
      const { stderr, stdout, code } = await cli(world, 'explain', said, '--json', '--debug');
      expect(code).toBe(3);
      expect(stderr + stdout).not.toContain('CANARY');
    }
  });
});
