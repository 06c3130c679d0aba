import type { SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { Commit } from '../../src/sessions/session-store.ts';
import { stores } from '../setup/four-stores.ts';
import { hostileIds, nestedTwice, shownId, usableId } from '../setup/hostile-ids.ts';
import { gated } from '../setup/session-moments.ts';
import { agentWith, ann, codeOf, isSound, runtimeOn, waiting } from '../setup/sessions.ts';

const { toolCalls, final } = ScenarioStep;
let count = 0;
const newId = (): string => `hostile-${process.pid}-${++count}`;
const named = hostileIds.map((id) => ({ id, title: shownId(id) }));

describe.each(stores)('D90: hostile call ids (%s)', (_name, openStore) => {
  it.each(named)('$title: only the approved call runs', async ({ id }) => {
    const [pay, session] = [gated(), newId()];
    const steps = [
      toolCalls([
        { name: 'pay', id: 'plain', args: { n: 'harmless' } },
        { name: 'pay', id, args: { n: 'odd' } },
      ]),
      final('done'),
    ];
    const runtime = runtimeOn(openStore(), agentWith(steps, pay));
    await runtime.create({ ...ann, id: session });
    const paused = await runtime.send(session, 'go', waiting);
    expect(paused.pendingApprovals).toHaveLength(2);
    const odd = paused.pendingApprovals[1]!.callId;
    expect(odd).toMatch(usableId);

    await runtime.approve(session, 'plain', waiting);
    expect(pay.calls).toEqual([{ n: 'harmless' }]);
    expect(await codeOf(() => runtime.approve(session, 'plain', ann))).toBe('conflict');
    expect(await codeOf(() => runtime.approve(session, 'unheard', ann))).toBe('unknown_approval');
    const done = await runtime.approve(session, odd, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done', pendingApprovals: [] });
    expect(pay.calls).toEqual([{ n: 'harmless' }, { n: 'odd' }]);
    await isSound(runtime, session);
  });

  it('nested agents inside these calls are answered, two levels deep', async () => {
    const pay = gated();
    for (const id of ['__proto__', 'constructor', 'a/b']) {
      const session = newId();
      const root = nestedTwice(id, pay, { id });
      const runtime = runtimeOn(openStore(), root);
      await runtime.create({ ...ann, id: session });
      const paused = await runtime.send(session, 'go', waiting);
      const [pending] = paused.pendingApprovals;
      const done = await runtime.approve(session, pending!.callId, waiting);
      expect(done).toMatchObject({ status: 'completed', output: 'root done' });
      expect(pay.calls.at(-1)).toEqual({ id });
    }
    expect(pay.calls).toHaveLength(3);
  });
});

const unkeepable = /[\0\p{Surrogate}]/u;

/** Writes another id in place of `ODDID` everywhere, as earlier releases did. */
function asBefore(store: SessionStore, id: string): SessionStore {
  const inText = (text: string): string =>
    text.replaceAll('ODDID', JSON.stringify(id).slice(1, -1));
  const rows = <T extends { readonly body: string }>(list: readonly T[] = []): T[] =>
    list.map((row) => ({ ...row, body: inText(row.body) }));
  const commit = (given: Commit): Commit => ({
    ...given,
    ...(given.root && { root: { ...given.root, head: inText(given.root.head) } }),
    messages: rows(given.messages),
    events: rows(given.events),
    calls: (given.calls ?? []).map((call) => ({
      ...call,
      callId: call.callId === 'ODDID' ? id : call.callId,
    })),
  });
  return { ...store, commit: (given) => store.commit(commit(given)) };
}

describe.each(stores)('D90: sessions of earlier releases with odd ids (%s)', (name, openStore) => {
  // leave out ids that no row of that store could have
  const kept = named.filter(({ id }) => name !== 'postgres' || !unkeepable.test(id));

  it.each(kept.filter(({ id }) => id.length < 1000))(
    '$title: loads, accepts an answer and ends',
    async ({ id }) => {
      const [pay, store] = [gated(), openStore()];
      const [answered, stopped] = [newId(), newId()];
      for (const session of [answered, stopped]) {
        const before = agentWith([toolCalls([{ name: 'pay', id: 'ODDID' }])], pay);
        const old = runtimeOn(asBefore(store, id), before);
        await old.create({ ...ann, id: session });
        await old.send(session, 'go', waiting);
        await old.close();
      }
      const runtime = runtimeOn(store, agentWith([final('done'), final('next')], pay));
      const stop = await runtime.stop(stopped, waiting);
      expect(stop).toMatchObject({ status: 'stopped', pendingApprovals: [] });
      // SQLite truncates or replaces these characters, so no answer finds the call
      if (name === 'sqlite' && unkeepable.test(id)) return;
      expect((await runtime.get(answered, ann)).pendingApprovals).toMatchObject([{ callId: id }]);
      const done = await runtime.approve(answered, id, waiting);
      expect(done).toMatchObject({ status: 'completed', output: 'done' });
      expect(pay.calls).toHaveLength(1);
      const next = await runtime.send(stopped, 'and now?', waiting);
      expect(next).toMatchObject({ status: 'completed', output: 'next' });
    },
  );
});
