import { ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, owner, worldOf, type FakeWorld } from './cli.ts';

const { final } = ScenarioStep;

/** A world with two parked sessions of one owner, and one of another. */
async function parkedWorld(): Promise<FakeWorld> {
  const driver = followingDriver([final('done')]);
  const world = worldOf(driver);
  expect((await cli(world, 'sessions', 'list')).code).toBe(0);
  const runtime = lookInto(world.cwd, agentOn(driver), {
    lease: { leaseMs: 30, heartbeatMs: 10 },
    deps: () => {
      throw new Error('tenant was removed\u001b[2J');
    },
  });
  for (const [id, who] of [
    ['first-one', owner],
    ['second-one', owner],
    ['third-one', { owner: 'eve' }],
  ] as const) {
    await runtime.create({ ...who, id });
    const { phase } = await runtime.send(id, `do ${id}`, { ...who, wait: true });
    expect(phase).toBe('parked');
  }
  return world;
}

it('shows what is parked, of all owners, and continues it', async () => {
  const world = await parkedWorld();
  const listed = await cli(world, 'parked');
  expect(listed).toMatchObject({ code: 0 });
  expect(
    listed.stdout.split('\n').filter((line) => line.includes('tenant was removed')),
  ).toHaveLength(3);
  expect(listed.stdout).not.toContain('\u001b[2J');
  expect(listed.stderr).toContain('onward parked --retry');
  const own = await cli(world, 'parked', '--owner', 'eve', '--json');
  expect(own.lines).toMatchObject([
    { type: 'parked', session_id: 'third-one', owner: 'eve', tries: 5, agent: 'support' },
  ]);

  const sessions = await cli(world, 'sessions', 'list', '--status', 'parked');
  expect(sessions.stdout).toContain('Parked · tenant was removed');
  const shown = await cli(world, 'explain', 'first-one');
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toContain(
    'and was given up after 5 tries. The last error was: tenant was removed',
  );
  expect(shown.stdout).toContain('onward parked --retry first-on');
  const refused = await cli(world, 'run', 'hello?', '--session', 'first-one');
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain('parked');

  const none = await cli(world, 'parked', '--retry', 'nope');
  expect(none.code).toBe(3);
  expect(none.stderr).toContain('no parked session "nope"');
  const one = await cli(world, 'parked', '--retry', 'first', '--json');
  expect(one.lines).toMatchObject([{ type: 'retried', session_id: 'first-one' }]);
  const rest = await cli(world, 'parked', '--retry');
  expect(rest.stdout.trim().split('\n').toSorted()).toEqual(['second-one', 'third-one']);
  expect((await cli(world, 'parked')).stderr).toContain('Nothing is parked.');
  expect((await cli(world, 'recover')).stdout).toContain('Recovered 3 sessions.');
  const done = await cli(world, 'sessions', 'list', '--json');
  expect(done.lines).toMatchObject([
    { status: 'completed', phase: 'idle', error: null },
    { status: 'completed' },
  ]);
}, 60_000);
