import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, tempFolder, type FakeWorld } from './cli.ts';

const { toolCall, final } = ScenarioStep;

async function finished(): Promise<FakeWorld> {
  const driver = followingDriver([
    toolCall('stock', { article: 'a' }),
    toolCall('stock', { article: 'b' }),
    toolCall('stock', { article: 'c' }),
    final('done'),
  ]);
  const agent = agentOn(driver, (builder) => builder.withMaxSteps(9));
  const world = { cwd: tempFolder(), config: { agents: [agent] } };
  expect((await cli(world, 'run', 'What do we have in stock?')).code).toBe(0);
  return world;
}

describe('onward replay', () => {
  it('shows both decisions of each step, what would change and what it would save', async () => {
    const world = await finished();
    const { code, stdout, stderr } = await cli(world, 'replay', 'last', '--max-steps', '2');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^What do we have in stock\? {2}session [0-9a-f]{8} · support · completed$/m,
    );
    expect(stdout).toContain('Recorded with 9 steps and 300 seconds. Judged with 2 steps.');
    expect(stdout).toMatch(/^ +1 {2}continue · ToolCallPresenceCheck +same$/m);
    expect(stdout).toMatch(
      /^ +2 {2}continue · ToolCallPresenceCheck +stop: steps_limit · StepsLimit$/m,
    );
    expect(stdout).toMatch(/^ +4 {2}stop: completed · ToolCallPresenceCheck +not run$/m);
    expect(stdout).toContain(
      'Would stop after step 2 of 4. The run finished, so its answer would be lost.',
    );
    expect(stdout).toMatch(/^Saved: 2 steps, 30 tokens, unknown cost, /m);
  });

  it('repeats the recorded decisions without options', async () => {
    const { stdout } = await cli(await finished(), 'replay', 'last');
    expect(stdout).toContain('Judged again as recorded.');
    expect(stdout).toContain('Same decisions: stops after step 4.');
    expect(stdout).not.toContain('Saved');
    expect(stdout).not.toContain('Not exact');
  });

  it('prints one JSON object', async () => {
    const { last } = await cli(await finished(), 'replay', 'last', '--max-tokens', '40', '--json');
    expect(last).toMatchObject({
      change: 'cut_short',
      stopsAt: 3,
      firstDifference: 3,
      saved: { steps: 1, tokens: 15 },
      recordedLimits: { maxSteps: 9, maxTokens: null },
      incomplete: [],
      steps: [{ number: 1 }, { number: 2 }, { replayed: { stopReason: 'token_limit' } }, {}],
    });
  });

  it.each([
    [['--max-steps', '0'], 'max-steps'],
    [['--max-cost', '-1'], 'max-cost'],
    [['--error-policy', 'none'], 'error-policy'],
    [['--execution', 'other'], 'no stored execution "other"'],
  ])('refuses %j', async (options, text) => {
    const { code, stderr } = await cli(await finished(), 'replay', 'last', ...options);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });
});
