import { ErrorPolicy, type Commit, type SessionStore } from 'onward';
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
import { ended } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const lease = { leaseMs: 120, heartbeatMs: 40, signalMs: 30 };

/** A process that the store answers late, and from then on not at all about its leases. */
function cutOff(store: SessionStore) {
  let isCut = false;
  const answered = gate();
  const fails = (): Promise<never> => Promise.reject(new Error('no connection'));
  let isLate = (_commit: Commit): boolean => false;
  return {
    /** The answer to such a commit comes when `answer` is called; all that is asked meanwhile fails. */
    cutAt: (when: typeof isLate) => (isLate = when),
    cut: () => (isCut = true),
    heal: () => (isCut = false),
    get isCut() {
      return isCut;
    },
    answer: answered.open,
    store: {
      ...store,
      renew: (given: Parameters<SessionStore['renew']>[0]) =>
        isCut ? fails() : store.renew(given),
      signals: (worker: string) => (isCut ? fails() : store.signals(worker)),
      async commit(given: Commit) {
        const receipt = await store.commit(given);
        if (!isLate(given) || isCut) return receipt;
        isCut = true;
        await answered.passed;
        return receipt;
      },
    } satisfies SessionStore,
  };
}

const starts = ({ calls }: Commit): boolean =>
  calls?.some(({ state }) => state === 'started') ?? false;

/** Holds up the process, as a tool without a pause does. */
function stall(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe.each(places)('nothing begins without a proof of the lease (%s)', (_name, makePlace) => {
  it('a tool whose start was written does not begin when the answer came late and no proof is to be had', async () => {
    const place = makePlace();
    const paid: string[] = [];
    const agentOf = (who: string) => {
      const pay = mockTool('pay', () => {
        paid.push(who);
        return 'paid';
      });
      const lookUp = mockTool('look', () => (paid.length > 0 ? 'paid' : 'not paid'));
      const steps = [toolCall('pay'), toolCall('look'), toolCall('pay'), final('done')];
      return builderWith(followingDriver(steps), pay, lookUp)
        .withErrorPolicy(ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore'))
        .build();
    };
    const away = cutOff(place.open());
    away.cutAt(starts);
    const failures: unknown[] = [];
    const a = runtimeOn(away.store, agentOf('A'), {
      lease,
      onError: (error) => failures.push(error),
    });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'buy', ann);
    await until(() => away.isCut);
    await pause(lease.leaseMs + 20);
    const b = runtimeOn(place.open(), agentOf('B'), { lease });
    await b.recover();
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect(paid).toEqual(['B']);
    away.answer();
    await a.close();
    expect(paid).toEqual(['B']);
    expect(failures).toHaveLength(1);
  });

  it('a tool begins after a late answer when the store confirms the lease', async () => {
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
    await until(() => away.isCut);
    await pause(lease.leaseMs + 20);
    away.answer();
    await pause(20);
    expect(pay.calls).toHaveLength(0);
    away.heal();
    expect(await ended(a, 's')).toMatchObject({ output: 'done' });
    expect(pay.calls).toHaveLength(1);
  });

  it.each([
    ['a call beside it', 'tool'],
    ['a hook around it', 'hook'],
  ])('a tool that %s held up for longer than the lease does not begin', async (_what, who) => {
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
          return next(input); // once more
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

  it('a model is not asked', async () => {
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
    // nothing is lost: a worker that can prove it continues
    const b = runtimeOn(place.open(), builderWith(driver, work).build(), { lease });
    await until(
      async () => (await b.recover()) > 0 || (await b.get('s', ann)).status === 'completed',
    );
    expect(await ended(b, 's')).toMatchObject({ output: 'done', stepCount: 2 });
    expect(work.calls).toHaveLength(1);
  });
});

describe.each(places)('a claim whose answer is lost (%s)', (_name, makePlace) => {
  it('does not strand the session, though the worker keeps its other leases', async () => {
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
        // as if the store were gone for a moment
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
