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
      // what a model says to a person is not redacted: docs/redaction.md
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

describe('D43: the command shows no secret', () => {
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

  it('in errors: neither what looks like one, nor the value of a key in the environment', async () => {
    const env = { OPENAI_API_KEY: 'plain-value-of-a-key-CANARY' };
    const world = { ...worldOf(), env };
    for (const said of [byLook, env.OPENAI_API_KEY]) {
      const { stderr, stdout, code } = await cli(world, 'explain', said, '--json', '--debug');
      expect(code).toBe(3);
      expect(stderr + stdout).not.toContain('CANARY');
    }
  });
});

describe('what a terminal is shown', () => {
  it('cannot steer it: answers, tools and titles lose their control characters', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jhello\u009b31m';
    const shout = defineTool({
      name: 'shout',
      description: 'Shouts.',
      parameters: { type: 'object' },
      execute: () => {
        throw new Error(evil);
      },
    });
    const driver = followingDriver([
      toolCall('shout', { evil }),
      stream([evil.slice(0, 4), evil.slice(4)]),
    ]);
    const policy = ErrorPolicy.retryToolErrors(3);
    const agent = agentOn(driver, (builder) => builder.withTools(shout).withErrorPolicy(policy));
    const world = { cwd: tempFolder(), config: { agents: [agent] }, isTTY: true };
    const env = { NO_COLOR: '1', TERM: 'dumb' };
    const outputs = [
      await cli({ ...world, env }, 'run', evil),
      await cli({ ...world, env }, 'explain', 'last'),
      await cli({ ...world, env }, 'sessions', 'list'),
      await cli({ ...world, env }, 'sessions', 'show', 'last'),
    ];
    for (const { stdout, stderr } of outputs) {
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      expect(stdout + stderr).toContain('hello');
    }
  });
});
