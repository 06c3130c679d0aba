import type { SessionRow } from '../../sessions/session-rows.ts';
import type { SessionStore } from '../../sessions/session-store.ts';
import { found, holds, same } from './expect.ts';
import {
  at,
  command,
  EXECUTION,
  fresh,
  type HarnessCase,
  root,
  untouched,
} from './store-harness.ts';

/** Returns all pages of an owner's sessions. */
async function everyPage(store: SessionStore, owner: string, limit: number): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const after = last && { updatedAt: last.updatedAt, id: last.id };
    const page = await store.list({ owner, limit, ...(after && { after }) });
    holds(page.length <= limit, `a page has at most ${limit} sessions, not ${page.length}`);
    rows.push(...page);
    if (page.length < limit) return rows;
    holds(rows.length < 1000, 'paging ends');
  }
}

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

export const sessionCases: readonly HarnessCase[] = [
  {
    name: 'create stores its input; the session is idle',
    async run({ store, idle, row }) {
      const session = await idle({
        status: 'completed',
        executionId: EXECUTION,
        messageCount: 3,
        stepCount: 2,
      });
      same(await row(session.id), untouched(session), 'the new session');
      same(await store.nextCommand(session.id), null, 'its next command');
    },
  },
  {
    name: 'create returns false for a used id and does not change that session',
    async run({ store, idle, row }) {
      const session = await idle();
      const before = await row(session.id);
      const again = { ...session, owner: fresh('own'), head: '{"other":true}' };
      same(await store.create(again), false, 'create with a taken id');
      same(await row(session.id), before, 'the session');
    },
  },
  {
    name: 'one of two concurrent creates of an id wins',
    async run({ store, idle, row }) {
      const { id: _, ...rest } = await idle();
      const id = fresh('ses');
      const owners = [fresh('own'), fresh('own')];
      const made = await Promise.all(owners.map((owner) => store.create({ ...rest, id, owner })));
      same(made.filter(Boolean).length, 1, 'how many of two were made');
      same((await row(id)).owner, owners[made.indexOf(true)], 'the owner');
    },
  },
  {
    name: 'find returns null for an unknown id',
    async run({ store }) {
      same(await store.find(fresh('ses')), null, 'an unknown session');
    },
  },
  {
    name: 'list returns the newest change first, and at most the limit',
    async run({ store, idle, row }) {
      const owner = fresh('own');
      const first = await idle({ owner, createdAt: at(1) });
      const second = await idle({ owner, createdAt: at(2) });
      const third = await idle({ owner, createdAt: at(3) });
      same(
        ids(await store.list({ owner, limit: 10 })),
        ids([third, second, first]),
        'sessions by age',
      );
      await store.accept(first.id, command('{}', 4), { phases: ['idle'] });
      const listed = await store.list({ owner, limit: 2 });
      same(ids(listed), ids([first, third]), 'sessions by change');
      same(listed[0], await row(first.id), 'a listed session, as `find` gives it');
    },
  },
  {
    name: 'list filters by owner, agent and status, together',
    async run({ store, idle }) {
      const [mine, other] = [fresh('own'), fresh('own')];
      const a = await idle({ owner: mine, agent: 'sales', status: 'completed', createdAt: at(1) });
      const b = await idle({ owner: mine, agent: 'sales', status: 'failed', createdAt: at(2) });
      const c = await idle({
        owner: mine,
        agent: 'support',
        status: 'completed',
        createdAt: at(3),
      });
      await idle({ owner: other, agent: 'sales', status: 'completed' });
      const list = async (query: object): Promise<string[]> =>
        ids(await store.list({ owner: mine, limit: 10, ...query }));
      same(await list({}), ids([c, b, a]), 'by owner');
      same(await list({ agent: 'sales' }), ids([b, a]), 'by agent');
      same(await list({ status: 'completed' }), ids([c, a]), 'by status');
      same(await list({ agent: 'sales', status: 'completed' }), ids([a]), 'by agent and status');
      same(await list({ owner: fresh('own') }), [], 'of an owner without sessions');
      const all = ids(await store.list({ agent: 'sales', limit: 1_000_000 }));
      holds(
        all.includes(a.id) && !all.includes(c.id),
        'a list without owner still filters by agent',
      );
    },
  },
  {
    name: 'pages contain every session once, also if many changed at the same time',
    async run({ store, idle }) {
      const owner = fresh('own');
      const made = await Promise.all(
        Array.from({ length: 11 }, (_, i) => idle({ owner, createdAt: at(i < 7 ? 5 : i) })),
      );
      for (const limit of [1, 2, 3, 11, 50]) {
        const rows = await everyPage(store, owner, limit);
        same(ids(rows).toSorted(), ids(made).toSorted(), `all sessions in pages of ${limit}`);
        for (const [i, row] of rows.entries()) {
          const next = rows[i + 1];
          if (next?.updatedAt === row.updatedAt)
            holds(next.id < row.id, 'sessions of one time come by id, descending');
          else
            holds(next === undefined || next.updatedAt < row.updatedAt, 'newer changes come first');
        }
      }
    },
  },
  {
    name: 'status and filter are in_progress while the phase is open, then the status of the last commit',
    async run({ store, open, row, take }) {
      const { id, owner } = await open({ status: 'completed' });
      same((await row(id)).status, 'in_progress', 'the status after accept');
      same(await store.list({ owner, status: 'completed', limit: 5 }), [], 'listed as completed');
      same(ids(await store.list({ owner, status: 'in_progress', limit: 5 })), [id], 'in progress');
      const held = await take(id);
      await held.commit({ root: root({ status: 'failed' }) });
      same((await row(id)).status, 'in_progress', 'the status while the phase is open');
      const { number: done } = found(await store.nextCommand(id), 'the command');
      await held.commit({ done, end: 'ended' });
      same((await row(id)).status, 'failed', 'the status at the end');
      same(ids(await store.list({ owner, status: 'failed', limit: 5 })), [id], 'listed as failed');
    },
  },
];
