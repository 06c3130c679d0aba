import { expect, it } from 'vitest';
import { open, query, queued } from '../../../../test/setup/postgres-stores.ts';
import {
  call,
  makeHarness,
  message,
  root,
  type Held,
} from '../../../testing/store-contract/store-harness.ts';

it('writes commits of many sessions that arrive at once in few statements', async () => {
  const store = open();
  const harness = makeHarness(store, 60);
  const held: Held[] = [];
  for (let i = 0; i < 30; i++) held.push(await harness.held());
  const before = await query<{ n: string }>('select txid_current()::text as n');
  const receipts = await Promise.all(
    held.map(({ commit }, i) =>
      commit({ root: root({ head: `"${i}"` }), seq: 0, messages: [message(0), message(1)] }),
    ),
  );
  const after = await query<{ n: string }>('select txid_current()::text as n');
  expect(receipts).toEqual(held.map(() => expect.objectContaining({ phase: 'open' })));
  for (const [i, { id }] of held.entries()) {
    expect(await store.find(id)).toMatchObject({ head: `"${i}"`, revision: 1 });
    expect(await store.messages(id, '')).toEqual([message(0), message(1)]);
  }
  expect(Number(after[0]?.n) - Number(before[0]?.n)).toBeLessThan(15);
});

it('what prevents one commit of a group affects no other', async () => {
  const store = open();
  const harness = makeHarness(store, 60);
  const [good, stale, late, broken, twice, taken, locked, ended] = await Promise.all(
    Array.from({ length: 8 }, () => harness.held()),
  );
  if (!good || !stale || !late || !broken || !twice || !taken || !locked || !ended)
    throw new Error('no sessions');
  await twice.commit({ calls: [call('a', 'started')] });
  await taken.commit({ messages: [message(0)] });
  const outcome = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'written',
      (error: { code: string; details: { code?: string } }) => error.details.code ?? error.code,
    );
  const [results] = await queued(locked.id, () =>
    Promise.all([
      outcome(good.commit({ messages: [message(0)] })),
      outcome(
        store.commit({ ...stale.next({ messages: [message(0)] }), token: stale.token + 1_000 }),
      ),
      outcome(store.commit({ ...late.next({ messages: [message(0)] }), revision: 7 })),
      outcome(broken.commit({ messages: [message(0, { body: '"\0"' })] })),
      outcome(twice.commit({ calls: [call('a', 'started')] })),
      outcome(taken.commit({ messages: [message(0)] })),
      outcome(locked.commit({ messages: [message(0)] })),
      outcome(ended.commit({ root: root({ status: 'completed' }), end: 'ended' })),
    ]),
  );
  expect(results).toEqual([
    'written',
    'stale_owner',
    'conflict',
    '22021',
    'conflict',
    '23505',
    'written',
    'written',
  ]);
  for (const { id } of [good, locked]) expect(await store.messages(id, '')).toEqual([message(0)]);
  for (const { id } of [stale, late, broken, twice])
    expect(await store.messages(id, '')).toEqual([]);
});
