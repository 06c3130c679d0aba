import { ErrorPolicy } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { gate } from '../setup/sessions.ts';
import { agentOn, cli, lost, start, tempFolder, waitingDriver, worldOf } from './cli.ts';

const { toolCall, final, error } = ScenarioStep;

describe('exit codes by stop reason', () => {
  const cases: [string, readonly ScenarioStep[], Parameters<typeof agentOn>[1]?][] = [
    ['completed', [final('done')]],
    ['steps_limit', [toolCall('stock', { article: 'a' })], (b) => b.withMaxSteps(1)],
    ['token_limit', [toolCall('stock', { article: 'a' })], (b) => b.withMaxTokens(5)],
    [
      'time_limit',
      [{ ...final('late'), extras: { hangs: true } }],
      (b) => b.withTimeout({ seconds: 0.05 }),
    ],
    [
      'retry_limit',
      [error(lost), error(lost)],
      (b) => b.withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 1 })),
    ],
    ['error', [toolCall('stock', { article: 'bad' })]],
    ['finish_reason', [final('cut', { finishReason: 'length' })]],
    ['guard', [toolCall('stock', { article: 'a' }, '', { cost: 2 })], (b) => b.withMaxCost(1)],
    ['paused', [toolCall('delete_lead', { id: 7 })]],
  ];
  it.each(cases)('%s', async (name, steps, change) => {
    const agent = agentOn(DeterministicDriver.fromSteps(...steps), change);
    const outcome = await cli(
      { cwd: tempFolder(), config: { agents: [agent] } },
      'run',
      'go',
      '--json',
    );
    const row = exitCodes.find((each) => each.name === name);
    expect(outcome.last).toMatchObject({ type: 'result', exit_name: name });
    expect(outcome.code).toBe(row?.code);
  });

  it('user_requested if another process stops the run', async () => {
    const entered = gate();
    const world = worldOf(waitingDriver(entered));
    const run = start(['run', 'go', '--json'], world);
    await entered.passed;
    const stopped = await cli(world, 'stop', 'last', '--reason', 'enough');
    expect(stopped.code).toBe(0);
    expect(stopped.stderr).toMatch(/Stopped because .*enough/);
    expect((await run.done).code).toBe(17);
  });

  it('are unique, and help prints them all', async () => {
    expect(new Set(exitCodes.map(({ code }) => code)).size).toBe(exitCodes.length);
    for (const argv of [['help', 'exit-codes'], ['exit-codes']]) {
      const { stdout, code } = await cli({ cwd: tempFolder() }, ...argv);
      expect(code).toBe(0);
      for (const row of exitCodes) expect(stdout).toContain(`${row.name} `);
    }
  });
});
