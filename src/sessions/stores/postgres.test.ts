import { describe, it } from 'vitest';
import { address, newSchema, open } from '../../../test/setup/postgres-stores.ts';
import { sessionStoreContract } from '../../testing/session-store-contract.ts';
import type { SessionStore } from '../session-store.ts';

describe('the PostgreSQL store keeps the contract', () => {
  for (const { name, run } of sessionStoreContract(() => open())) it(name, run);
});

describe('the contract also holds where the server isolates transactions more strictly', () => {
  const strict = (): SessionStore => {
    const connectionString = address({ options: '-c default_transaction_isolation=serializable' });
    return open({ connectionString, schema: newSchema() });
  };
  for (const { name, run } of sessionStoreContract(strict)) it(name, run);
});
