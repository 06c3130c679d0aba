import { AgentBuilder, AgentError, ErrorPolicy, type Agent, type SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { type Clock, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import {
  ann,
  callIds,
  clientOn,
  followingDriver,
  isSound,
  pause,
  runtimeOn,
  takesAnotherTurn,
  until,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const lease = { leaseMs: 80, heartbeatMs: 25, signalMs: 15 };

/** A clock that runs 300 times as fast. */
const started = Date.now();
const hasty: Clock = {
  now: () => started + (Date.now() - started) * 300,
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/** Creates a pseudorandom generator from a seed, so that a failure can be reproduced. */
function dice(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state % below;
  };
}

/** Wraps a store with a bad connection: it is slow, fails before or after a write, and sometimes hangs. */
function shaky(
  store: SessionStore,
  roll: (below: number) => number,
  isCalm: () => boolean,
): SessionStore {
  let asleep: Promise<void> | null = null;
  return Object.fromEntries(
    Object.entries(store).map(([name, method]: [string, unknown]) => {
      if (typeof method !== 'function') return [name, method];
      return [
        name,
        async (...args: unknown[]) => {
          const call = (): Promise<unknown> =>
            (method as (...a: unknown[]) => Promise<unknown>)(...args);
          if (isCalm()) return call();
          await asleep;
          const fate = roll(200);
          if (fate < 2 || (name === 'commit' && fate < 6))
            await (asleep = pause(lease.leaseMs * 2).then(() => void (asleep = null)));
          if (fate < 60) await pause(roll(3));
          if (fate > 194) throw new AgentError('store_failed', 'line cut before');
          const answer = await call();
          if (fate > 189) throw new AgentError('store_failed', 'line cut after');
          return answer;
        },
      ];
    }),
  ) as unknown as SessionStore;
}

async function storm(seed: number): Promise<void> {
  const roll = dice(seed);
  const store = memoryStore();
  let isCalm = false;
  const ran = new Map<string, number>();
  const tool = (name: string, spec: object = {}) =>
    mockTool(
      name,
      async (_args: unknown, { executionId, callId }: { executionId: string; callId: string }) => {
        const key = `${name} ${executionId} ${callId}`;
        ran.set(key, (ran.get(key) ?? 0) + 1);
        await pause(roll(8) ? roll(4) : roll(120));
        return `${name} done`;
      },
      spec,
    );
  const steps = [
    toolCalls([{ name: 'mail' }, { name: 'look' }, { name: 'pay' }]),
    toolCalls([{ name: 'ask', args: { input: 'x' } }, { name: 'mail' }]),
    toolCall('look'),
    final('done'),
  ];
  const make = (): Agent => {
    const tools = [
      tool('mail'),
      tool('look', { idempotent: true }),
      tool('pay', { needsApproval: true }),
    ];
    const policy = ErrorPolicy.retryAll(50).withBackoff({ initialMs: 1, maxMs: 1 });
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(followingDriver([toolCalls([{ name: 'pay' }, { name: 'mail' }]), final('inner')]))
      .withTools(...tools)
      .withErrorPolicy(policy)
      .build()
      .asTool({ name: 'ask', description: 'Asks.' });
    return AgentBuilder.base()
      .withName('support')
      .withDriver(followingDriver(...Array.from({ length: 12 }, () => steps)))
      .withTools(...tools, inner)
      .withErrorPolicy(policy)
      .build();
  };
  const workers = [0, 1, 2].map(() =>
    runtimeOn(
      shaky(store, roll, () => isCalm),
      make(),
      { lease, clock: hasty, onError: () => {} },
    ),
  );
  const client = clientOn(store, make());
  await client.create({ ...ann, id: 's' });
  const ask = async (work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!AgentError.is(error)) throw error;
    });
  };
  const deeds: ((runtime: SessionRuntime) => Promise<unknown>)[] = [
    (r) => r.send('s', 'go', { ...ann, whenBusy: roll(2) ? 'queue' : 'refuse' }),
    (r) => r.recover(),
    (r) => r.recover(),
    (r) => (roll(6) ? r.recover() : r.stop('s', ann)),
    (r) => (roll(3) ? r.recover() : r.pause('s', ann)),
    (r) => r.resume('s', ann),
    async (r) => {
      for (const callId of callIds(await r.get('s', ann)))
        await (roll(3)
          ? r.approve('s', callId, ann)
          : r.deny('s', callId, { ...ann, reason: 'no' }));
    },
    (r) => (roll(4) ? r.recover() : r.prune({ olderThan: new Date(Date.now() + 100_000_000) })),
    (r) => r.fork('s', { ...ann, id: `f${roll(1_000)}` }),
  ];
  await client.send('s', 'go', ann);
  for (let i = 0; i < 100; i++) {
    void ask(() => deeds[roll(deeds.length)]!(workers[roll(3)]!));
    void ask(() => workers[roll(3)]!.recover());
    await pause(roll(12));
  }
  isCalm = true;
  await pause(lease.leaseMs * 3);
  const last = runtimeOn(store, make(), { lease });
  await until(async () => {
    await last.recover();
    const session = await client.get('s', ann);
    for (const callId of callIds(session)) await ask(() => last.approve('s', callId, ann));
    if (session.pause?.kind === 'requested') await ask(() => last.resume('s', ann));
    return (await store.find('s'))?.phase === 'idle';
  });
  await isSound(client, 's');
  for (const [key, times] of ran)
    if (!key.startsWith('look')) expect([seed, key, times]).toEqual([seed, key, 1]);
  const { items: all } = await client.steps('s', { ...ann, limit: 500 });
  for (const { executionId, toolCalls: calls, results } of all)
    for (const [i, { name, id }] of calls.entries()) {
      expect(results[i]!.callId).toBe(id);
      if (name !== 'ask' && results[i]!.kind === 'ok')
        expect(ran.has(`${name} ${executionId} ${id}`)).toBe(true);
    }
  await takesAnotherTurn({ open: () => store }, 's');
}

/** Run more seeds with `ONWARD_CHAOS=200 npx vitest run test/sessions/chaos.test.ts`. */
const seeds = Array.from({ length: Number(process.env['ONWARD_CHAOS'] ?? 4) }, (_s, i) => i + 1);
it.each(seeds)(
  'keeps a session sound under random operations of three processes with bad connections (seed %i)',
  storm,
  30_000,
);
