import { ErrorPolicy } from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  callIds,
  clientOn,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  pause,
  places,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { ended } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

/** Short times, so that a test can wait for them. */
const lease = { leaseMs: 60, heartbeatMs: 20, signalMs: 20 };

const codes = (settled: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  settled
    .map((one) => (one.status === 'fulfilled' ? 'accepted' : (one.reason as { code: string }).code))
    .toSorted();

describe.each(places)('D16: concurrent requests of several processes (%s)', (_name, makePlace) => {
  const three = <T>(make: () => T): T[] => [make(), make(), make()];

  it('send: one is accepted, the others get a conflict, and the message is worked on once', async () => {
    const place = makePlace();
    const open = gate();
    const look = mockTool('look', () => open.passed.then(() => 'seen'));
    const driver = followingDriver([toolCall('look'), final('done')]);
    const runtimes = three(() => runtimeOn(place.open(), builderWith(driver, look).build()));
    const { id } = await runtimes[0]!.create(ann);
    const sent = await Promise.allSettled(runtimes.map((r) => r.send(id, 'go', ann)));
    expect(codes(sent)).toEqual(['accepted', 'conflict', 'conflict']);
    open.open();
    await ended(runtimes[0]!, id);
    expect(look.calls).toHaveLength(1);
    expect((await runtimes[0]!.messages(id, ann)).items).toHaveLength(4);
    await takesAnotherTurn(place, id);
  });

  it('approve: one is accepted, and the tool runs once', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('pay'), final('done')]);
    const runtimes = three(() => runtimeOn(place.open(), builderWith(driver, pay).build()));
    const { id } = await runtimes[0]!.create(ann);
    const [callId] = callIds(await runtimes[0]!.send(id, 'go', waiting));
    const said = await Promise.allSettled(runtimes.map((r) => r.approve(id, callId!, ann)));
    expect(codes(said)).toEqual(['accepted', 'conflict', 'conflict']);
    expect(await ended(runtimes[0]!, id)).toMatchObject({ output: 'done' });
    expect(pay.calls).toHaveLength(1);
    await takesAnotherTurn(place, id);
  });

  it('resume of a pause: one is accepted', async () => {
    const place = makePlace();
    const wait = mockTool('wait', (_args: unknown, c: { requestPause(r: string): void }) =>
      c.requestPause('later'),
    );
    const driver = followingDriver([toolCall('wait'), final('done')]);
    const runtimes = three(() => runtimeOn(place.open(), builderWith(driver, wait).build()));
    const { id } = await runtimes[0]!.create(ann);
    expect(await runtimes[0]!.send(id, 'go', waiting)).toMatchObject({
      status: 'paused',
      pause: { kind: 'requested', reason: 'later' },
    });
    const said = await Promise.allSettled(runtimes.map((r) => r.resume(id, ann)));
    expect(codes(said)).toEqual(['accepted', 'conflict', 'conflict']);
    expect(await ended(runtimes[0]!, id)).toMatchObject({ output: 'done', stepCount: 2 });
    expect(driver.requests).toHaveLength(2);
  });

  it('D36: grants for a limit stop: one is accepted', async () => {
    const place = makePlace();
    const steps = [toolCall('look'), toolCall('look'), toolCall('look'), toolCall('look')];
    const driver = followingDriver(steps);
    const look = mockTool('look');
    const make = () => builderWith(driver, look).withMaxSteps(1).build();
    const runtimes = three(() => runtimeOn(place.open(), make()));
    const { id } = await runtimes[0]!.create(ann);
    await runtimes[0]!.send(id, 'go', waiting);
    const said = await Promise.allSettled(
      runtimes.map((r) => r.resume(id, { ...ann, grant: { steps: 1 } })),
    );
    expect(codes(said)).toEqual(['accepted', 'conflict', 'conflict']);
    expect(await ended(runtimes[0]!, id)).toMatchObject({
      stopReason: 'steps_limit',
      stepCount: 2,
    });
    expect((await runtimes[0]!.state(id, ann)).execution.grants).toEqual({ steps: 1 });
  });

  it('recover: each session is claimed by one of them', async () => {
    const place = makePlace();
    const look = mockTool('look');
    const driver = followingDriver([toolCall('look'), final('done')]);
    const make = () => builderWith(driver, look).build();
    const client = clientOn(place.open(), make());
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { id } = await client.create(ann);
        await client.send(id, 'go', ann);
        return id;
      }),
    );
    const runtimes = three(() => runtimeOn(place.open(), make()));
    await Promise.all(runtimes.map((runtime) => runtime.recover()));
    for (const id of ids) expect((await ended(client, id)).output).toBe('done');
    expect(look.calls).toHaveLength(8);
  });
});

/**
 * Wraps the store of a process that sleeps between two renewals and, when it wakes up, writes before it checks its
 * lease.
 */
function sleepy(store: SessionStore) {
  let isAsleep = false;
  const awake = gate();
  const never = new Promise<never>(() => {});
  const refused: unknown[] = [];
  return {
    refused,
    sleep: () => (isAsleep = true),
    wake: awake.open,
    store: {
      ...store,
      renew: (given: Parameters<SessionStore['renew']>[0]) =>
        isAsleep ? never : store.renew(given),
      signals: (worker: string) => (isAsleep ? never : store.signals(worker)),
      async commit(given: Parameters<SessionStore['commit']>[0]) {
        if (isAsleep) await awake.passed;
        return store.commit(given).catch((error: unknown) => {
          refused.push((error as { code: string }).code);
          throw error;
        });
      },
    } satisfies SessionStore,
  };
}

describe.each(places)('D18, D26: a process that slept (%s)', (_name, makePlace) => {
  it('has its writes rejected, starts no tools, and notifies no listeners', async () => {
    const place = makePlace();
    const [open, began] = [gate(), gate()];
    const ran: string[] = [];
    const tool = (name: string, who: string) =>
      mockTool(name, async () => {
        ran.push(`${who} ${name}`);
        if (who === 'A') {
          began.open();
          await open.passed;
        }
        return `${name} by ${who}`;
      });
    const steps = [toolCall('first'), toolCall('second'), final('done')];
    const policy = ErrorPolicy.retryAll();
    const agentOf = (who: string) =>
      builderWith(followingDriver(steps), tool('first', who), tool('second', who))
        .withErrorPolicy(policy)
        .build();
    const sleeper = sleepy(place.open());
    const a = runtimeOn(sleeper.store, agentOf('A'), { lease });
    const received = receiving(a);
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began.passed;
    await until(() => received.some(({ event }) => event.type === 'ToolCallStarted'));
    const reported = received.length;
    sleeper.sleep();
    await pause(lease.leaseMs + 10);
    const b = runtimeOn(place.open(), agentOf('B'), { lease });
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    open.open();
    sleeper.wake();
    await a.close();
    expect(new Set(sleeper.refused)).toEqual(new Set(['stale_owner']));
    expect(ran).toEqual(['A first', 'B second']);
    expect(received.slice(reported)).toEqual([]);
    const results = (await b.steps('s', ann)).items.flatMap((step) => step.results);
    expect(results).toMatchObject([
      { kind: 'error', error: { type: 'unknown', code: 'effect_unknown' } },
      { kind: 'ok', value: 'second by B' },
    ]);
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });

  it('does not start a tool that it was about to start', async () => {
    const place = makePlace();
    const asked = gate();
    const answered = gate();
    const ran: string[] = [];
    const agentOf = (who: string) => {
      const driver = followingDriver([toolCall('mail'), final('done')]);
      const tool = mockTool('mail', () => {
        ran.push(who);
        return 'sent';
      });
      const infer: typeof driver.infer = async (request, options) => {
        if (who === 'A') {
          asked.open();
          await answered.passed;
        }
        return driver.infer(request, options);
      };
      return builderWith({ name: 'slow', infer }, tool).build();
    };
    const sleeper = sleepy(place.open());
    const a = runtimeOn(sleeper.store, agentOf('A'), { lease });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await asked.passed;
    sleeper.sleep();
    await pause(lease.leaseMs + 10);
    const b = runtimeOn(place.open(), agentOf('B'), { lease });
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    answered.open();
    sleeper.wake();
    await a.close();
    expect(new Set(sleeper.refused)).toEqual(new Set(['stale_owner']));
    expect(ran).toEqual(['B']);
    expect((await b.get('s', ann)).usage.total).toBe(30);
    await isSound(b, 's');
  });
});

describe('D18: a lease', () => {
  it('is renewed while a long tool runs, so that no worker takes over', async () => {
    const place = memoryPlace();
    const open = gate();
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const driver = followingDriver([toolCall('slow'), final('done')]);
    const beating = { lease: { leaseMs: 1_500, heartbeatMs: 50, signalMs: 50 } };
    const a = runtimeOn(place.open(), builderWith(driver, slow).build(), beating);
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => slow.calls.length > 0);
    const b = runtimeOn(place.open(), builderWith(driver, slow).build(), beating);
    for (let i = 0; i < 6; i++) {
      await pause(350);
      expect(await b.recover()).toBe(0);
    }
    open.open();
    expect((await ended(a, 's')).output).toBe('done');
    expect(slow.calls).toHaveLength(1);
  });

  it('is released immediately after failed work, even if the process works on other sessions', async () => {
    const place = memoryPlace();
    const open = gate();
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const driver = followingDriver([toolCalls([{ name: 'slow' }]), final('done')]);
    const failures: string[] = [];
    const a = runtimeOn(place.open(), builderWith(driver, slow).build(), {
      lease: { leaseMs: 6_000, heartbeatMs: 1_000 },
      deps: ({ id }) => {
        if (id === 'bad') throw new Error('no connection');
        return {};
      },
      onError: (error, id) => failures.push(`${id}: ${(error as Error).message}`),
    });
    await a.create({ ...ann, id: 'good' });
    await a.create({ ...ann, id: 'bad' });
    await a.send('good', 'go', ann);
    await until(() => slow.calls.length > 0);
    await a.send('bad', 'go', ann);
    await until(() => failures.length > 0);
    expect(failures[0]).toBe('bad: no connection');
    await until(async () => (await place.open().find('bad'))?.worker === null);
    // nothing was lost: another process continues it after the wait
    open.open();
    const b = runtimeOn(place.open(), builderWith(driver, slow).build(), { lease });
    b.start();
    expect((await ended(b, 'bad')).output).toBe('done');
    expect((await ended(b, 'good')).output).toBe('done');
  });
});
