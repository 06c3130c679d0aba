import type { Commit, SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  pause,
  places,
  runtimeOn,
  until,
} from '../setup/sessions.ts';
import { ended, payingAgent } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const lease = { leaseMs: 120, heartbeatMs: 40, signalMs: 30 };

/** Wraps a store that answers a commit late, and from then on fails every request about leases. */
function cutOff(store: SessionStore) {
  let isTruncated = false;
  const answered = gate();
  const fails = (): Promise<never> => Promise.reject(new Error('no connection'));
  let isLate = (_commit: Commit): boolean => false;
  return {
    /** Delays the answer to a matching commit until `answer` is called. Requests about leases fail in between. */
    cutAt: (when: typeof isLate) => (isLate = when),
    cut: () => (isTruncated = true),
    heal: () => (isTruncated = false),
    get isTruncated() {
      return isTruncated;
    },
    answer: answered.open,
    store: {
      ...store,
      renew: (given: Parameters<SessionStore['renew']>[0]) =>
        isTruncated ? fails() : store.renew(given),
      signals: (worker: string) => (isTruncated ? fails() : store.signals(worker)),
      async commit(given: Commit) {
        const receipt = await store.commit(given);
        if (!isLate(given) || isTruncated) return receipt;
        isTruncated = true;
        await answered.passed;
        return receipt;
      },
    } satisfies SessionStore,
  };
}

const starts = ({ calls }: Commit): boolean =>
  calls?.some(({ state }) => state === 'started') ?? false;

/** Blocks the process, like a synchronous tool. */
function stall(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe.each(places)('without a proof of the lease (%s)', (_name, makePlace) => {
  it('a tool does not start if the receipt of its start came late and the lease cannot be proven', async () => {
    const place = makePlace();
    const paid: string[] = [];
    const away = cutOff(place.open());
    away.cutAt(starts);
    const failures: unknown[] = [];
    const a = runtimeOn(away.store, payingAgent('A', paid), {
      lease,
      onError: (error) => failures.push(error),
    });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'buy', ann);
    await until(() => away.isTruncated);
    await pause(lease.leaseMs + 20);
    const b = runtimeOn(place.open(), payingAgent('B', paid), { lease });
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect(paid).toEqual(['B']);
    away.answer();
    await a.close();
    expect(paid).toEqual(['B']);
    expect(failures).toHaveLength(1);
  });

  it('a tool starts after a late receipt if the store confirms the lease', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid');
    const away = cutOff(place.open());
    away.cutAt(starts);
    const a = runtimeOn(
      away.store,
      builderWith(followingDriver([toolCall('pay'), final('done')]), pay).build(),
      { lease },
    );
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'buy', ann);
    await until(() => away.isTruncated);
    await pause(lease.leaseMs + 20);
    away.answer();
    await pause(20);
    expect(pay.calls).toHaveLength(0);
    away.heal();
    expect(await ended(a, 's')).toMatchObject({ output: 'done' });
    expect(pay.calls).toHaveLength(1);
  });

  it.each([
    ['a parallel call', 'tool'],
    ['a hook around it', 'hook'],
  ])('a tool that %s delayed for longer than the lease does not start', async (_what, who) => {
    const place = makePlace();
    const away = cutOff(place.open());
    const ran: unknown[] = [];
    const work = mockTool('work', ({ n }: { n: number }) => {
      ran.push(n);
      if (n === 1 && who === 'tool') {
        away.cut();
        stall(lease.leaseMs + 10);
      }
      return n;
    });
    const calls = [1, 2].map((n) => ({ name: 'work', args: { n } }));
    const driver = followingDriver([toolCalls(calls), final('done')]);
    const agent = builderWith(driver, work)
      .withHooks({
        name: 'twice',
        aroundToolCall: async (input, next) => {
          const first = await next(input);
          if (who === 'tool' || input.args['n'] !== 1) return first;
          away.cut();
          await pause(lease.leaseMs + 10);
          return next(input); // runs the tool again
        },
      })
      .build();
    const failures: unknown[] = [];
    const a = runtimeOn(away.store, agent, { lease, onError: (error) => failures.push(error) });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => failures.length > 0);
    expect(ran).toEqual(who === 'tool' ? [1] : [1, 2]);
  });

  it('a model is not called', async () => {
    const place = makePlace();
    const away = cutOff(place.open());
    const work = mockTool('work', async () => {
      away.cut();
      await pause(lease.leaseMs + 10);
      return 'ok';
    });
    const driver = followingDriver([toolCall('work'), final('done')]);
    const failures: unknown[] = [];
    const a = runtimeOn(away.store, builderWith(driver, work).build(), {
      lease,
      onError: (error) => failures.push(error),
    });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => failures.length > 0);
    expect(driver.requests).toHaveLength(1);
    // nothing is lost: a worker that can prove its lease continues
    const b = runtimeOn(place.open(), builderWith(driver, work).build(), { lease });
    await until(
      async () => (await b.recover()) > 0 || (await b.get('s', ann)).status === 'completed',
    );
    expect(await ended(b, 's')).toMatchObject({ output: 'done', stepCount: 2 });
    expect(work.calls).toHaveLength(1);
  });
});

describe.each(places)('a claim whose answer is lost (%s)', (_name, makePlace) => {
  it('does not strand the session while the worker renews its other leases', async () => {
    const place = makePlace();
    const store = place.open();
    const open = gate();
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const driver = followingDriver([toolCall('slow'), final('done')]);
    let lost = 0;
    const a = runtimeOn(
      {
        ...store,
        async claim(id, given) {
          const row = await store.claim(id, given);
          if (id !== 'lost' || lost++ > 0) return row;
          throw new Error('connection reset');
        },
        // as if the store were unavailable for a moment
        find: (id) =>
          id === 'lost' && lost === 1 ? Promise.reject(new Error('reset')) : store.find(id),
      },
      builderWith(driver, slow).build(),
      { lease, onError: () => {} },
    );
    await a.create({ ...ann, id: 'busy' });
    await a.send('busy', 'go', ann);
    await until(() => slow.calls.length > 0);
    const client = clientOn(store, builderWith(driver, slow).build());
    await client.create({ ...ann, id: 'lost' });
    await client.send('lost', 'go', ann);
    await a.recover();
    await until(() => lost > 0);
    const b = runtimeOn(place.open(), builderWith(driver, slow).build(), { lease });
    open.open();
    await until(async () => {
      await b.recover();
      return (await b.get('lost', ann)).status === 'completed';
    });
  });
});
