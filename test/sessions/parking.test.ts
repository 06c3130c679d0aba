import { ScenarioStep } from 'onward/testing';
import type { SessionRuntimeOptions } from 'onward';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { MOST_TRIES, waitAfter } from '../../src/sessions/attempts.ts';
import { SessionListeners } from '../../src/sessions/session-listeners.ts';
import type { SessionWorker } from '../../src/sessions/session-worker.ts';
import { emitParked } from '../../src/sessions/emit-parked.ts';
import { stores } from '../setup/four-stores.ts';
import { held } from '../setup/session-moments.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  clientOn,
  codeOf,
  followingDriver,
  receiving,
  refusal,
  runtimeOn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall } = ScenarioStep;
const lease = { leaseMs: 300, heartbeatMs: 100 };
let sessions = 0;
const freshId = (): string => `parking-${process.pid}-${sessions++}`;

/** A runtime whose dependencies cannot be created until `fix` is called. */
function broken(
  store: SessionRuntimeOptions['store'],
  message: string,
  ...turns: readonly (readonly ScenarioStep[])[]
) {
  const driver = followingDriver(...turns);
  const failures: unknown[] = [];
  let tried = 0;
  let isBroken = true;
  const runtime = runtimeOn(store, builderWith(driver).build(), {
    lease,
    deps: () => {
      tried += 1;
      if (isBroken) throw new Error(message);
      return {};
    },
    onError: (error) => failures.push(error),
  });
  runtime.start();
  return {
    runtime,
    driver,
    failures,
    tried: () => tried,
    repair: () => {
      isBroken = false;
    },
  };
}

describe.each(stores)('a session whose work always fails (%s)', (_name, open) => {
  it('is parked with its error after a few tries, and continues after a retry', async () => {
    const id = freshId();
    const { runtime, driver, failures, tried, repair } = broken(
      open(),
      'tenant was removed',
      [final('one')],
      [final('two')],
    );
    await runtime.create({ ...ann, id });
    const parked = await runtime.send(id, 'go', waiting);
    expect(parked).toMatchObject({
      status: 'failed',
      phase: 'parked',
      tries: MOST_TRIES,
      error: 'tenant was removed',
      stopReason: 'error',
    });
    expect(parked.parkedAt).not.toBeNull();
    expect(parked.outcome!.explain()).toContain('parked after 5 tries: tenant was removed');
    expect(tried()).toBe(MOST_TRIES);
    expect(failures.map((error) => (error as { code?: string }).code)).toContain('parked');
    expect(await runtime.wait(id, ann)).toEqual(parked);
    const { sessions: listed } = await runtime.list({ ...ann, phase: 'parked' });
    expect(listed.find((session) => session.id === id)).toMatchObject({ error: parked.error });
    expect((await runtime.list({ ...ann, phase: 'idle' })).sessions.map((s) => s.id)).not.toContain(
      id,
    );

    const refused = await refusal(() => runtime.send(id, 'hello?', ann));
    expect(refused.code).toBe('parked');
    expect(refused.message).toContain('tenant was removed');
    expect(await codeOf(() => runtime.resume(id, ann))).toBe('parked');
    expect(await codeOf(() => runtime.resume(id, { ...ann, grant: { steps: 1 } }))).toBe('parked');
    const queued = await runtime.send(id, 'and then?', { ...waiting, whenBusy: 'queue' });
    expect(queued.phase).toBe('parked');
    expect(tried()).toBe(MOST_TRIES);

    repair();
    const done = await runtime.retry(id, waiting);
    expect(done).toMatchObject({ status: 'completed', tries: 0, error: null, parkedAt: null });
    expect(done.output).toBe('two');
    expect(driver.requests).toHaveLength(2);
    expect(await runtime.retry(id, ann)).toEqual(await runtime.get(id, ann));
  });

  it('notifies its followers, and keeps its message in the conversation', async () => {
    const id = freshId();
    const { runtime, repair } = broken(open(), 'no tenant', [final('one')]);
    const received = receiving(runtime);
    await runtime.create({ ...ann, id });
    const { executionId } = await runtime.send(id, 'go', waiting);
    expect((await runtime.messages(id, ann)).items).toMatchObject([{ content: 'go' }]);
    const { events } = await runtime.events(id, ann);
    expect(events.map(({ event }) => event.type)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'AgentFailed',
    ]);
    expect(events.at(-1)!.event).toMatchObject({
      executionId,
      status: 'failed',
      stopReason: 'error',
      error: { code: 'parked', message: 'no tenant' },
    });
    expect(typesOf(received).at(-1)).toBe('AgentFailed');
    repair();
    expect(await runtime.retry(id, waiting)).toMatchObject({ executionId, output: 'one' });
    const after = (await runtime.events(id, ann)).events;
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_e, i) => i + 1));
    expect(after[3]!.event).toMatchObject({ type: 'AgentStarted', resumed: true });
    expect((await runtime.messages(id, ann)).items).toHaveLength(2);
  });

  it('is not logged as parked if another worker has taken it over', async () => {
    const store = open();
    const id = freshId();
    const slow = held();
    const victim = mortal(store);
    const agent = builderWith(followingDriver([toolCall('slow')]), slow.tool).build();
    const worker = runtimeOn(victim.store, agent, { lease, onError: () => {} });
    await worker.create({ ...ann, id });
    await worker.send(id, 'go', ann);
    await slow.began();
    victim.die();
    const reader = clientOn(store, agent);
    const row = (await store.find(id))!;
    const taken = await until(() => store.claim(id, { worker: 'other', ttlMs: 60_000 }));
    const lookup = { store, clock: systemClock } as SessionWorker['lookup'];
    const listeners = new SessionListeners();
    const reported = async (parked: typeof row): Promise<readonly string[]> => {
      await emitParked({ lookup, listeners }, { ...parked, error: 'no tenant' });
      return (await reader.events(id, ann)).events.map(({ event }) => event.type);
    };
    expect(await reported(row)).not.toContain('AgentFailed');
    expect(await reported(taken)).toContain('AgentFailed');
  });

  it('stores its error in one line of limited length, without secrets', async () => {
    const id = freshId();
    const secret = 'sk-live-0123456789abcdef0123';
    const { runtime } = broken(open(), `a\u0000b\n\u202e${secret} ${'x'.repeat(100_000)}`);
    await runtime.create({ ...ann, id });
    const { error } = await runtime.send(id, 'go', waiting);
    expect(error).toMatch(/^a\\u0000b\\n\\u202e/);
    expect(error).not.toContain(secret);
    expect(error!.length).toBeLessThanOrEqual(1_000);
  });

  it('waits longer after each try', async () => {
    const id = freshId();
    const times: number[] = [];
    const runtime = runtimeOn(open(), builderWith(followingDriver([toolCall('x')])).build(), {
      lease,
      deps: (session) => {
        if (session.id === id) times.push(performance.now());
        throw new Error('no');
      },
      onError: () => {},
    });
    runtime.start();
    await runtime.create({ ...ann, id });
    await runtime.send(id, 'go', waiting);
    const waits = times.slice(1).map((at, i) => at - times[i]!);
    expect(waits).toHaveLength(MOST_TRIES - 1);
    for (const [i, ms] of waits.entries())
      expect(ms).toBeGreaterThanOrEqual(waitAfter(i + 1, lease.leaseMs) - 1);
    await until(async () => (await runtime.get(id, ann)).phase === 'parked');
  });
});
