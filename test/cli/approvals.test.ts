import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { cli, worldOf } from './cli.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('approvals', () => {
  const asking = () =>
    followingDriver([
      toolCalls([
        { name: 'delete_lead', args: { id: 7 } },
        { name: 'delete_lead', args: { id: 8 } },
      ]),
      final('cleaned'),
    ]);

  it('pause a run in a pipe, which prints the commands to answer', async () => {
    const world = worldOf(asking());
    const { code, stderr } = await cli(world, 'run', 'clean');
    expect(code).toBe(7);
    expect(stderr).toContain('Waiting because 2 calls need approval: delete_lead');
    const approvals = [...stderr.matchAll(/onward approve ([0-9a-f]{8}) (\S+)/g)];
    expect(approvals).toHaveLength(2);
    const which = await cli(world, 'approve', 'last');
    expect(which.code).toBe(2);
    expect(which.stderr).toContain('2 calls need approval. Name one, or approve all with --yes:');
    const [first, second] = approvals;
    expect((await cli(world, 'approve', first![1]!, first![2]!)).code).toBe(7);
    const denied = await cli(world, 'deny', 'last', second![2]!, '--reason', 'still needed');
    expect(denied).toMatchObject({ code: 0, stdout: 'cleaned\n' });
    expect(denied.stderr).toContain('still needed');
    const late = await cli(world, 'approve', 'last', second![2]!);
    expect(late.code).toBe(4);
    expect(late.stderr).toContain('needs no approval: it is completed');
  });

  it('are all given with --all, and only as they are', async () => {
    const world = worldOf(asking());
    expect((await cli(world, 'run', 'clean')).code).toBe(7);
    const edited = await cli(world, 'approve', 'last', '--all', '--args', '{}');
    expect(edited.code).toBe(2);
    expect(edited.stderr).toContain('--all approves every call as it is');
    expect(await cli(world, 'approve', 'last', '--all')).toMatchObject({
      code: 0,
      stdout: 'cleaned\n',
    });
    expect((await cli(world, 'approve', 'last', '--all')).code).toBe(4);
  });

  it('are remembered with --remember, listed and revoked', async () => {
    const call = (id: number) => toolCalls([{ name: 'delete_lead', args: { id } }]);
    const world = worldOf(followingDriver([call(7), call(8), final('one')], [call(9)]));
    expect((await cli(world, 'run', 'first')).code).toBe(7);
    expect(await cli(world, 'approve', 'last', '--remember')).toMatchObject({
      code: 0,
      stdout: 'one\n',
    });
    const listed = await cli(world, 'rules', 'last');
    expect(listed.stdout).toMatch(/^[0-9a-f]{8} delete_lead of .+, approved by .+ on /);
    expect((await cli(world, 'rules', 'last', '--revoke', 'nope')).code).toBe(2);
    const revoked = await cli(world, 'rules', 'last', '--revoke', listed.stdout.slice(0, 8));
    expect(revoked).toMatchObject({ code: 0, stdout: '' });
    expect(revoked.stderr).toContain('remembers no approvals');
    expect((await cli(world, 'run', 'again', '--session', 'last')).code).toBe(7);
  });

  it('D91: need --execution if another execution used the same call id', async () => {
    const call = (id: number) => toolCalls([{ id: 'c1', name: 'delete_lead', args: { id } }]);
    const world = worldOf(followingDriver([call(7)], [call(8), final('deleted')]));
    expect((await cli(world, 'run', 'first')).code).toBe(7);
    await cli(world, 'stop', 'last');
    expect((await cli(world, 'run', 'second', '--session', 'last')).code).toBe(7);
    for (const execution of [[], ['--execution', 'other']]) {
      const late = await cli(world, 'approve', 'last', 'c1', ...execution);
      expect(late.code).toBe(4);
      expect(late.stderr).toContain('{"id":8}');
    }
    const late = await cli(world, 'approve', 'last', 'c1');
    const [, execution] = /--execution (\S+);/.exec(late.stderr)!;
    expect(await cli(world, 'approve', 'last', 'c1', '--execution', execution!)).toMatchObject({
      code: 0,
      stdout: 'deleted\n',
    });
  });

  it('are requested on a terminal: approve one, deny the other', async () => {
    const world = worldOf(asking(), { says: ['a', 'd', 'not this one'] });
    const { code, stdout, stderr, questions } = await cli(world, 'run', 'clean');
    expect(code).toBe(0);
    expect(stdout).toContain('cleaned');
    expect(questions).toHaveLength(3);
    expect(stderr).toContain('✓ delete_lead');
    expect(stderr).toContain('not this one');
  });

  it('accept edited arguments, and ask again if they are invalid', async () => {
    const driver = followingDriver([toolCall('delete_lead', { id: 7 }), final('ok')]);
    const says = ['what?', 'e', 'no json', 'e', '{"id":"x"}', 'e', '{"id":9}'];
    const world = worldOf(driver, { says });
    const { code, stderr } = await cli(world, 'run', 'clean');
    expect(code).toBe(0);
    expect(stderr).toContain('Type a, e, d or l.');
    expect(stderr).toContain('is not JSON');
    expect(stderr).toContain('{"id":9}');
  });

  it('can be left for later, and --yes approves everything', async () => {
    const world = worldOf(asking(), { says: ['l'] });
    expect((await cli(world, 'run', 'clean')).code).toBe(7);
    const blocked = await cli(world, 'run', 'more', '-s', 'last');
    expect(blocked.code).toBe(7);
    expect(blocked.stderr).toMatch(/\n {2}onward approve [0-9a-f]{8}\n/);
    expect(await cli(world, 'approve', 'last', '--yes')).toMatchObject({ code: 0 });
    const yes = await cli(worldOf(asking()), 'run', 'clean', '--yes');
    expect(yes).toMatchObject({ code: 0, stdout: 'cleaned\n' });
  });

  it('end with onward stop', async () => {
    const world = worldOf(asking());
    await cli(world, 'run', 'clean');
    const { code, stderr } = await cli(world, 'stop', 'last', '--reason', 'changed my mind');
    expect(code).toBe(0);
    expect(stderr).toMatch(/Stopped because .*changed my mind/);
    expect((await cli(world, 'approve', 'last')).code).toBe(4);
  });

  it('accept --args, and refuse arguments that are not a valid object', async () => {
    const world = worldOf(followingDriver([toolCall('delete_lead', { id: 7 }), final('ok')]));
    await cli(world, 'run', 'clean');
    expect((await cli(world, 'approve', 'last', '--args', '[1]')).code).toBe(2);
    expect((await cli(world, 'approve', 'last', '--args', '{"id":"x"}')).code).toBe(2);
    const { code, stderr } = await cli(world, 'approve', 'last', '--args', '{"id": 9}');
    expect(code).toBe(0);
    expect(stderr).toContain('{"id":9}');
  });

  it('mark hidden values, name the call for scripts, and are shown with the approver by explain', async () => {
    const secret = { id: 7, password: 'hunter2-hunter2' };
    const world = worldOf(followingDriver([toolCall('delete_lead', secret), final('ok')]));
    const { stderr } = await cli(world, 'run', 'clean');
    expect(stderr).toContain('"password":"[redacted]"} (Hidden from view: /password.)');
    const show = await cli(world, 'sessions', 'show', 'last');
    expect(show.stdout).toContain('(Hidden from view: /password.)');
    const json = await cli(world, 'sessions', 'show', 'last', '--json');
    const [call] = JSON.parse(json.stdout).pendingApprovals;
    expect(call).toMatchObject({
      argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      executionId: expect.any(String),
      hidden: ['/password'],
    });
    const masked = await cli(world, 'approve', 'last', '--args', JSON.stringify(call.args));
    expect(masked.code).toBe(2);
    expect(masked.stderr).toContain('"/password" holds the placeholder of a redacted value');
    expect((await cli(world, 'approve', 'last')).code).toBe(0);
    const explained = await cli(world, 'explain', 'last');
    expect(explained.stdout).toMatch(
      /\nStep 1: delete_lead approved by \S+ on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\.\n/,
    );
  });
});
