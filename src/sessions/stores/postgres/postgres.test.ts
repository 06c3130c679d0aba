import { afterAll, describe, it } from 'vitest';
import { postgresPooler, type PostgresPooler } from '../../../../test/setup/postgres-pooler.ts';
import { address, newSchema, open } from '../../../../test/setup/postgres-stores.ts';
import { sessionStoreContract } from '../../../testing/session-store-contract.ts';
import type { SessionStore } from '../../session-store.ts';

describe('the contract of the PostgreSQL store', () => {
  for (const { name, run } of sessionStoreContract(() => open())) it(name, run);
});

describe('the contract of the PostgreSQL store through a pooler with two connections and serializable isolation', () => {
  let pooler: PostgresPooler | undefined;
  const strict = async (): Promise<SessionStore> => {
    const options = '-c default_transaction_isolation=serializable';
    pooler = await postgresPooler(address({ options }), 2);
    return open({ connectionString: pooler.url, schema: newSchema() });
  };
  afterAll(() => pooler?.close());
  for (const { name, run } of sessionStoreContract(strict)) it(name, run);
});
