import { join } from 'node:path';
import { inProcessQueue } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import {
  ann,
  builderWith,
  codeOf,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  pause,
  places,
  runtimeOn,
  sqlitePlace,
  takesAnotherTurn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';
import { ended, held } from '../setup/session-moments.ts';

const { toolCall, final } = ScenarioStep;

describe('the queue', () => {
  it('runs up to `concurrency` sessions at a time, in the order they were sent', async () => {
    const gates = Array.from({ length: 6 }, gate);
    const running = new Set<number>();
    const order: number[] = [];
    let most = 0;
    const tool = mockTool('slow', async (args: { n: number }) => {
      order.push(args.n);
      running.add(args.n);
      most = Math.max(most, running.size);
      await gates[args.n]!.passed;
      running.delete(args.n);
      return 'ok';
    });
    const agents = (n: number) =>
      builderWith(followingDriver([toolCall('slow', { n }), final('done')]), tool)
        .withName(`a${n}`)
        .build();
    const runtime = runtimeOn(
      memoryPlace().open(),
      gates.map((_g, n) => agents(n)),
      {
        queue: inProcessQueue({ concurrency: 2 }),
      },
    );
    for (const n of gates.keys()) {
      await runtime.create({ ...ann, agent: `a${n}`, id: `s${n}` });
      await runtime.send(`s${n}`, 'go', ann);
      // the two that run at the same time begin one after the other
      if (n < 2) await until(() => running.has(n));
    }
    for (const n of gates.keys()) {
      await until(() => running.has(n) && running.size === Math.min(2, gates.length - n));
      gates[n]!.open();
    }
    for (const n of gates.keys()) expect((await ended(runtime, `s${n}`)).output).toBe('done');
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('rejects a message before anything is stored if it is full', async () => {
    const { tool, open, began } = held();
    const driver = followingDriver([toolCall('slow'), final('done')]);
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith(driver, tool).build(), {
      queue: inProcessQueue({ concurrency: 1, maxWaiting: 1 }),
    });
    for (const id of ['a', 'b', 'c']) await runtime.create({ ...ann, id });
    await runtime.send('a', 'go', ann);
    await began();
    await runtime.send('b', 'go', ann);
    const before = await place.open().find('c');
    expect(await codeOf(() => runtime.send('c', 'go', ann))).toBe('queue_full');
    expect(await place.open().find('c')).toEqual(before);
    expect(await place.open().nextCommand('c')).toBeNull();
    open();
    for (const id of ['a', 'b']) expect((await ended(runtime, id)).output).toBe('done');
    expect((await runtime.send('c', 'go', waiting)).output).toBe('done');
  });

  it('may lose its entries, because the work is in the store', async () => {
    const driver = followingDriver([final('done')]);
    const forgetful = { ...inProcessQueue(), add: () => {} };
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith(driver).build(), { queue: forgetful });
    await runtime.create({ ...ann, id: 's' });
    const sent = runtime.send('s', 'go', waiting);
    await until(async () => (await place.open().nextCommand('s')) !== null);
    const other = runtimeOn(place.open(), builderWith(driver).build());
    expect(await other.recover()).toBe(1);
    expect((await sent).output).toBe('done');
    expect(await other.recover()).toBe(0);
  });

  it('works on sessions that others left, at the start and later', async () => {
    const driver = followingDriver([final('done')]);
    const place = memoryPlace();
    const client = runtimeOn(place.open(), builderWith(driver).build(), {
      queue: { ...inProcessQueue(), add: () => {} },
    });
    const ids = ['a', 'b'];
    for (const id of ids) await client.create({ ...ann, id });
    await client.send('a', 'go', ann);
    const worker = runtimeOn(place.open(), builderWith(driver).build(), {
      lease: { leaseMs: 60, heartbeatMs: 20 },
    });
    worker.start();
    expect((await ended(client, 'a')).output).toBe('done');
    await client.send('b', 'go', ann);
    expect((await ended(client, 'b')).output).toBe('done');
    await worker.close();
    await client.send('a', 'again', ann);
    await pause(60);
    expect((await client.get('a', ann)).status).toBe('in_progress');
  });
});

describe.each(places)('close (%s)', (_name, makePlace) => {
  it('finishes the running step and hands over, and another process continues with the next step', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const look = mockTool('look');
    const driver = followingDriver([toolCall('slow'), toolCall('look'), final('done')]);
    const a = runtimeOn(place.open(), builderWith(driver, tool, look).build());
    const received = receiving(a);
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    const closing = a.close();
    expect(await codeOf(() => a.send('s', 'more', ann))).toBe('runtime_closed');
    open();
    await closing;
    const row = await place.open().find('s');
    expect(row).toMatchObject({ phase: 'open', worker: null, isLeased: false, stepCount: 1 });
    expect(received.at(-1)!.event).toMatchObject({ type: 'AgentPaused', kind: 'handover' });
    const b = runtimeOn(place.open(), builderWith(driver, tool, look).build());
    const seen = receiving(b);
    expect(await b.get('s', ann)).toMatchObject({ status: 'in_progress', stopReason: null });
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({
      status: 'completed',
      output: 'done',
      stepCount: 3,
    });
    expect(typesOf(seen)[0]).toBe('AgentStarted');
    expect([tool.calls.length, look.calls.length, driver.requests.length]).toEqual([1, 1, 3]);
    const log = (await b.events('s', ann)).events.map(({ event }) => event);
    expect(log.filter((event) => event.type === 'AgentPaused')).toMatchObject([
      { kind: 'handover' },
    ]);
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });

  it('releases the lease immediately if another message is queued', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const driver = followingDriver([toolCall('slow'), final('one')], [final('two')]);
    const last = gate();
    const asked = gate();
    const infer: typeof driver.infer = async (request, options) => {
      if (driver.requests.length === 1) {
        asked.open();
        await last.passed;
      }
      return driver.infer(request, options);
    };
    const a = runtimeOn(place.open(), builderWith({ name: 'slow', infer }, tool).build());
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    open();
    await a.send('s', 'more', { ...ann, whenBusy: 'queue' });
    await asked.passed;
    const closing = a.close();
    last.open();
    await closing;
    expect(await place.open().find('s')).toMatchObject({
      phase: 'open',
      worker: null,
      stepCount: 2,
    });
    const b = runtimeOn(place.open(), builderWith(driver, tool).build());
    expect(await b.recover()).toBe(1);
    expect((await ended(b, 's')).output).toBe('two');
  });

  it('waits at most `graceMs`', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const driver = followingDriver([toolCall('slow'), final('done')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, tool).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await began();
    await runtime.close({ graceMs: 30 });
    // the tool still runs
    open();
    await until(async () => (await place.open().find('s'))?.worker === null);
  });

  it('stores answers to a closed runtime for other processes', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('pay'), final('done')]);
    const a = runtimeOn(place.open(), builderWith(driver, pay).build());
    await a.create({ ...ann, id: 's' });
    const paused = await a.send('s', 'go', waiting);
    await a.close();
    await a.approve('s', paused.pendingApprovals[0]!.callId, ann);
    expect(pay.calls).toEqual([]);
    const b = runtimeOn(place.open(), builderWith(driver, pay).build());
    await b.recover();
    expect((await ended(b, 's')).output).toBe('done');
  });
});

describe('a process that gets SIGTERM', () => {
  it('finishes its step, releases the lease and exits by itself', async () => {
    const place = sqlitePlace();
    const program = await bundledProgram('test/setup/session-child.ts');
    const child = startChild(program, [join(place.folder, 'sessions.db')]);
    await child.said('tool began');
    child.process.kill('SIGTERM');
    expect(await child.gone).toEqual([0, null]);
    expect(child.lines).toEqual(['tool began', 'tool ended', 'closed']);
    const runtime = runtimeOn(
      place.open(),
      builderWith(followingDriver([toolCall('slow'), final('done')])).build(),
    );
    expect(await place.open().find('s')).toMatchObject({
      phase: 'open',
      worker: null,
      stepCount: 1,
    });
    expect(await runtime.recover()).toBe(1);
    expect(await ended(runtime, 's')).toMatchObject({
      status: 'completed',
      output: 'done',
      stepCount: 2,
    });
    await isSound(runtime, 's');
  }, 20_000);
});
