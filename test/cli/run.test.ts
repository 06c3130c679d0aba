import { describe, expect, it } from 'vitest';
import { ErrorPolicy, type InferenceDriver } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { followingDriver, gate, pause, until, type Gate } from '../setup/sessions.ts';
import { agentOn, cli, start, tempFolder, type FakeWorld } from './cli.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

const worldOf = (
  driver: InferenceDriver = followingDriver([final('hello')]),
  more: Partial<FakeWorld> = {},
): FakeWorld => ({
  cwd: tempFolder(),
  config: { agents: [agentOn(driver)] },
  ...more,
});

describe('onward run', () => {
  it('prints the answer alone to a pipe, and tools, end and session beside it', async () => {
    const driver = followingDriver([
      toolCall('stock', { article: 'lamp' }, 'I will look.'),
      stream(['Seven ', 'lamps.']),
    ]);
    const { code, stdout, stderr } = await cli(worldOf(driver), 'run', 'How many lamps?');
    expect(code).toBe(0);
    expect(stdout).toBe('Seven lamps.\n');
    expect(stderr).toMatch(/I will look\.\n {2}✓ stock \{"article":"lamp"\} {2}\d+ ms {2}ok\n/);
    expect(stderr).toContain('Finished because the model answered and asked for no more tools.');
    expect(stderr).toMatch(/session [0-9a-f]{8} · 2 steps · .* · 30 tokens/);
    expect(stderr).toMatch(/onward explain [0-9a-f]{8}\n$/);
  });

  it('shows text as it comes on a terminal, and says which of it does not count', async () => {
    const driver = DeterministicDriver.fromSteps(
      error(lost, { chunks: ['Sev', 'en '] }),
      stream(['Seven ', 'lamps.']),
    );
    const agent = agentOn(driver, (builder) =>
      builder.withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 1 })),
    );
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    const terminal = await cli({ ...world, isTTY: true }, 'run', 'go');
    expect(terminal.code).toBe(0);
    expect(terminal.stdout).toBe('Seven \n\nSeven lamps.\n');
    expect(terminal.stderr).toContain('the text above was cut off');
    expect(terminal.stderr).toMatch(/! model call failed \(rate_limit\): broken line/);
  });

  it('never hands text to a pipe that was taken back', async () => {
    const driver = DeterministicDriver.fromSteps(
      error(lost, { chunks: ['Sev'] }),
      stream(['Eight.']),
    );
    const agent = agentOn(driver, (builder) =>
      builder.withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 1 })),
    );
    const { stdout } = await cli({ cwd: tempFolder(), config: { agents: [agent] } }, 'run', 'go');
    expect(stdout).toBe('Eight.\n');
  });

  it('reads the message from a pipe', async () => {
    const driver = followingDriver([final('read')]);
    const world = worldOf(driver, { input: 'from the pipe\n' });
    expect((await cli(world, 'run', '-')).stdout).toBe('read\n');
    expect(driver.requests[0]?.messages.last()?.text).toBe('from the pipe\n');
    const nothing = await cli(worldOf(), 'run');
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain('There is no message');
  });

  it('goes on in a session by its beginning, and as last', async () => {
    const driver = followingDriver([final('one')], [final('two')], [final('three')]);
    const world = worldOf(driver);
    const first = await cli(world, 'run', 'a', '--json');
    const id = String(first.last['session_id']);
    expect((await cli(world, 'run', 'b', '--session', id.slice(0, 6))).stdout).toBe('two\n');
    expect((await cli(world, 'run', 'c', '-s', 'last')).stdout).toBe('three\n');
    const { stdout } = await cli(world, 'sessions', 'list', '--json');
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('writes one envelope a line with --json, and ends with the result', async () => {
    const driver = followingDriver([
      toolCall('stock', { article: 'lamp' }),
      stream(['Se', 'ven.']),
    ]);
    const outcome = await cli(worldOf(driver), 'run', 'How many?', '--json');
    expect(outcome.stderr).toBe('');
    const types = outcome.lines.map(({ type }) => type);
    expect(types[0]).toBe('agent.status');
    expect(types).toContain('agent.tool.completed');
    expect(types).toContain('agent.stream.chunk');
    expect(types).toContain('agent.continuation');
    expect(types.filter((type) => type === 'result')).toHaveLength(1);
    const numbered = outcome.lines.map(({ seq }) => seq).filter((seq) => typeof seq === 'number');
    expect(numbered).toEqual([...numbered].toSorted((a, b) => a - b));
    expect(outcome.last).toMatchObject({
      type: 'result',
      status: 'completed',
      stop_reason: 'completed',
      exit_code: 0,
      exit_name: 'completed',
      output: 'Seven.',
      pending_approvals: [],
      next: [],
      usage: { steps: 2, input: 20, output: 10 },
    });
  });

  it('refuses an agent that is not there, and names those that are', async () => {
    const { code, stderr, stdout } = await cli(worldOf(), 'run', 'x', '--agent', 'nobody');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^onward: There is no agent "nobody"\. --agent takes one of: support/);
    expect(stderr).not.toContain('    at ');
  });

  it('sends only with --detach, and recover does the work', async () => {
    const driver = followingDriver([final('later')]);
    const world = worldOf(driver);
    const sent = await cli(world, 'run', 'go', '--detach');
    expect(sent.code).toBe(0);
    expect(driver.requests).toHaveLength(0);
    const recovered = await cli(world, 'recover');
    expect(recovered).toMatchObject({ code: 0, stdout: 'Recovered 1 session.\n' });
    expect(recovered.stderr).toContain('completed (completed) after 1 step');
    expect((await cli(world, 'recover')).stdout).toBe('Nothing to recover.\n');
    const shown = await cli(world, 'sessions', 'show', sent.stdout.trim(), '--json');
    expect(shown.last).toMatchObject({ status: 'completed', output: 'later' });
  });

  it('Ctrl-C stops the run, explains, and the session can be resumed', async () => {
    const entered = gate();
    const world = worldOf(waitingDriver(entered));
    const { outcome, done } = start(['run', 'go'], world);
    await entered.passed;
    outcome.signal('SIGINT');
    const { code, stderr } = await done;
    expect(code).toBe(130);
    expect(stderr).toContain('Stopping. Again to leave at once.');
    expect(stderr).toMatch(/Stopped because you stopped it/);
    expect(stderr).toMatch(/onward resume [0-9a-f]{8} --grant steps=1/);
    const next = {
      ...world,
      config: { agents: [agentOn(DeterministicDriver.fromResponses('now'))] },
    };
    expect(await cli(next, 'resume', 'last', '--grant', 'steps=1')).toMatchObject({
      code: 0,
      stdout: 'now\n',
    });
  });

  it('SIGTERM finishes the step, leaves the session open and says who goes on', async () => {
    const entered = gate();
    const go = gate();
    const usage = null;
    const slow: InferenceDriver = {
      name: 'slow',
      async infer({ messages }) {
        if (messages.last()?.isTool())
          return { content: 'done', toolCalls: [], finishReason: 'stop', usage };
        entered.open();
        await go.passed;
        const toolCalls = [{ name: 'stock', args: { article: 'a' } }];
        return { content: '', toolCalls, finishReason: 'tool_calls', usage };
      },
    };
    const world = worldOf(slow);
    const { outcome, done } = start(['run', 'go'], world);
    await entered.passed;
    outcome.signal('SIGTERM');
    go.open();
    expect((await done).code).toBe(143);
    expect(outcome.stderr).toMatch(/Finishing the step of session[^]*✓ stock[^]*onward recover/);
    expect((await cli(world, 'recover')).stdout).toBe('Recovered 1 session.\n');
    expect((await cli(world, 'sessions', 'show', 'last', '--json')).last).toMatchObject({
      output: 'done',
      stepCount: 2,
    });
  });

  it('recover waits as long as the work takes', async () => {
    const go = gate();
    const slow: InferenceDriver = {
      name: 'slow',
      async infer() {
        await go.passed;
        return { content: 'late', toolCalls: [], finishReason: 'stop', usage: null };
      },
    };
    const world = worldOf(slow);
    await cli(world, 'run', 'go', '--detach');
    const { outcome, done } = start(['recover'], world);
    await until(() => outcome.stderr.includes('goes on'));
    // longer than between two looks
    await pause(700);
    expect(outcome.code).toBe(-1);
    go.open();
    expect(await done).toMatchObject({ code: 0, stdout: 'Recovered 1 session.\n' });
    expect(outcome.stderr).toContain('completed (completed)');
  });

  it('does not wait for an agent that nobody here has', async () => {
    const world = worldOf(followingDriver([toolCall('delete_lead', { id: 7 })]));
    await cli(world, 'run', 'go');
    const other = agentOn(followingDriver(), (builder) => builder.withName('other'));
    const elsewhere = { ...world, config: { agents: [other] } };
    for (const argv of [
      ['stop', 'last'],
      ['approve', 'last'],
      ['resume', 'last'],
    ]) {
      const { code, stderr } = await cli(elsewhere, ...argv);
      expect(code).toBe(2);
      expect(stderr).toContain('belongs to the agent "support"');
    }
    expect((await cli(elsewhere, 'explain', 'last')).code).toBe(0);
  });

  it('a second signal leaves at once', async () => {
    const entered = gate();
    const hanging = {
      name: 'hanging',
      infer: (): Promise<never> => {
        entered.open();
        return new Promise(() => {});
      },
    };
    const { outcome, done } = start(['run', 'go'], worldOf(hanging));
    await entered.passed;
    outcome.signal('SIGINT');
    outcome.signal('SIGINT');
    expect(outcome.exits).toEqual([130]);
    outcome.signal('SIGTERM');
    expect(outcome.exits).toEqual([130, 143]);
    await done;
  });

  it('refuses a second message while the session is at work', async () => {
    const entered = gate();
    const go = gate();
    const slow = {
      name: 'slow',
      async infer() {
        entered.open();
        await go.passed;
        return { content: 'ok', toolCalls: [], finishReason: 'stop', usage: null };
      },
    };
    const world = worldOf(slow);
    const first = start(['run', 'go'], world);
    await entered.passed;
    const second = await cli(world, 'run', 'again', '--session', 'last');
    expect(second.code).toBe(4);
    expect(second.stderr).toMatch(
      /is at work[^]*\n {2}onward stop [0-9a-f]{8}\n {2}onward recover/,
    );
    go.open();
    expect((await first.done).code).toBe(0);
  });
});

/** Answers nothing until it is told to stop. */
const waitingDriver = (entered: Gate): InferenceDriver => ({
  name: 'waiting',
  infer: (_request, { signal }) => {
    entered.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  },
});

const lost = { message: 'broken line', type: 'rate_limit', retryable: true } as const;

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

  it('user_requested, when somebody else stops it', async () => {
    const entered = gate();
    const agent = agentOn(waitingDriver(entered));
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    const run = start(['run', 'go', '--json'], world);
    await entered.passed;
    const stopped = await cli(world, 'stop', 'last', '--reason', 'enough');
    expect(stopped.code).toBe(0);
    expect(stopped.stderr).toMatch(/Stopped because .*enough/);
    expect((await run.done).code).toBe(17);
  });

  it('names every code once, and help prints them all', async () => {
    expect(new Set(exitCodes.map(({ code }) => code)).size).toBe(exitCodes.length);
    for (const argv of [['help', 'exit-codes'], ['exit-codes']]) {
      const { stdout, code } = await cli({ cwd: tempFolder() }, ...argv);
      expect(code).toBe(0);
      for (const row of exitCodes) expect(stdout).toContain(`${row.name} `);
    }
  });
});

describe('approvals', () => {
  const asking = () =>
    followingDriver([
      toolCalls([
        { name: 'delete_lead', args: { id: 7 } },
        { name: 'delete_lead', args: { id: 8 } },
      ]),
      final('cleaned'),
    ]);

  it('pauses in a pipe, and prints what answers', async () => {
    const world = worldOf(asking());
    const { code, stderr } = await cli(world, 'run', 'clean');
    expect(code).toBe(7);
    expect(stderr).toContain('Waiting because 2 calls need your approval: delete_lead');
    const approvals = [...stderr.matchAll(/onward approve ([0-9a-f]{8}) (\S+)/g)];
    expect(approvals).toHaveLength(2);
    const which = await cli(world, 'approve', 'last');
    expect(which.code).toBe(2);
    expect(which.stderr).toContain('2 calls wait. Say which:');
    const [first, second] = approvals;
    expect((await cli(world, 'approve', first![1]!, first![2]!)).code).toBe(7);
    const denied = await cli(world, 'deny', 'last', second![2]!, '--reason', 'still needed');
    expect(denied).toMatchObject({ code: 0, stdout: 'cleaned\n' });
    expect(denied.stderr).toContain('still needed');
    const late = await cli(world, 'approve', 'last', second![2]!);
    expect(late.code).toBe(4);
    expect(late.stderr).toContain('waits for no answer: it is completed');
  });

  it('asks on a terminal: approve one, deny the other', async () => {
    const world = worldOf(asking(), { says: ['a', 'd', 'not this one'] });
    const { code, stdout, stderr, questions } = await cli(world, 'run', 'clean');
    expect(code).toBe(0);
    expect(stdout).toContain('cleaned');
    expect(questions).toHaveLength(3);
    expect(stderr).toContain('✓ delete_lead');
    expect(stderr).toContain('not this one');
  });

  it('takes edited arguments, and asks again when they do not fit', async () => {
    const driver = followingDriver([toolCall('delete_lead', { id: 7 }), final('ok')]);
    const says = ['what?', 'e', 'no json', 'e', '{"id":"x"}', 'e', '{"id":9}'];
    const world = worldOf(driver, { says });
    const { code, stderr } = await cli(world, 'run', 'clean');
    expect(code).toBe(0);
    expect(stderr).toContain('Type a, e, d or l.');
    expect(stderr).toContain('is not JSON');
    expect(stderr).toContain('{"id":9}');
  });

  it('leaves it for later, and --yes approves everything', async () => {
    const world = worldOf(asking(), { says: ['l'] });
    expect((await cli(world, 'run', 'clean')).code).toBe(7);
    const blocked = await cli(world, 'run', 'more', '-s', 'last');
    expect(blocked.code).toBe(7);
    expect(blocked.stderr).toMatch(/\n {2}onward approve [0-9a-f]{8}\n/);
    expect(await cli(world, 'approve', 'last', '--yes')).toMatchObject({ code: 0 });
    const yes = await cli(worldOf(asking()), 'run', 'clean', '--yes');
    expect(yes).toMatchObject({ code: 0, stdout: 'cleaned\n' });
  });

  it('stop ends a session that waits', async () => {
    const world = worldOf(asking());
    await cli(world, 'run', 'clean');
    const { code, stderr } = await cli(world, 'stop', 'last', '--reason', 'changed my mind');
    expect(code).toBe(0);
    expect(stderr).toMatch(/Stopped because .*changed my mind/);
    expect((await cli(world, 'approve', 'last')).code).toBe(4);
  });

  it('takes arguments of approve, and refuses what is no object', async () => {
    const world = worldOf(followingDriver([toolCall('delete_lead', { id: 7 }), final('ok')]));
    await cli(world, 'run', 'clean');
    expect((await cli(world, 'approve', 'last', '--args', '[1]')).code).toBe(2);
    expect((await cli(world, 'approve', 'last', '--args', '{"id":"x"}')).code).toBe(2);
    const { code, stderr } = await cli(world, 'approve', 'last', '--args', '{"id": 9}');
    expect(code).toBe(0);
    expect(stderr).toContain('{"id":9}');
  });
});
