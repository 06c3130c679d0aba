import { AgentBuilder, ErrorPolicy, type AnyAgent } from 'onward';
import { agUiServer } from 'onward/ag-ui';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDevServer } from '../../src/cli/dev-server.ts';
import { tempFolder } from '../cli/cli.ts';
import { agUiOverHttp, ask, run, shown } from '../setup/ag-ui.ts';
import {
  ann,
  builderWith,
  followingDriver,
  gate,
  memoryPlace,
  runtimeOn,
} from '../setup/sessions.ts';

const { toolCall, final, error } = ScenarioStep;

const limited = (): AnyAgent =>
  builderWith(followingDriver([toolCall('look'), final('Done.')]), mockTool('look', 'seen'))
    .withMaxSteps(1)
    .build();
const failing = (): AnyAgent =>
  builderWith(followingDriver([error({ code: 'bad_key', message: 'No key.', retryable: false })]))
    .withErrorPolicy(ErrorPolicy.stopOnAnyError())
    .build();
const plain = (): AnyAgent => builderWith(followingDriver([final('Hello.')])).build();
const waiting = (): AnyAgent =>
  builderWith(
    followingDriver([toolCall('pay'), final('Paid.')]),
    mockTool('pay', 'paid', { needsApproval: true }),
  ).build();

describe('a thread at rest shows how its last run ended', () => {
  it.each<[string, () => AnyAgent, object, string]>([
    [
      'completed',
      plain,
      { status: 'completed', stop_reason: 'completed', step_count: 1 },
      'success',
    ],
    [
      'a limit',
      limited,
      {
        status: 'stopped',
        stop_reason: 'steps_limit',
        resolved_by: 'StepsLimit',
        message: expect.stringContaining('1 of 1 step'),
        explanation: { actions: [{ kind: 'grant' }] },
      },
      'success',
    ],
    ['a failure', failing, { status: 'failed', stop_reason: 'error' }, 'success'],
  ])('%s', async (_name, agentOf, facts, outcome) => {
    const { agent } = await agUiOverHttp(agentOf());
    await ask(agent('thread-1'), 'go');
    const back = agent('thread-1');
    const seen = await run(back);
    expect(seen.error).toBeNull();
    expect(seen.types).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'RUN_FINISHED',
    ]);
    expect(back.state).toMatchObject({ onward: facts });
    expect(seen.events.at(-1)).toMatchObject({ outcome: { type: outcome }, result: facts });
    expect(shown(back)[0]).toEqual(['user', 'go']);
  });

  it('stopped by the user', async () => {
    const { agent, runtime } = await agUiOverHttp(waiting());
    await ask(agent('thread-1'), 'go');
    await runtime.stop('thread-1', { ...ann, wait: true });
    const back = agent('thread-1');
    const seen = await run(back);
    expect(seen.error).toBeNull();
    expect(seen.events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
    expect(back.state).toMatchObject({
      onward: { status: 'cancelled', stop_reason: 'user_requested' },
    });
  });

  it('before its first run it is idle', async () => {
    const { agent, runtime } = await agUiOverHttp(plain());
    await runtime.create({ ...ann, id: 'thread-1' });
    const back = agent('thread-1');
    expect((await run(back)).error).toBeNull();
    expect(back.state).toMatchObject({ onward: { status: 'idle', step_count: 0 } });
  });
});

describe('open runs outside agentServer', () => {
  it('are limited by owner, and one that ends or is left makes room', async () => {
    const hold = gate();
    const agent = AgentBuilder.base()
      .withName('support')
      .withModel(followingDriver([toolCall('wait'), final('Done.')]))
      .withTools(mockTool('wait', () => hold.passed))
      .build();
    const runtime = runtimeOn(memoryPlace().open(), agent);
    const { fetch: answer } = agUiServer({ runtime, maxStreams: 1, pollMs: 20 });
    const start = (threadId: string, owner = 'ann', signal?: AbortSignal): Promise<Response> =>
      answer(
        new Request('https://app.example/ag-ui', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            threadId,
            runId: 'run-1',
            messages: [{ id: 'message-1', role: 'user', content: 'go' }],
          }),
          ...(signal && { signal }),
        }),
        { owner },
      );
    const first = await start('thread-1');
    expect(first.status).toBe(200);
    const refused = await start('thread-2');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams' } });
    // nothing of a refused run begins
    expect((await runtime.list(ann)).sessions.map(({ id }) => id)).toEqual(['thread-1']);
    // another owner has a limit of its own
    const other = await start('thread-3', 'bob');
    expect(other.status).toBe(200);
    await other.body?.cancel();
    await first.body?.cancel();
    const next = await start('thread-1');
    expect(next.status).toBe(200);
    hold.open();
    expect(await next.text()).toContain('RUN_FINISHED');
    expect((await start('thread-4')).status).toBe(200);
    expect(() => agUiServer({ runtime, maxStreams: 0 })).toThrow('maxStreams');
  });
});

describe('agUi in the config', () => {
  it('serves AG-UI clients, and there is no route without it', async () => {
    for (const agUi of [true, undefined]) {
      const server = await startDevServer({
        config: { agents: [plain()], ...(agUi && { agUi }) },
        folder: tempFolder(),
        port: 0,
      });
      onTestFinished(() => server.close({ graceMs: 0 }));
      const said = await fetch(`${server.url}/api/ag-ui`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          threadId: 'thread-1',
          runId: 'run-1',
          messages: [{ id: 'message-1', role: 'user', content: 'go' }],
        }),
      });
      expect(said.status).toBe(agUi ? 200 : 404);
      if (agUi) expect(await said.text()).toContain('Hello.');
    }
  });
});
