import { describe, expect, it } from 'vitest';
import { ErrorPolicy, toolContent, type InferenceDriver } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { png } from '../setup/content-samples.ts';
import { followingDriver, gate, pause, until } from '../setup/sessions.ts';
import { agentOn, cli, lost, start, tempFolder, waitingDriver, worldOf } from './cli.ts';

const { toolCall, final, stream, error } = ScenarioStep;

describe('onward run', () => {
  it('prints only the answer to stdout, and tools, end and session to stderr', async () => {
    const driver = followingDriver([
      toolCall('stock', { article: 'lamp' }, 'I will look.'),
      stream(['Seven ', 'lamps.']),
    ]);
    const { code, stdout, stderr } = await cli(worldOf(driver), 'run', 'How many lamps?');
    expect(code).toBe(0);
    expect(stdout).toBe('Seven lamps.\n');
    expect(stderr).toMatch(/I will look\.\n {2}✓ stock \{"article":"lamp"\} {2}[\d.]+ m?s {2}ok\n/);
    expect(stderr).toContain('Finished because the model answered and called no more tools.');
    expect(stderr).toMatch(/session [0-9a-f]{8} · 2 steps · .* · 30 tokens/);
    expect(stderr).toMatch(/onward explain [0-9a-f]{8}\n$/);
  });

  it('counts images and files of results, also in explain', async () => {
    const driver = followingDriver([toolCall('look'), stream(['Seen.'])]);
    const look = mockTool('look', toolContent([{ type: 'image', data: png }]));
    const agent = agentOn(driver, (builder) => builder.withTools(look));
    const world = { cwd: tempFolder(), config: { agents: [agent] } };
    const { stderr } = await cli(world, 'run', 'go');
    expect(stderr).toMatch(/ ✓ look {2}[\d.]+ m?s {2}ok, 1 image\n/);
    const [, id = ''] = /onward explain ([0-9a-f]{8})/.exec(stderr) ?? [];
    expect((await cli(world, 'explain', id)).stdout).toContain('look (1 image)');
  });

  it('streams text on a terminal, and marks text of a failed attempt', async () => {
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
    expect(terminal.stderr).toContain('the text above was interrupted');
    expect(terminal.stderr).toMatch(/! model call failed \(rate_limit\): broken line/);
  });

  it('never writes text of a failed attempt to a pipe', async () => {
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

  it('continues a session by its id prefix and by "last"', async () => {
    const driver = followingDriver([final('one')], [final('two')], [final('three')]);
    const world = worldOf(driver);
    const first = await cli(world, 'run', 'a', '--json');
    const id = String(first.last['session_id']);
    expect((await cli(world, 'run', 'b', '--session', id.slice(0, 6))).stdout).toBe('two\n');
    expect((await cli(world, 'run', 'c', '-s', 'last')).stdout).toBe('three\n');
    const { stdout } = await cli(world, 'sessions', 'list', '--json');
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('prints one envelope per line with --json, and the result last', async () => {
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

  it('refuses an unknown agent, and lists the known ones', async () => {
    const { code, stderr, stdout } = await cli(worldOf(), 'run', 'x', '--agent', 'unknown');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^onward: There is no agent "unknown"\. --agent accepts one of: support/,
    );
    expect(stderr).not.toContain('    at ');
  });

  it('only sends with --detach, and recover runs the session', async () => {
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

  it('stops on Ctrl-C with an explanation, and the session can be resumed', async () => {
    const entered = gate();
    const world = worldOf(waitingDriver(entered));
    const { outcome, done } = start(['run', 'go'], world);
    await entered.passed;
    outcome.signal('SIGINT');
    const { code, stderr } = await done;
    expect(code).toBe(130);
    expect(stderr).toContain('Stopping. Press Ctrl-C again to exit now.');
    expect(stderr).toMatch(/Stopped because a stop was requested/);
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

  it('finishes the step on SIGTERM and names the command that continues', async () => {
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

  it('recover waits for the end of the run', async () => {
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
    await until(() => outcome.stderr.includes('continues'));
    // longer than the poll interval
    await pause(700);
    expect(outcome.code).toBe(-1);
    go.open();
    expect(await done).toMatchObject({ code: 0, stdout: 'Recovered 1 session.\n' });
    expect(outcome.stderr).toContain('completed (completed)');
  });

  it('refuses to stop, approve or resume a session of an unknown agent', async () => {
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

  it('exits immediately on a second signal', async () => {
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

  it('refuses a second message while the session is busy', async () => {
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
    expect(second.stderr).toMatch(/is busy[^]*\n {2}onward stop [0-9a-f]{8}\n {2}onward recover/);
    go.open();
    expect((await first.done).code).toBe(0);
  });
});
