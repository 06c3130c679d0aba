import type { SessionRow, SessionStore } from 'onward/stores';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';

/** Where sessions are stored, as plain data for other processes. */
export type StorePlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly schema: string;
      /** Short if answers get lost, so that the loss is detected soon. */
      readonly statementTimeoutMs?: number;
    };

export const openStore = (place: StorePlace): SessionStore =>
  place.kind === 'sqlite'
    ? sqliteStore({ path: place.path })
    : postgresStore({
        connectionString: place.url,
        schema: place.schema,
        poolSize: 4,
        ...(place.statementTimeoutMs && { statementTimeoutMs: place.statementTimeoutMs }),
      });

/** Removes the schema from a shared server. The caller removes the folder of a SQLite file. */
export async function removeStore(place: StorePlace): Promise<void> {
  if (place.kind === 'sqlite') return;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  await client.query(`drop schema if exists ${place.schema} cascade`);
  await client.end();
}

const WRITES = ['create', 'accept', 'decide', 'request', 'commit'] as const;

/** Reports every write of the store, before it starts and after it resolves, and every claimed session. */
export function watchedStore(
  store: SessionStore,
  reached: (write: string, when: 'before' | 'after') => void,
  claimed: (row: SessionRow) => void,
): SessionStore {
  const watched = {
    ...store,
    async claim(...args: Parameters<SessionStore['claim']>): Promise<SessionRow | null> {
      reached('claim', 'before');
      const row = await store.claim(...args);
      if (row) claimed(row);
      reached('claim', 'after');
      return row;
    },
  };
  for (const name of WRITES) {
    const write = store[name] as (...args: unknown[]) => Promise<unknown>; // has one of several signatures
    const around = async (...args: unknown[]): Promise<unknown> => {
      reached(name, 'before');
      const result = await write(...args);
      reached(name, 'after');
      return result;
    };
    Object.assign(watched, { [name]: around });
  }
  return watched;
}
