import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import {
  aboutToPause,
  address,
  cutOff,
  newSchema,
  open,
  query,
  schema,
  schemas,
  server,
} from '../../../../test/setup/postgres-stores.ts';
import { makeHarness, message, step } from '../../../testing/store-contract/store-harness.ts';
import { postgresStore } from './index.ts';

/** Returns everything that logging an error might print. */
function everythingIn(error: unknown): string {
  const seen: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    seen.push(at.message, String(at.stack), JSON.stringify({ ...at }));
  return seen.join('\n');
}

describe('starting', () => {
  it('lets many stores start at the same time on an empty database', async () => {
    const shared = newSchema();
    const stores = Array.from({ length: 16 }, () => open({ schema: shared, poolSize: 2 }));
    const owners = await Promise.all(
      stores.map(async (store) => (await makeHarness(store, 60).idle()).owner),
    );
    for (const owner of owners)
      expect(await stores[0]!.list({ owner, limit: 9 })).toMatchObject([{ owner }]);
    const versions = await query(`select version from "${shared}".migrations order by version`);
    expect(versions).toEqual(versions.map((_row, i) => ({ version: i + 1 })));
  });

  it('rejects tables of a newer release that excludes this one, and works again once they are compatible', async () => {
    const newer = newSchema();
    await open({ schema: newer }).find('x');
    await query(`insert into "${newer}".migrations (version) values (98)`);
    expect(await open({ schema: newer }).find('x')).toBeNull();
    await query(`insert into "${newer}".migrations (version, oldest) values (99, 99)`);
    const store = open({ schema: newer });
    await expect(store.find('x')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/version 99.*Upgrade onward/) as string,
    });
    await query(`delete from "${newer}".migrations where version = 99`);
    expect(await store.find('x')).toBeNull();
  });

  it('finds no session for an id with a NUL character', async () => {
    expect(await open().find('a\0b')).toBeNull();
  });

  it('connects on first use', async () => {
    const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/none' });
    await store.close();
  });

  it.each(['', 'Onward', '1a', 'a-b', 'a"b', 'ä', 'a'.repeat(64)])(
    'rejects %j as schema',
    (name) => {
      expect(() => postgresStore({ schema: name })).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    },
  );

  it.each([
    [{ poolSize: 0 }, 'poolSize'],
    [{ maxBytes: -1 }, 'maxBytes'],
    [{ durability: 'disk' as 'power' }, 'durability'],
    [{ connectionString: 5 as unknown as string }, 'connectionString'],
  ])('rejects %j', (options, named) => {
    expect(() => postgresStore(options)).toThrow(named);
  });

  it('accepts an SQL keyword as schema', async () => {
    await query('drop schema if exists "select" cascade');
    schemas.push('select');
    const harness = makeHarness(open({ schema: 'select' }), 60);
    const { commit } = await harness.held();
    expect(await commit({ messages: [message(0)] })).toMatchObject({ phase: 'open' });
  });

  it('needs no CREATE privilege once the tables exist', async () => {
    const made = newSchema();
    const role = `role_${made}`;
    await open({ schema: made }).find('x');
    await query(`create role ${role}`);
    try {
      await query(`grant usage on schema "${made}" to ${role}`);
      await query(`grant all on all tables in schema "${made}" to ${role}`);
      await query(`grant all on all sequences in schema "${made}" to ${role}`);
      const connectionString = address({ options: `-c role=${role}` });
      const store = open({ connectionString, schema: made });
      const { commit } = await makeHarness(store, 60).held();
      await commit({ messages: [message(0)] });
      await store.close();
    } finally {
      await query(`drop owned by ${role}`);
      await query(`drop role ${role}`);
    }
  });
});

describe('connections', () => {
  it('rejects the call of a terminated connection; the next call works, and so does the same commit', async () => {
    const store = open();
    const { id, next } = await aboutToPause(store);
    const commit = next({ messages: [message(0)] });
    expect(await cutOff(id, () => store.commit(commit))).toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('could not commit') as string,
    });
    expect(await store.messages(id, '')).toEqual([]);
    await store.commit(commit);
    expect(await store.messages(id, '')).toEqual([message(0)]);
  });

  it('rejects a transaction whose connection is terminated; the next one works', async () => {
    const store = open();
    const { id } = await makeHarness(store, 60).idle();
    expect(await cutOff(id, () => store.delete(id))).toMatchObject({ code: 'store_failed' });
    expect(await store.delete(id)).toBe(true);
  });

  it('survives the termination of idle connections', async () => {
    const store = open();
    await Promise.all(Array.from({ length: 5 }, () => store.find('x')));
    await query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and state = 'idle'`,
      [schema],
    );
    await wait(100);
    expect(await store.find('x')).toBeNull();
  });

  it.each([
    ['a refused connection', 'postgres://bob:hunter2secret@127.0.0.1:1/db', 'ECONNREFUSED'],
    ['an invalid address', 'postgres://bob:hunter2secret@:x/db', 'ERR_INVALID_URL'],
    ['a libpq connection string', 'host=127.0.0.1 user=bob password=hunter2secret', ''],
  ])(
    'keeps secrets of the connection string out of errors: %s',
    async (_, connectionString, code) => {
      const store = open({ connectionString });
      const error: unknown = await store.find('x').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'store_failed' });
      expect((error as Error).message).toContain(`could not find a session: ${code}`);
      expect(everythingIn(error)).not.toContain('hunter2');
    },
  );

  it('keeps secrets and names of a refused login out of messages', async () => {
    const url = new URL(server.url);
    url.username = 'nobody_we_know';
    url.password = 'hunter2secret';
    url.pathname = '/no_such_database';
    const store = open({ connectionString: url.href });
    const error: unknown = await store.find('x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed' });
    expect((error as Error).message).toMatch(/the server (refused the login|has no such database)/);
    expect((error as Error).message).not.toContain('nobody_we_know');
    expect(everythingIn(error)).not.toContain('hunter2');
  });

  it.each([
    ['a NUL character', 'a secret body\0'],
    ['a lone surrogate', 'a secret body\ud800'],
  ])('rejects %s, and keeps the body out of the error', async (_, body) => {
    const store = open();
    const { id, commit } = await makeHarness(store, 60).held();
    const error: unknown = await commit({ messages: [message(0, { body })] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'store_failed' });
    expect(everythingIn(error)).not.toContain('secret');
    expect(await store.find(id)).toMatchObject({ revision: 0 });
  });

  it('rejects a position that is taken, writes nothing of the commit, and keeps the body out of the error', async () => {
    const store = open();
    const { id, commit } = await makeHarness(store, 60).held();
    await commit({ messages: [message(0)] });
    const twice = commit({ steps: [step(0)], messages: [message(0, { body: '"secret"' })] });
    const error: unknown = await twice.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed', details: { code: '23505' } });
    expect(everythingIn(error)).not.toContain('secret');
    expect(await store.steps(id, '')).toEqual([]);
    expect(await store.find(id)).toMatchObject({ revision: 1 });
  });

  it('uses a given pool and leaves it open', async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 });
    const store = open({ pool });
    const { commit } = await makeHarness(store, 60).held();
    await commit({ messages: [message(0)] });
    expect(pool.totalCount).toBeGreaterThan(0);
    await store.close();
    await expect(store.find('x')).rejects.toMatchObject({ code: 'store_failed' });
    expect(pool.listenerCount('error')).toBe(0);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
    expect(() => postgresStore({ pool, connectionString: 'x' })).toThrow('not both');
  });

  it('finishes running calls on close, even if closed twice, and rejects later calls', async () => {
    const store = open();
    await store.find('x');
    const running = store.list({ limit: 1 });
    await Promise.all([store.close(), store.close()]);
    expect(await running).toBeInstanceOf(Array);
    for (const late of [store.find('x'), store.delete('x'), store.list({ limit: 1 })])
      await expect(late).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('closed') as string,
      });
  });
});
