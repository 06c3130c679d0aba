import type { SessionStore } from '../sessions/session-store.ts';
import { attemptCases } from './store-contract/attempt-cases.ts';
import { commandCases } from './store-contract/command-cases.ts';
import { commitCases } from './store-contract/commit-cases.ts';
import { droppingCases } from './store-contract/dropping-cases.ts';
import { compactionCases } from './store-contract/compaction-cases.ts';
import { endingCases } from './store-contract/ending-cases.ts';
import { expiryCases } from './store-contract/expiry-cases.ts';
import { forkCases } from './store-contract/fork-cases.ts';
import { leaseCases } from './store-contract/lease-cases.ts';
import { ledgerCases } from './store-contract/ledger-cases.ts';
import { parkingCases } from './store-contract/parking-cases.ts';
import { queryCases } from './store-contract/query-cases.ts';
import { readingCases } from './store-contract/reading-cases.ts';
import {
  makeHarness,
  type StoreHarness,
  type StoreContractCase,
} from './store-contract/store-harness.ts';
import { recoveryCases } from './store-contract/recovery-cases.ts';
import { repeatCases } from './store-contract/repeat-cases.ts';
import { sessionCases } from './store-contract/session-cases.ts';
import { sizeCases } from './store-contract/size-cases.ts';
import { waitCases } from './store-contract/wait-cases.ts';
import { workerCases } from './store-contract/worker-cases.ts';

export type { StoreContractCase } from './store-contract/store-harness.ts';

/**
 * Returns the requirements of every {@link SessionStore} as cases for any test runner: `for (const { name, run } of
 * sessionStoreContract(() => myStore())) it(name, run)`. The store is opened once, need not be empty, and stays open.
 * `leaseMs` is the lease that cases let expire.
 */
export function sessionStoreContract(
  open: () => SessionStore | Promise<SessionStore>,
  options: { readonly leaseMs?: number } = {},
): readonly StoreContractCase[] {
  let harness: Promise<StoreHarness> | undefined;
  const prepare = async (): Promise<StoreHarness> =>
    makeHarness(await open(), options.leaseMs ?? 60);
  return [
    ...sessionCases,
    ...commandCases,
    ...repeatCases,
    ...leaseCases,
    ...attemptCases,
    ...parkingCases,
    ...recoveryCases,
    ...commitCases,
    ...endingCases,
    ...ledgerCases,
    ...readingCases,
    ...forkCases,
    ...compactionCases,
    ...droppingCases,
    ...expiryCases,
    ...sizeCases,
    ...waitCases,
    ...workerCases,
    ...queryCases,
  ].map(({ name, run }) => ({ name, run: async () => run(await (harness ??= prepare())) }));
}
