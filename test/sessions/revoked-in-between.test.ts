import type { SessionRuntime, SessionRuntimeOptions } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep, type MockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { mortal } from '../setup/mortal-store.ts';
import { paused, unknownEffects } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  isSound,
  places,
  runtimeOn,
  until,
  type Place,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const remember = { ...ann, remember: 'session' } as const;
/** The second call of `pay`, which the remembered approval of the first approves. */
const second = 't0s1c0';
const lease: SessionRuntimeOptions['lease'] = { leaseMs: 600, heartbeatMs: 100, signalMs: 20 };

const payTool = (idempotent: boolean): MockTool =>
  mockTool('pay', 'paid', { needsApproval: true, idempotent });
const script = () =>
  followingDriver([toolCall('pay', { n: 1 }), toolCall('pay', { n: 2 }), final('done')]);
const agentOf = (pay: MockTool, driver: InferenceDriver = script()) =>
  builderWith(driver, pay).withErrorPolicy(unknownEffects).build();

/** A model that does not answer after the first times. */
function silentAfter(answers: number) {
  const own = script();
  const { passed: began, open } = gate();
  let calls = 0;
  const driver: InferenceDriver = {
    name: 'silent',
    infer(request, options) {
      if (calls++ < answers) return own.infer(request, options);
      open();
      return new Promise(() => {});
    },
  };
  return { driver, began };
}

/** A store that does something before or after it writes the start of the second call. */
function around(
  store: SessionStore,
  { before, after }: { before?: () => Promise<void>; after?: () => Promise<void> | void },
): SessionStore {
  return {
    ...store,
    async commit(commit) {
      const isStart = commit.calls?.some(
        ({ callId, state }) => callId === second && state === 'started',
      );
      if (isStart) await before?.();
      const receipt = await store.commit(commit);
      if (isStart) await after?.();
      return receipt;
    },
  };
}

/** Revokes the one rule of the session from a process that does no work. */
async function revoke(place: Place): Promise<void> {
  const client = clientOn(place.open(), agentOf(payTool(false)));
  const [rule] = await client.rules('s', ann);
  await client.revokeRule('s', rule!.id, ann);
  expect(await client.rules('s', ann)).toEqual([]);
}

async function approveFirst(runtime: SessionRuntime): Promise<void> {
  const session = await paused(runtime, 's');
  await runtime.approve('s', session.pendingApprovals[0]!.callId, remember);
}

describe.each(places)('a revoke while a remembered approval starts a call (%s)', (_name, make) => {
  it.each(['before', 'after'] as const)(
    'that is accepted %s the start is recorded blocks the call, and the run continues',
    async (moment) => {
      const place = make();
      const pay = payTool(false);
      const store = around(place.open(), { [moment]: () => revoke(place) });
      const runtime = runtimeOn(store, agentOf(pay));
      await approveFirst(runtime);
      const done = await runtime.wait('s', ann);
      expect(pay.calls).toEqual([{ n: 1 }]);
      expect(done).toMatchObject({ status: 'completed', output: 'done', pendingApprovals: [] });
      const { items } = await runtime.steps('s', ann);
      expect(items[1]?.results).toMatchObject([
        {
          kind: 'blocked',
          value: 'Blocked: the remembered approval of "pay" was revoked. It was not run.',
        },
      ]);
      await until(async () => (await runtime.state('s', ann)).approvalRules.length === 0);
      await isSound(runtime, 's');
    },
  );

  /** A store whose process is killed right after it has recorded the start of the second call. */
  function killedAtStart(place: Place) {
    const doomed = mortal(place.open());
    let isDead = false;
    const store = around(doomed.store, {
      after: () => {
        doomed.die();
        isDead = true;
        return new Promise(() => {});
      },
    });
    return { store, died: () => until(() => isDead) };
  }

  it.each([false, true])(
    'whose process is killed between the start and the call: no process runs it (idempotent: %s)',
    async (idempotent) => {
      const place = make();
      const [pay, later] = [payTool(idempotent), payTool(idempotent)];
      const { store, died } = killedAtStart(place);
      await approveFirst(runtimeOn(store, agentOf(pay), { lease }));
      await died();
      expect(pay.calls).toEqual([{ n: 1 }]);

      await revoke(place);
      const next = runtimeOn(place.open(), agentOf(later), { lease });
      next.start();
      const seen = await until(async () => {
        const session = await next.get('s', ann);
        return session.status === 'in_progress' ? null : session;
      });
      expect(later.calls).toEqual([]);
      expect(seen).toMatchObject({ status: 'completed', output: 'done' });
      const { items } = await next.steps('s', ann);
      expect(items[1]?.results).toMatchObject([{ error: { code: 'effect_unknown' } }]);
      expect(await next.rules('s', ann)).toEqual([]);
      await isSound(next, 's');
    },
  );

  it('a started call that needs approval only in the next release does not wait forever', async () => {
    const place = make();
    const [free, guarded] = [
      mockTool('pay', 'paid', { idempotent: true }),
      mockTool('pay', 'paid', { idempotent: true, needsApproval: true }),
    ];
    const { store, died } = killedAtStart(place);
    const first = runtimeOn(store, agentOf(free), { lease });
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'go', ann);
    await died();
    const next = runtimeOn(place.open(), agentOf(guarded), { lease });
    next.start();
    const seen = await until(async () => {
      const session = await next.get('s', ann);
      return session.status === 'in_progress' ? null : session;
    });
    expect(seen).toMatchObject({ status: 'completed', output: 'done' });
    expect(guarded.calls).toEqual([]);
  });

  it('that is never made lets the next process run the call, under the rule', async () => {
    const place = make();
    const later = payTool(true);
    const { store, died } = killedAtStart(place);
    await approveFirst(runtimeOn(store, agentOf(payTool(true)), { lease }));
    await died();
    const next = runtimeOn(place.open(), agentOf(later), { lease });
    next.start();
    const done = await until(async () => {
      const session = await next.get('s', ann);
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('done');
    expect(later.calls).toEqual([{ n: 2 }]);
    const { items } = await next.steps('s', ann);
    expect(items[1]?.results[0]?.approval?.rememberedAt).toBeDefined();
  });

  it('that a process has read when it is killed is carried out by the next one', async () => {
    const place = make();
    const pay = payTool(false);
    const victim = mortal(place.open());
    const silent = silentAfter(1);
    const first = runtimeOn(victim.store, agentOf(pay, silent.driver), { lease });
    await approveFirst(first);
    await silent.began;
    const client = clientOn(place.open(), agentOf(pay));
    const logged = async (type: string) =>
      (await client.events('s', ann)).events.filter(({ event }) => event.type === type).length;
    await until(async () => (await logged('AgentStepStarted')) === 2);
    victim.die();
    await revoke(place);

    // it reads the revoke, logs that the lost text is discarded, and waits for its dependencies
    const second = mortal(place.open());
    const asked = gate();
    const waitsForever = runtimeOn(second.store, agentOf(pay), {
      lease,
      deps: () => {
        asked.open();
        return new Promise(() => {});
      },
    });
    waitsForever.start();
    await asked.passed;
    await until(async () => (await logged('StreamDiscarded')) === 1);
    second.die();

    const third = runtimeOn(place.open(), agentOf(pay), { lease });
    third.start();
    const session = await until(async () => {
      const now = await third.get('s', ann);
      return now.status === 'in_progress' ? null : now;
    });
    expect(session).toMatchObject({ status: 'paused', pendingApprovals: [{ callId: 't0s1c0' }] });
    expect(pay.calls).toEqual([{ n: 1 }]);
    expect(await third.rules('s', ann)).toEqual([]);
  });
});
