import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { held, message, newPath, open, session } from '../../../../test/setup/sqlite-files.ts';
import type { NewSessionRow } from '../../session-rows.ts';
import type { SessionStore } from '../../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { type Copying, forks } from './sqlite-fork.ts';
import { type Remains, remains } from './sqlite-remains.ts';
import { bytesOf, texts } from './sqlite-rows.ts';
import { SLICE_BYTES, Slice } from './sqlite-slice.ts';
import { sqliteStore } from './index.ts';
import { upkeep } from './sqlite-upkeep.ts';

const CANARY = 'CANARY-4720';
/** A text so large that a few rows exceed the bytes of a slice, below any limit on rows. */
const large = (bytes = 400_000): string => JSON.stringify(`${CANARY} `.repeat(bytes / 12));
const olderThan = '2027';

interface Place {
  readonly path: string;
  readonly store: SessionStore;
  /** A second connection, like that of another process. */
  readonly db: SqliteDatabase;
}

async function place(): Promise<Place> {
  const path = newPath();
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  await store.find('warm');
  const db = await open(path);
  onTestFinished(() => db.close());
  return { path, store, db };
}

/** Writes a finished session of two executions with about 8 MB in few rows. */
async function fill(store: SessionStore, id: string): Promise<void> {
  const next = await held(store, id);
  const done = (await store.nextCommand(id))!.number;
  for (let n = 0; n < 4; n++)
    await store.commit(
      next({
        seq: n + 1,
        messages: [message(n, large())],
        steps: [{ agentId: '', position: n, executionId: 'e', body: large(), mark: '{}' }],
        events: [{ executionId: 'e', seq: n + 1, type: 'T', body: large() }],
        blobs: [{ scope: n % 2 === 0 ? 'e' : '', hash: `h${n}`, body: large() }],
        calls: [
          { executionId: 'e', callId: `c${n}`, tool: 't', state: 'committed', result: large() },
        ],
      }),
    );
  const step = { agentId: '', position: 4, executionId: 'e2', body: '{}', mark: '{}' };
  const root = {
    head: large(),
    status: 'completed',
    executionId: 'e2',
    messageCount: 4,
    stepCount: 5,
  } as const;
  await store.commit(next({ root, steps: [step], done, end: 'ended' }));
}

const copyOf = (id: string): NewSessionRow => ({
  ...session(id),
  executionId: 'own',
  messageCount: 4,
  stepCount: 5,
});

/** Counts all rows in the file, including those of no session. */
function kept(db: SqliteDatabase): { rows: number; bytes: number; blank: number } {
  return texts.reduce(
    (sum, [table, columns]) => {
      const blanks = columns.map(
        (text) => `(substr(${text}, 1, 1) = char(0)) * octet_length(${text})`,
      );
      const found = db
        .prepare(
          `SELECT count(*) AS rows, ifnull(sum(${bytesOf(columns)}), 0) AS bytes,
           ifnull(sum(${blanks.map((each) => `ifnull(${each}, 0)`).join(' + ') || '0'}), 0) AS blank FROM ${table}`,
        )
        .get() as typeof sum;
      return {
        rows: sum.rows + found.rows,
        bytes: sum.bytes + found.bytes,
        blank: sum.blank + found.blank,
      };
    },
    { rows: 0, bytes: 0, blank: 0 },
  );
}

function inTransaction<T>(db: SqliteDatabase, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  const value = work();
  db.exec('COMMIT');
  return value;
}

const copies = (path: string): number =>
  [path, `${path}-wal`].reduce(
    (sum, file) => sum + readFileSync(file).toString('latin1').split(CANARY).length - 1,
    0,
  );

/** Begins a deletion and runs this many slices of it. */
function beginDelete(db: SqliteDatabase, id: string, slices: number): Remains {
  const rest = remains(db);
  inTransaction(db, () => upkeep(db, rest).hide(id, new Slice()));
  let left = rest.find();
  for (let n = 0; n < slices && left.keys.length > 0; n++)
    ({ left } = inTransaction(db, () => rest.drop(left)));
  return left;
}

describe('a deletion in slices', () => {
  it.each(['delete', 'expire'] as const)(
    'by %s drops and overwrites at most the bytes of a slice per transaction',
    async (by) => {
      const { store, db } = await place();
      await fill(store, 's');
      const rest = remains(db);
      inTransaction(db, () =>
        by === 'delete'
          ? upkeep(db, rest).hide('s', new Slice())
          : upkeep(db, rest).expire(['s'], { olderThan }),
      );
      let slices = 0;
      for (let left = rest.find(); left.keys.length > 0; slices++) {
        const before = kept(db);
        ({ left } = inTransaction(db, () => rest.drop(left)));
        const after = kept(db);
        expect(before.bytes - after.bytes).toBeLessThanOrEqual(SLICE_BYTES);
        expect(after.blank - before.blank).toBeLessThanOrEqual(SLICE_BYTES);
      }
      expect(slices).toBeGreaterThan(12); // 8 MB overwritten, 8 MB dropped
      expect(kept(db)).toEqual({ rows: 0, bytes: 0, blank: 0 });
    },
  );

  it('by prune drops at most the bytes of a slice per transaction', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    const care = upkeep(db, remains(db));
    let slices = 0;
    for (let isDone = false; !isDone; slices++) {
      const before = kept(db);
      const [dropping] = inTransaction(db, () => care.prune(['s'], { olderThan }));
      isDone = dropping!.isDone;
      expect(before.bytes - kept(db).bytes).toBeLessThanOrEqual(SLICE_BYTES);
    }
    expect(slices).toBeGreaterThan(4);
    expect((await store.messages('s', '')).length).toBe(4);
    expect((await store.steps('s', '')).map(({ position }) => position)).toEqual([4]);
  });

  it('hides the session from the first slice on', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    beginDelete(db, 's', 2);
    expect(kept(db).rows).toBeGreaterThan(0);
    expect(await store.find('s')).toBeNull();
    expect(await store.list({ limit: 9 })).toEqual([]);
    expect(await store.messages('s', '')).toEqual([]);
    expect(await store.blobs('s', ['h1'])).toEqual([]);
    expect(await store.size('s')).toEqual({ rows: 0, bytes: 0 });
    expect(await store.expire({ olderThan, dryRun: true })).toEqual({ sessions: 0, rows: 0 });
    expect(kept(db).rows).toBeGreaterThan(0);
  });

  it('leaves no rows to a session that is created in between, even by an earlier release', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    beginDelete(db, 's', 1);
    await store.create(session('s'));
    db.exec(
      `INSERT INTO sessions (id, owner, agent, status, phase, head, revision, token, leased_until, message_count,
       step_count, seq, last_command, created_at, updated_at)
       VALUES ('earlier', 'o', 'a', 'pending', 'idle', '{}', 0, 0, 0, 0, 0, 0, 0, '2026', '2026')`,
    );
    for (const id of ['s', 'earlier']) {
      expect(await store.messages(id, '')).toEqual([]);
      expect(await store.size(id)).toEqual({ rows: 1, bytes: 2 });
    }
    await store.prune({ olderThan });
    expect(kept(db)).toEqual({ rows: 0, bytes: 0, blank: 0 });
    for (const id of ['s', 'earlier']) expect(await store.find(id)).toMatchObject({ head: '{}' });
  });

  it.each<[string, (store: SessionStore) => Promise<unknown>]>([
    ['the same deletion again', (store) => store.delete('s')],
    ['a prune', (store) => store.prune({ olderThan })],
    ['an expiry', (store) => store.expire({ olderThan: '2000' })],
  ])('is finished by %s after a crash at any slice', async (_name, next) => {
    for (const slices of [0, 3, 11]) {
      const { path, store, db } = await place();
      await fill(store, 's');
      expect(beginDelete(db, 's', slices).keys).toHaveLength(1);
      await next(store);
      expect(kept(db)).toEqual({ rows: 0, bytes: 0, blank: 0 });
      expect(copies(path)).toBe(0);
    }
  });

  it('that two processes finish does not touch the next session under the same key', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    const left = beginDelete(db, 's', 1);
    await store.delete('s'); // frees the key, and the next session gets it
    await fill(store, 'next');
    const before = await seen(store, 'next');
    expect(inTransaction(db, () => remains(db).drop(left))).toMatchObject({ rows: 0 });
    expect(await seen(store, 'next')).toEqual(before);
  });
});

/** Copies this many slices. Returns what is left to copy. */
function beginFork(db: SqliteDatabase, slices: number): boolean | Copying | null {
  const fork = forks(db);
  let copying: boolean | Copying | null = null;
  for (let n = 0; n < slices && typeof copying !== 'boolean'; n++) {
    const before: Copying | null = copying;
    copying = inTransaction(db, () => fork.copy('s', copyOf('fork'), before));
  }
  return copying;
}

const seen = async (store: SessionStore, id: string): Promise<unknown> => ({
  messages: await store.messages(id, ''),
  steps: await store.steps(id, ''),
  blobs: await store.blobs(id, ['h0', 'h1', 'h2', 'h3']),
});

describe('a fork of a large session', () => {
  it('is copied in transactions of few bytes, and exists once it is complete', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    const fork = forks(db);
    let slices = 0;
    for (let copying: boolean | Copying | null = null; typeof copying !== 'boolean'; slices++) {
      const [before, bytes]: [Copying | null, number] = [copying, kept(db).bytes];
      copying = inTransaction(db, () => fork.copy('s', copyOf('fork'), before));
      expect(kept(db).bytes - bytes).toBeLessThanOrEqual(SLICE_BYTES);
      if (copying !== true) expect(await store.find('fork')).toBeNull();
    }
    expect(slices).toBeGreaterThan(4);
    expect(await seen(store, 'fork')).toEqual(await seen(store, 's'));
    expect(remains(db).find().keys).toEqual([]);
  });

  it('takes one transaction if the session is small', async () => {
    const { store, db } = await place();
    await store.create(session('s'));
    expect(beginFork(db, 1)).toBe(true);
    expect(await store.find('fork')).toMatchObject({ id: 'fork', phase: 'idle' });
  });

  it('is removed by the next upkeep if its process died, but not while it may be alive', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    const { rows } = kept(db);
    expect(beginFork(db, 3)).toMatchObject({ key: 2 });
    await store.create(session('other'));
    expect(await store.messages('other', '')).toEqual([]);
    await store.delete('other');
    expect(kept(db).rows).toBeGreaterThan(rows);
    db.exec('UPDATE remains SET lease_end = lease_end - 61000');
    await store.prune({ olderThan: '2000' });
    expect(kept(db).rows).toBe(rows);
    expect(await store.list({ limit: 9 })).toHaveLength(1);
  });

  it('fails if its process stalled for too long, and its rows are removed', async () => {
    const { store, db } = await place();
    await fill(store, 's');
    const { rows } = kept(db);
    const copying = beginFork(db, 3) as Copying;
    db.exec('UPDATE remains SET lease_end = lease_end - 61000');
    await store.delete('nothing');
    expect(() => forks(db).copy('s', copyOf('fork'), copying)).toThrow(/stalled .* Fork again/);
    expect(kept(db).rows).toBe(rows);
  });

  it.each<[string, (store: SessionStore) => Promise<unknown>]>([
    ['its source is deleted', (store) => store.delete('s')],
    ['its id is taken', (store) => store.create(session('fork'))],
  ])('returns false and leaves no rows if %s in between', async (_name, meanwhile) => {
    const { store, db } = await place();
    await fill(store, 's');
    const copying = beginFork(db, 3) as Copying;
    await meanwhile(store);
    expect(inTransaction(db, () => forks(db).copy('s', copyOf('fork'), copying))).toBe(false);
    await store.delete('s');
    expect(kept(db)).toEqual({ rows: 0, bytes: 0, blank: 0 });
  });

  it('has all large values of its steps if its source is pruned at any slice', async () => {
    for (let slices = 1; slices < 7; slices++) {
      const { store, db } = await place();
      await fill(store, 's');
      const copying = beginFork(db, slices);
      if (typeof copying === 'boolean') break;
      await store.prune({ olderThan });
      const fork = forks(db);
      let left: boolean | Copying | null = copying;
      while (typeof left !== 'boolean') {
        const before: Copying | null = left;
        left = inTransaction(db, () => fork.copy('s', copyOf('fork'), before));
      }
      const steps = await store.steps('fork', '');
      const positions = steps.map(({ position }) => position);
      expect(positions).toEqual([0, 1, 2, 3, 4].slice(-positions.length));
      const hashes = (await store.blobs('fork', ['h0', 'h1', 'h2', 'h3'])).map(({ hash }) => hash);
      if (steps.length > 1) expect(hashes).toEqual(['h0', 'h1', 'h2', 'h3']);
      expect(hashes).toEqual(expect.arrayContaining(['h1', 'h3']));
      expect(await store.messages('fork', '')).toHaveLength(4);
    }
  });
});
