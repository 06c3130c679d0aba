import { AgentBuilder } from 'onward';
import { describe, expect, it } from 'vitest';
import { ScenarioStep } from 'onward/testing';
import { followingDriver } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, owner, tempFolder, type FakeWorld } from './cli.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const looping = () =>
  followingDriver(
    [toolCall('stock', { article: 'a' }), toolCall('stock', { article: 'b' }), final('done')],
    [final('again')],
  );

async function stopped(): Promise<FakeWorld> {
  const agent = agentOn(looping(), (builder) => builder.withMaxSteps(2));
  const world = { cwd: tempFolder(), config: { agents: [agent] } };
  expect((await cli(world, 'run', 'What do we have in stock?')).code).toBe(10);
  return world;
}

describe('onward explain', () => {
  it('shows every step, every evaluation of the last in order, the outcome and the remedy', async () => {
    const world = await stopped();
    const { code, stdout, stderr } = await cli(world, 'explain', 'last');
    expect(code).toBe(0);
    expect(stderr).toBe('');
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(
      /^What do we have in stock\? {2}session [0-9a-f]{8} · support · stopped$/,
    );
    expect(stdout).toMatch(/STEP +TIME +WORK +TOKENS +OUTCOME/);
    expect(stdout).toMatch(/ 1 +[\d.]+ m?s +stock +15 +continue · ToolCallPresenceCheck/);
    expect(stdout).toMatch(/ 2 +[\d.]+ m?s +stock +15 +stop: steps_limit · StepsLimit/);
    expect(stdout).toContain('2 of 2 steps');
    const evaluations = lines.slice(lines.indexOf('Step 2') + 1, lines.indexOf('Step 2') + 7);
    expect(evaluations.map((line) => line.slice(2, 14).trim())).toEqual([
      '■ forbid',
      '▲ request',
      '○ allow',
      '○ allow',
      '○ allow',
      '○ allow',
    ]);
    expect(evaluations[0]).toMatch(/^→ ■ forbid +StepsLimit +2 of 2 steps used/);
    expect(stdout).toContain(
      'Stopped because it used 2 of 2 steps before the model read a tool result. To continue, add 2 steps.',
    );
    expect(stdout).toMatch(/\n {2}onward resume [0-9a-f]{8} --grant steps=2\n/);
  });

  it('D83: shows what a call read from and wrote to a prompt cache, and its cost', async () => {
    const usage = {
      input: 13_000,
      cachedInput: 12_000,
      cacheWrite: 900,
      cacheWrite1h: 300,
      output: 10,
    };
    const driver = { ...followingDriver([final('done', { usage })]), model: 'claude-sonnet-4-6' };
    const world = { cwd: tempFolder(), config: { agents: [agentOn(driver)] } };
    await cli(world, 'run', 'go');
    const { stdout } = await cli(world, 'explain', 'last');
    expect(stdout).toContain(
      'prompt cache: 12,000 tokens read, 900 tokens written (300 for an hour)',
    );
    // 100 at 3, 12,000 at 0.3, 600 at 3.75, 300 at 6, 10 at 15 dollars per million
    expect(stdout).toContain('$0.0081');
    const { last } = await cli(world, 'explain', 'last', '--json');
    expect((last['steps'] as object[])[0]).toMatchObject({ modelUsage: usage, cost: 0.0081 });
  });

  it('prints a resume command that works', async () => {
    const world = await stopped();
    const { stdout } = await cli(world, 'explain', 'last');
    const words = /onward (resume .*)/.exec(stdout)![1]!.split(' ');
    expect(await cli(world, ...words)).toMatchObject({ code: 0, stdout: 'done\n' });
    const after = await cli(world, 'explain', 'last');
    expect(after.stdout).toContain('Finished because the model answered');
    expect(after.stdout).toContain('3 of 4 steps');
  });

  it('shows the evaluations of another step, and refuses a missing one', async () => {
    const world = await stopped();
    const { stdout } = await cli(world, 'explain', 'last', '--step', '1');
    expect(stdout).toContain('\nStep 1\n');
    expect(stdout).toContain('■ forbid: none');
    expect(stdout).toMatch(/→ ▲ request +ToolCallPresenceCheck +the model called stock/);
    expect(stdout).toContain(
      'Continued because the model called stock, requested by ToolCallPresenceCheck.',
    );
    const wrong = await cli(world, 'explain', 'last', '--step', '9');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('expected a number from 1 to 2');
  });

  it('prints the whole trace with --json', async () => {
    const world = await stopped();
    const { last } = await cli(world, 'explain', 'last', '--json');
    expect(last).toMatchObject({ status: 'stopped', stop: { lead: 'Stopped because' } });
    expect(last['steps']).toHaveLength(2);
  });

  it('shows an earlier message of the session', async () => {
    const world = await stopped();
    await cli(world, 'run', 'and now?', '-s', 'last');
    const { stdout } = await cli(world, 'explain', 'last');
    expect(stdout).toContain('Message 2 of 2; another: onward explain');
    const execution = /--execution (\S+)/.exec(stdout)![1]!;
    const earlier = await cli(world, 'explain', 'last', '--execution', execution);
    expect(earlier.stdout).toContain('steps_limit');
    // an earlier execution cannot be resumed
    expect(earlier.stdout).not.toContain('onward resume');
  });

  it('reads a long execution from its first step', async () => {
    const steps = Array.from({ length: 130 }, (_, i) => toolCall('stock', { article: `a${i}` }));
    const agent = agentOn(followingDriver([...steps, final('done')]), (builder) =>
      builder.withMaxSteps(200),
    );
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    await cli(world, 'run', 'go');
    const { last } = await cli(world, 'explain', 'last', '--json');
    expect((last['steps'] as { number: number }[]).map(({ number }) => number)).toEqual(
      Array.from({ length: 131 }, (_, i) => i + 1),
    );
  });

  it('counts calls of one tool instead of repeating them', async () => {
    const call = (article: string) => ({ name: 'stock', args: { article } });
    const agent = agentOn(followingDriver([toolCalls([call('a'), call('b')]), final('done')]));
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    await cli(world, 'run', 'go');
    expect((await cli(world, 'explain', 'last')).stdout).toContain(' stock ×2 ');
  });

  it('shows calls that need approval, with the commands', async () => {
    const agent = agentOn(followingDriver([toolCall('delete_lead', { id: 7 })]));
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    await cli(world, 'run', 'clean');
    const { stdout } = await cli(world, 'explain', 'last');
    expect(stdout).toContain('paused, no outcome yet');
    expect(stdout).toContain('Waiting because delete_lead needs approval');
    expect(stdout).toMatch(/onward approve [0-9a-f]{8}\n/);
  });

  it('repeats the options --store and --owner in its commands', async () => {
    const agent = agentOn(looping(), (builder) => builder.withMaxSteps(1));
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    await cli(world, 'run', 'go', '--store', 'my data/s.db', '--owner', 'ann');
    const { stdout } = await cli(
      world,
      'explain',
      'last',
      '--store',
      'my data/s.db',
      '--owner',
      'ann',
    );
    expect(stdout).toMatch(/--grant steps=1 --store 'my data\/s\.db' --owner ann\n/);
  });
});

describe('finding a session', () => {
  it('accepts ids, prefixes of 4 characters and "last", and explains what is wrong with others', async () => {
    const agent = agentOn(followingDriver());
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    const none = await cli(world, 'explain', 'last');
    expect(none).toMatchObject({ code: 3 });
    expect(none.stderr).toContain('dev has no sessions yet');
    const runtime = lookInto(world.cwd, agent);
    for (const id of ['order-1', 'order-12', 'other']) await runtime.create({ ...owner, id });
    await runtime.create({ owner: 'ann', id: 'secret-1' });
    expect((await cli(world, 'sessions', 'show', 'order-1')).stdout).toContain('order-1\n');
    expect((await cli(world, 'sessions', 'show', 'othe')).stdout).toContain('other\n');
    const several = await cli(world, 'sessions', 'show', 'orde');
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('Several sessions start with orde: order-1');
    const short = await cli(world, 'sessions', 'show', 'oth');
    expect(short.code).toBe(3);
    expect(short.stderr).toContain('needs 4 characters');
    // sessions of another owner are not found
    for (const said of ['secret-1', 'secret'])
      expect((await cli(world, 'sessions', 'show', said)).code).toBe(3);
    expect((await cli(world, 'sessions', 'show', 'secr', '--owner', 'ann')).code).toBe(0);
  });
});

describe('onward sessions', () => {
  const some = async (): Promise<FakeWorld> => {
    const agent = agentOn(
      followingDriver([toolCalls([{ name: 'delete_lead', args: { id: 7 } }], 'Shall I?')]),
    );
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    await cli(world, 'run', 'Clean up the leads');
    const good = { ...world, config: { agents: [agentOn(followingDriver([final('Seven.')]))] } };
    await cli(good, 'run', 'How many lamps?');
    return world;
  };

  it('list prints the newest first, with reasons, filters and search', async () => {
    const world = await some();
    const { stdout } = await cli(world, 'sessions', 'list');
    expect(stdout).toMatch(/✓ {2}How many lamps\? +Completed · 1 step/);
    expect(stdout).toMatch(/‖ {2}Clean up the leads +delete_lead needs approval/);
    expect(stdout.indexOf('lamps')).toBeLessThan(stdout.indexOf('leads'));
    const paused = await cli(world, 'sessions', 'list', '--status', 'paused', '--json');
    expect(paused.lines).toHaveLength(1);
    expect(paused.last).toMatchObject({ waitingFor: [{ tool: 'delete_lead' }], status: 'paused' });
    expect((await cli(world, 'sessions', 'list', '--search', 'seven')).stdout).toContain('lamps');
    expect((await cli(world, 'sessions', 'ls', '--limit', '1')).stderr).toContain(
      'more with --limit',
    );
    expect((await cli(world, 'sessions', 'list', '--search', 'nowhere')).stderr).toBe(
      'No session matches.\n',
    );
    expect((await cli(world, 'sessions', 'list', '--status', 'happy')).code).toBe(2);
    expect((await cli(world, 'sessions', 'list', '--limit', '0')).code).toBe(2);
  });

  it('show prints the conversation in short and calls that need approval', async () => {
    const world = await some();
    const { stdout } = await cli(world, 'sessions', 'show', 'last');
    expect(stdout).toMatch(/assistant +Seven\./);
    const { last } = await cli(world, 'sessions', 'list', '--status', 'paused', '--json');
    const waiting = await cli(world, 'sessions', 'show', String(last['id']));
    expect(waiting.stdout).toMatch(/→ delete_lead \{"id":7\}/);
    expect(waiting.stdout).toMatch(/\? delete_lead \{"id":7\}/);
    expect(waiting.stdout).toMatch(/onward approve [0-9a-f]{8}\n/);
  });

  it('delete asks on a terminal, requires --yes in a pipe, and deletes all or none', async () => {
    const world = await some();
    const refused = await cli(world, 'sessions', 'delete', 'last');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Confirm with --yes');
    const no = await cli({ ...world, says: ['n'] }, 'sessions', 'delete', 'last');
    expect(no.stderr).toContain('Nothing was deleted.');
    expect((await cli(world, 'sessions', 'delete', 'last', 'unknown', '--yes')).code).toBe(3);
    expect((await cli(world, 'sessions', 'list', '--json')).lines).toHaveLength(2);
    const yes = await cli({ ...world, says: ['y'] }, 'sessions', 'delete', 'last');
    expect(yes.questions[0]).toBe('Delete 1 session permanently? [y/N] ');
    const gone = await cli(world, 'sessions', 'rm', 'last', '--yes', '--json');
    expect(gone.last).toMatchObject({ type: 'deleted' });
    expect((await cli(world, 'sessions', 'list', '--json')).lines).toHaveLength(0);
  });
});

describe('onward resume and stop', () => {
  it('resume refuses invalid grants and grants that do not help', async () => {
    const world = await stopped();
    for (const grant of ['steps', 'steps=0', 'steps=-1', 'money=3', 'steps=1,steps=2', ''])
      expect((await cli(world, 'resume', 'last', '--grant', grant)).code).toBe(2);
    const wrong = await cli(world, 'resume', 'last', '--grant', 'tokens=5');
    expect(wrong.code).toBe(4);
    expect(wrong.stderr).toMatch(
      /^onward: Session \w+ cannot continue with that\. Stopped because .*\n {2}onward resume \w+ --grant steps=2\n$/,
    );
    expect((await cli(world, 'resume', 'last')).code).toBe(4);
    const { code } = await cli(world, 'resume', 'last', '--grant', 'steps=5, tokens=2000');
    expect(code).toBe(0);
    const done = await cli(world, 'resume', 'last', '--grant', 'steps=5');
    expect(done.code).toBe(4);
    expect(done.stderr).toMatch(/Finished because .*\n {2}onward run '…' --session \w+\n$/);
  });

  it('stop reports that an idle session is not busy', async () => {
    const world = await stopped();
    const { code, stderr } = await cli(world, 'stop', 'last');
    expect(code).toBe(0);
    expect(stderr).toContain('is not busy: it is stopped');
  });
});

describe('onward explain with agents behind calls', () => {
  const used = (total: number) => ({ usage: { input: total, output: 0, total }, cost: 0.01 });
  const ask = { input: 'go' };

  async function family(reads: number = 1): Promise<FakeWorld> {
    const reader = AgentBuilder.base()
      .withName('reader')
      .withModel(followingDriver([final('read', used(7))]))
      .build();
    const researcher = AgentBuilder.base()
      .withName('researcher')
      .withModel(
        followingDriver([
          toolCalls(
            Array.from({ length: reads }, () => ({ name: 'read', args: ask })),
            '',
            used(100),
          ),
        ]),
      )
      .withTools(reader.asTool({ name: 'read', description: 'Reads.' }))
      .withMaxSteps(1)
      .build();
    const agent = agentOn(
      followingDriver([toolCall('research', ask, '', used(1_000)), final('done', used(1_000))]),
      (builder) =>
        builder.withTools(researcher.asTool({ name: 'research', description: 'Researches.' })),
    );
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    expect((await cli(world, 'run', 'go')).code).toBe(0);
    return world;
  }

  it('shows them below the steps, indented by depth, with why each stopped', async () => {
    const { stdout } = await cli(await family(), 'explain', 'last');
    const lines = stdout.split('\n');
    const place = lines.findIndex((line) => line.includes('ran agent researcher'));
    expect(lines[place]).toMatch(
      /^ {2}Step 1: research ran agent researcher {2}stopped · 1 step · 107 tokens · \$0\.0200 · call t0s0c0$/,
    );
    expect(lines[place + 1]).toMatch(/^ {4}STEP +TIME/);
    expect(lines[place + 3]).toBe(
      '    Stopped because it used 1 of 1 step before the model read a tool result.',
    );
    expect(lines[place + 5]).toMatch(
      /^ {4}Step 1: read ran agent reader {2}completed · 1 step · 7 tokens · \$0\.0100 · call /,
    );
    // the command to continue is that of the whole run
    expect(stdout).not.toContain('--grant');
  });

  it('explains one of them with --call, at any depth, and as JSON', async () => {
    const world = await family();
    const { last } = await cli(world, 'explain', 'last', '--json');
    const agents = last['agents'] as { agent: string; nested: { callId: string } }[];
    expect(agents.map(({ agent }) => agent)).toEqual(['researcher', 'reader']);
    const { callId } = agents[1]!.nested;
    const { code, stdout } = await cli(world, 'explain', 'last', '--call', callId);
    expect(code).toBe(0);
    expect(stdout).toContain('support > researcher > reader · completed');
    expect(stdout).toContain('Finished because the model answered');
    const none = await cli(world, 'explain', 'last', '--call', 'nothing');
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining(
        '--call got nothing, but no call of this run with that id ran an agent.',
      ),
    ]);
  });

  it('shows at most twenty, and says how to see the others', async () => {
    const world = await family(24);
    const { stdout } = await cli(world, 'explain', 'last');
    expect(stdout.match(/ran agent/g)).toHaveLength(20);
    expect(stdout).toMatch(
      /5 more agents behind calls; one of them: onward explain \w+ --call CALL/,
    );
  });
});
