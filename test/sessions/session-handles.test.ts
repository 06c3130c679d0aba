import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { refusal } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const owner = 'ada';

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
}
const refund = defineTool({
  name: 'refund',
  description: 'Pays back.',
  parameters: z.object({ euros: z.number() }),
  needsApproval: ({ euros }) => euros > 50,
  execute: ({ euros }) => `${euros} paid`,
});
const clerkWith = (driver: InferenceDriver) =>
  createAgent({ name: 'clerk', driver, tools: [refund] });
const reporter = createAgent({
  name: 'reporter',
  driver: DeterministicDriver.fromResponses('{"total":7}', '{"total":8}'),
  responseFormat: z.object({ total: z.number() }),
});
const setUp = (...steps: readonly ScenarioStep[]) => {
  const store = memoryStore();
  const clerk = clerkWith(DeterministicDriver.fromSteps(...steps));
  const runtime = new SessionRuntime({ store, agents: [clerk, reporter] });
  onTestFinished(() => runtime.close());
  return { store, runtime, clerk };
};
const asks = (euros: number) => [toolCall('refund', { euros }), final('Paid.')];

describe('a session handle', () => {
  it('has the methods of the runtime, without the owner', async () => {
    const { runtime } = setUp(...asks(90));
    const session = await runtime.create({ owner, agent: 'clerk', id: 's1' });
    expect([session.id, session.owner]).toEqual(['s1', owner]);
    const paused = await session.send('pay', { wait: true });
    expect([paused.status, paused.agent]).toEqual(['paused', 'clerk']);
    const [waiting] = paused.pendingApprovals;
    const done = await session.approve(waiting?.callId ?? '', { wait: true });
    expect([done.status, done.output]).toEqual(['completed', 'Paid.']);
    expect((await session.messages()).items).toHaveLength(4);
    expect((await session.steps()).items).toHaveLength(2);
    expect((await session.events()).seq).toBeGreaterThan(5);
    expect((await session.state()).output).toBe('Paid.');
    expect((await session.accounts())?.execution.stepCount).toBe(2);
    const fork = await session.fork({ id: 's2' });
    expect((await fork.get()).messageCount).toBe(4);
    await fork.delete();
    expect((await refusal(() => fork.get())).code).toBe('session_not_found');
  });

  it('denies, pauses, stops and resumes', async () => {
    const { runtime } = setUp(...asks(90), ...asks(90));
    const session = await runtime.create({ owner, agent: 'clerk' });
    const { pendingApprovals } = await session.send('pay', { wait: true });
    const denied = await session.deny(pendingApprovals[0]?.callId ?? '', 'too much', {
      wait: true,
    });
    expect(denied.status).toBe('completed');
    await session.send('again', { wait: true });
    expect((await session.stop({ reason: 'enough', wait: true })).stopReason).toBe(
      'user_requested',
    );
    expect((await session.pause()).status).toBe('stopped');
    expect((await refusal(() => session.resume())).code).toBe('not_resumable');
  });

  it('rejects sessions of another owner and of another agent', async () => {
    const { runtime } = setUp(...asks(1));
    const { id } = await runtime.create({ owner, agent: 'clerk' });
    const eve = runtime.session(id, { owner: 'eve' });
    expect((await refusal(() => eve.get())).code).toBe('session_not_found');
    const other = runtime.session(id, { owner, agent: 'reporter' });
    const error = await refusal(() => other.send('x'));
    expect(error.code).toBe('session_not_found');
    expect(error.message).toContain(`There is no session "${id}" of agent "reporter"`);
    const mine = runtime.session(id, { owner, agent: 'clerk' });
    expect((await mine.get()).agent).toBe('clerk');
  });

  it('follows the log', async () => {
    const { runtime } = setUp(...asks(1));
    const session = await runtime.create({ owner, agent: 'clerk' });
    await session.send('pay', { wait: true });
    const types: string[] = [];
    for await (const { event } of session.follow()) {
      types.push(event.type);
      if (event.type === 'AgentFinished') break;
    }
    expect(types[0]).toBe('AgentStarted');
  });

  it('does not follow a session of another agent', async () => {
    const { runtime } = setUp(...asks(1));
    const { id } = await runtime.create({ owner, agent: 'clerk' });
    await runtime.send(id, 'pay', { owner, wait: true });
    const error = await refusal(() =>
      all(runtime.session(id, { owner, agent: 'reporter' }).follow()),
    );
    expect(error.code).toBe('session_not_found');
    for await (const { event } of runtime.session(id, { owner, agent: 'clerk' }).follow()) {
      expect(event.type).toBe('AgentStarted');
      break;
    }
  });
});

describe('the stream of a session', () => {
  it('sends a message and yields text, calls, events and the session at the end', async () => {
    const { runtime } = setUp(...asks(7));
    const session = await runtime.create({ owner, agent: 'clerk' });
    const run = session.stream('pay');
    const [text, calls, events] = await Promise.all([
      all(run.textStream),
      all(run.toolCalls),
      all(run),
    ]);
    expect(text.join('')).toBe('Paid.');
    expect(calls).toMatchObject([{ ok: true, args: { euros: 7 }, result: '7 paid' }]);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['AgentStarted', 'AgentFinished']);
    const end = await run.state;
    expect([end.status, end.output]).toEqual(['completed', 'Paid.']);
  });

  it('resumes with answers, and yields only later events', async () => {
    const { runtime } = setUp(...asks(90));
    const session = await runtime.create({ owner, agent: 'clerk' });
    const first = await session.stream('pay').state;
    expect(first.status).toBe('paused');
    const callId = first.pendingApprovals[0]?.callId ?? '';
    const run = session.stream({ resume: true, approvals: { [callId]: { approve: true } } });
    const events = await all(run);
    expect(events[0]).toMatchObject({ type: 'AgentStarted', resumed: true });
    expect(await all(run.toolCalls)).toMatchObject([{ ok: true, result: '90 paid' }]);
    expect((await run.state).output).toBe('Paid.');
  });

  it('reads partial output in the format of the agent', async () => {
    const { runtime } = setUp();
    const session = await runtime.create({ owner, agent: 'reporter' });
    const run = session.stream('go');
    expect((await all(run.partialOutputStream)).at(-1)).toMatchObject({
      total: expect.any(Number),
    });
    expect((await run.state).status).toBe('completed');
  });

  it('does not stop the execution when it is left', async () => {
    const { runtime } = setUp(...asks(7));
    const session = await runtime.create({ owner, agent: 'clerk' });
    const run = session.stream('pay');
    for await (const event of run) if (event.type === 'ToolCallStarted') break;
    expect((await run.state).status).toBe('completed');
  });

  /** An agent whose tool waits until it is released. */
  const slow = (...more: readonly ScenarioStep[]) => {
    let release = (): void => {};
    const released = new Promise<string>((resolve) => (release = () => resolve('ok')));
    const agent = createAgent({
      name: 'slow',
      driver: DeterministicDriver.fromSteps(toolCall('work'), final('Done.'), ...more),
      tools: [defineTool({ name: 'work', description: 'Works.', execute: () => released })],
    });
    return { agent, release };
  };

  it('joins the current execution, and ends immediately if there is none', async () => {
    const { agent, release } = slow();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    onTestFinished(() => runtime.close());
    const session = await runtime.create({ owner });
    expect(await all(session.stream())).toEqual([]);
    await session.send('go');
    const joined = session.stream();
    for await (const event of joined) if (event.type === 'ToolCallStarted') break;
    release();
    const types = (await all(joined)).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['AgentStarted', 'AgentFinished']);
    expect((await joined.state).output).toBe('Done.');
  });

  it('streams the work of another runtime on the same store', async () => {
    const store = memoryStore();
    const { agent, release } = slow();
    const [working, reading] = [0, 1].map(() => {
      const runtime = new SessionRuntime({ store, agents: [agent] });
      onTestFinished(() => runtime.close());
      return runtime;
    }) as readonly SessionRuntime[] as [SessionRuntime, SessionRuntime];
    const { id } = await working.create({ owner });
    await working.send(id, 'go', { owner });
    const run = reading.session(id, { owner }).stream();
    for await (const event of run) if (event.type === 'ToolCallStarted') break;
    release();
    expect((await all(run)).at(-1)?.type).toBe('AgentFinished');
    expect((await run.state).status).toBe('completed');
  });

  it('waits for its turn on a busy session with whenBusy: queue, and has only its own execution', async () => {
    const { agent, release } = slow(final('Second.'), final('Third.'));
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    onTestFinished(() => runtime.close());
    const session = await runtime.create({ owner });
    const first = session.stream('one');
    for await (const event of first) if (event.type === 'ToolCallStarted') break;
    const refused = session.stream('two');
    await expect(refused.state).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining("{ whenBusy: 'queue' }"),
    });
    const second = { whenBusy: 'queue', executionId: 'second' } as const;
    const third = { whenBusy: 'queue', executionId: 'third' } as const;
    const waiting = session.stream('two', second);
    // one of the two sends it: a message is accepted once under its id
    await session.send('two', second);
    const runs = [first, waiting, session.stream('three', third)];
    release();
    const read = async (run: typeof first) => (await all(run.textStream)).join('');
    expect(await Promise.all(runs.map(read))).toEqual(['Done.', 'Second.', 'Third.']);
    for (const run of runs) {
      const events = await all(run);
      expect(new Set(events.map(({ executionId }) => executionId)).size).toBe(1);
      expect(events.at(-1)?.type).toBe('AgentFinished');
    }
    // finished earlier, followed by another execution
    expect(await read(session.stream('two', { executionId: 'second' }))).toBe('Second.');
    await expect(session.stream('else', { executionId: 'second' }).state).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await session.get()).messageCount).toBe(8);
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    expect(await all(session.stream('two', second))).toEqual([]);
    expect(await all(session.stream('three', third))).toEqual([]);
  });

  it('ends if the message is stopped before its work begins', async () => {
    const { store, clerk } = setUp();
    // accepts messages for an agent that it does not have
    const front = new SessionRuntime({ store, agents: [reporter] });
    onTestFinished(() => front.close());
    const back = new SessionRuntime({ store, agents: [clerk] });
    const { id } = await back.create({ owner });
    await back.close();
    const session = front.session(id, { owner });
    const run = session.stream('pay');
    await expect.poll(async () => (await session.get()).phase).toBe('open');
    await session.stop();
    expect((await run.state).status).toBe('stopped');
    await all(run);
  });

  it('ends if the session is parked before its work begins', async () => {
    const { store, clerk } = setUp();
    const runtime = new SessionRuntime({
      store,
      agents: [clerk],
      lease: { leaseMs: 300, heartbeatMs: 100 },
      deps: () => {
        throw new Error('tenant was removed');
      },
      onError: () => {},
    });
    onTestFinished(() => runtime.close());
    runtime.start();
    const run = (await runtime.create({ owner })).stream('pay');
    expect(await run.state).toMatchObject({ phase: 'parked', error: 'tenant was removed' });
    await all(run);
  });

  it('rejects with session_not_found for a missing session', async () => {
    const { runtime } = setUp();
    const run = runtime.session('nope', { owner }).stream('x');
    await expect(run.state).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(all(run)).rejects.toMatchObject({ code: 'session_not_found' });
  });
});
