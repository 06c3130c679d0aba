import { userInfo } from 'node:os';
import { ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, owner, worldOf, type FakeWorld } from './cli.ts';

const { final } = ScenarioStep;

/** Creates two parked sessions of one owner and one of another. */
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

it('shows who retried a session that is parked again, and keeps the user of the system without --by', async () => {
  const world = await parkedWorld();
  const runtime = lookInto(world.cwd, agentOn(followingDriver([final('done')])), {
    lease: { leaseMs: 30, heartbeatMs: 10 },
    onError: () => {},
    deps: () => {
      throw new Error('the tenant is still not there');
    },
  });
  await cli(world, 'parked', '--retry', 'first', '--by', 'olga\u202e');
  await cli(world, 'parked', '--retry', 'second');
  await runtime.recover();
  for (const id of ['first-one', 'second-one'])
    expect(await runtime.wait(id, owner)).toMatchObject({ phase: 'parked' });
  const listed = await cli(world, 'parked');
  expect(listed.stdout).toMatch(/^ {2}retried by olga.* (now|ago)$/m);
  expect(listed.stdout).not.toContain('\u202e');
  const { lines } = await cli(world, 'parked', '--json', '--owner', owner.owner);
  const by = Object.fromEntries(
    lines.map((line) => [String(line['session_id']), line['last_retry']]),
  );
  expect(by).toEqual({
    'first-one': { by: 'olga\u202e', at: expect.stringMatching(/^\d{4}-/) },
    'second-one': { by: userInfo().username, at: expect.any(String) },
  });
  const hidden = await cli(world, 'parked', '--retry', 'first', '--by', '');
  expect(hidden.stderr).toContain('who acts, up to 200 characters');
}, 60_000);

it('lists parked sessions of all owners and retries them', async () => {
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

  expect((await cli(world, 'parked', '--agent', 'other', '--json')).lines).toEqual([]);
  const few = await cli(world, 'parked', '--limit', '2');
  expect(few.stdout).not.toContain('first-one');
  expect(few.stderr).toContain('The last 2 parked sessions; more with --limit.');

  const sessions = await cli(world, 'sessions', 'list', '--status', 'parked');
  expect(sessions.stdout).toContain('Gave up · tenant was removed');
  const shown = await cli(world, 'explain', 'first-one');
  expect(shown).toMatchObject({ code: 0 });
  expect(shown.stdout).toContain(
    'was given up after 5 failed tries. The last error was: tenant was removed',
  );
  expect(shown.stdout).toContain('onward parked --retry first-on');
  const refused = await cli(world, 'run', 'hello?', '--session', 'first-one');
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain('parked');

  const none = await cli(world, 'parked', '--retry', 'nope');
  expect(none.code).toBe(3);
  expect(none.stderr).toContain('no parked session "nope"');
  const one = await cli(world, 'parked', '--retry', 'first', '--json', '--by', 'olga');
  expect(one.lines).toMatchObject([{ type: 'retried', session_id: 'first-one' }]);
  const unsaid = await cli(world, 'parked', '--retry');
  expect(unsaid).toMatchObject({ code: 2, stdout: '' });
  expect(unsaid.stderr).toContain('This would retry 2 sessions. Confirm with --yes.');
  const no = await cli({ ...world, says: ['n'] }, 'parked', '--retry');
  expect(no.questions).toEqual(['Retry 2 sessions? [y/N] ']);
  expect(no.stderr).toContain('Nothing was retried.');
  const rest = await cli(world, 'parked', '--retry', '--yes');
  expect(rest.stdout.trim().split('\n').toSorted()).toEqual(['second-one', 'third-one']);
  expect((await cli(world, 'parked')).stderr).toContain('No session is parked.');
  expect((await cli(world, 'recover')).stdout).toContain('Recovered 3 sessions.');
  const done = await cli(world, 'sessions', 'list', '--json');
  expect(done.lines).toMatchObject([
    { status: 'completed', phase: 'idle', error: null },
    { status: 'completed' },
  ]);
}, 60_000);
