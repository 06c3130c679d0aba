import { Message, type Session } from 'onward';
import type { SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  sqlitePlace,
  waiting,
  type Place,
} from '../setup/sessions.ts';

const { final } = ScenarioStep;
const answers = (n: number) => Array.from({ length: n }, () => final('ok'));

describe.each(places)('the title of a session in %s', (_name, placed) => {
  it('comes from the first message and stays', async () => {
    const place = placed();
    const runtime = runtimeOn(place.open(), agentWith(answers(2)));
    const created = await runtime.create({ ...ann, id: 's' });
    expect(await created.get()).toMatchObject({ title: null, executionStepCount: 0 });
    const first = await runtime.send('s', 'Find leads in Kiel', waiting);
    expect(first).toMatchObject({ title: 'Find leads in Kiel', executionStepCount: 1 });
    const second = await runtime.send('s', 'And now in Bremen', waiting);
    expect(second).toMatchObject({
      title: 'Find leads in Kiel',
      stepCount: 2,
      executionStepCount: 1,
    });
    // another process reads the same
    const other = runtimeOn(place.open(), agentWith([]));
    const { sessions } = await other.list(ann);
    expect(sessions.map(({ title }) => title)).toEqual(['Find leads in Kiel']);
  });

  it('comes from the messages that the session was created with', async () => {
    const runtime = runtimeOn(placed().open(), agentWith(answers(1)));
    const messages = [
      Message.system('Be kind.'),
      Message.user('Seeded question'),
      Message.assistant('Seeded answer'),
    ];
    const seeded = await (await runtime.create({ ...ann, id: 's', messages })).get();
    expect(seeded.title).toBe('Seeded question');
    expect((await runtime.send('s', 'next', waiting)).title).toBe('Seeded question');
  });

  it('is `metadata.title` if it is set', async () => {
    const runtime = runtimeOn(placed().open(), agentWith(answers(1)));
    const created = await runtime.create({ ...ann, id: 's', metadata: { title: 'Q3 leads' } });
    const named = await created.get();
    expect(named.title).toBe('Q3 leads');
    expect((await runtime.send('s', 'Find leads', waiting)).title).toBe('Q3 leads');
  });

  it('is copied to a fork', async () => {
    const runtime = runtimeOn(placed().open(), agentWith(answers(3)));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'Find leads', waiting);
    await runtime.send('s', 'More', waiting);
    const fork = await runtime.fork('s', { ...ann, id: 'f', atStep: 1 });
    expect(fork.title).toBe('Find leads');
    expect((await runtime.send('f', 'Something else', waiting)).title).toBe('Find leads');
  });

  it('D43: shows no secret', async () => {
    const runtime = runtimeOn(placed().open(), agentWith(answers(1)));
    await runtime.create({ ...ann, id: 's' });
    const session = await runtime.send('s', 'Use sk-live-abcdefghijklmnop1234567890 now', waiting);
    expect(session.title).toBe('Use [redacted] now');
  });
});

/** Removes the title from every header that is written, like a release without titles. */
function before(place: Place): SessionStore {
  const store = place.open();
  const without = (head: string): string => {
    const { title: _title, ...rest } = JSON.parse(head) as Record<string, unknown>;
    return JSON.stringify(rest);
  };
  return {
    ...store,
    commit: (commit) =>
      store.commit(
        commit.root
          ? { ...commit, root: { ...commit.root, head: without(commit.root.head) } }
          : commit,
      ),
  };
}

describe('sessions of a release without titles', () => {
  it('get a title with their next turn', async () => {
    const place = sqlitePlace();
    const old = runtimeOn(before(place), agentWith(answers(1)));
    await old.create({ ...ann, id: 's' });
    expect((await old.send('s', 'The first question', waiting)).title).toBeNull();
    const runtime = runtimeOn(place.open(), agentWith(answers(1)));
    expect((await runtime.send('s', 'The second one', waiting)).title).toBe('The first question');
  });

  it('get no title from a later message if their first one is outside the window', async () => {
    const place = memoryPlace();
    const old = runtimeOn(before(place), agentWith(answers(5)));
    await old.create({ ...ann, id: 's' });
    for (const text of ['a', 'b', 'c', 'd', 'e']) await old.send('s', text, waiting);
    const runtime = runtimeOn(place.open(), agentWith(answers(1)), { maxMessages: 2 });
    const session: Session = await runtime.send('s', 'f', waiting);
    expect(session.title).toBeNull();
  });
});

it('list reads nothing besides its rows', async () => {
  const store = memoryPlace().open();
  const seen: string[] = [];
  const noting = new Proxy(store, {
    get(target, key: keyof SessionStore) {
      if (typeof target[key] === 'function') seen.push(key);
      return target[key];
    },
  });
  const runtime = runtimeOn(noting, agentWith(answers(2)));
  for (const id of ['a', 'b']) {
    await runtime.create({ ...ann, id });
    await runtime.send(id, `about ${id}`, waiting);
  }
  seen.length = 0;
  const { sessions } = await runtime.list(ann);
  expect(sessions.map(({ title }) => title)).toEqual(['about b', 'about a']);
  expect(seen).toEqual(['list']);
});

describe('accounts', () => {
  it('return the current totals, and those after each stored step', async () => {
    const usage = { usage: { input: 10, output: 1 }, cost: 0.5 };
    const runtime = runtimeOn(
      sqlitePlace().open(),
      agentWith([final('a', usage), final('b', usage)]),
    );
    await runtime.create({ ...ann, id: 's' });
    expect(await runtime.accounts('s', ann)).toMatchObject({ execution: { id: '', stepCount: 0 } });
    for (const executionId of ['one', 'two'])
      await runtime.send('s', 'go', { ...waiting, executionId });
    const at = (atStep: number) => runtime.accounts('s', { ...ann, atStep });
    expect(await runtime.accounts('s', ann)).toMatchObject({
      execution: { id: 'two', stepCount: 1, cost: 0.5 },
      info: { stepCount: 2, cost: 1, usage: { total: 22 } },
    });
    expect(await at(1)).toMatchObject({ execution: { id: 'one' }, info: { stepCount: 1 } });
    expect(await at(2)).toMatchObject({ execution: { id: 'two' }, info: { stepCount: 2 } });
    expect([await at(0), await at(3)]).toEqual([null, null]);
    expect((await refusal(() => at(-1))).code).toBe('invalid_option');
    expect((await refusal(() => runtime.accounts('s', { owner: 'bob' }))).code).toBe(
      'session_not_found',
    );
  });
});
