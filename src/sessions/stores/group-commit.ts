import { AgentError } from '../../errors/agent-error.ts';
import { busyWaitMs } from './sqlite/sqlite-busy.ts';

/** Most writes in one transaction, so that no caller waits long for the first of many. */
const LARGEST_GROUP = 256;
/** Milliseconds after which a transaction is committed. The rest follows in the next turn of the event loop. */
const LONGEST_TURN_MS = 20;

export interface Transactions {
  begin(): void;
  commit(): void;
  rollback(): void;
  /** Creates the error for the caller of the operation. */
  failed(operation: string, cause: unknown): AgentError;
  /** Whether another process is writing, so that the transaction has to be tried again. */
  isBusy(error: unknown): boolean;
  /** How long a write is tried while another process is writing, in milliseconds. */
  readonly timeoutMs: number;
}

export interface GroupCommit {
  /**
   * Runs `write` in a transaction with others of this turn of the event loop, in order, and resolves after the commit.
   * A write that throws an `AgentError` must not have written anything. A write that is rolled back runs again.
   */
  add<T>(operation: string, write: () => T): Promise<T>;
}

interface Entry {
  readonly operation: string;
  readonly write: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly addedAt: number;
  /** Whether the write was part of a failed group and now gets its own transaction. */
  isAlone: boolean;
}

type Outcome = { readonly value: unknown } | { readonly refusal: AgentError };

export function groupCommit(transactions: Transactions): GroupCommit {
  const later: (fn: () => void) => unknown =
    (globalThis as { setImmediate?: (fn: () => void) => unknown }).setImmediate ??
    ((fn) => setTimeout(fn, 0));
  let waiting: Entry[] = [];
  let isScheduled = false;
  let busyTries = 0;

  const schedule = (): void => {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    if (busyTries > 0) setTimeout(flush, busyWaitMs(busyTries - 1));
    else later(flush);
  };

  const flush = (): void => {
    isScheduled = false;
    const group = waiting.splice(0, waiting[0]?.isAlone ? 1 : LARGEST_GROUP);
    try {
      transactions.begin();
    } catch (error) {
      failedToBegin(group, error);
      return schedule();
    }
    try {
      const outcomes = outcomesOf(group);
      transactions.commit();
      busyTries = 0;
      for (const [i, outcome] of outcomes.entries()) settle(group[i], outcome);
      putBack(group.slice(outcomes.length));
    } catch (error) {
      transactions.rollback();
      failedInside(group, error);
    }
    schedule();
  };

  const putBack = (entries: readonly Entry[]): void => {
    if (entries.length > 0) waiting = [...entries, ...waiting];
  };

  const failedToBegin = (group: readonly Entry[], error: unknown): void => {
    if (transactions.isBusy(error)) return waitForTurn(group, error);
    for (const entry of group) entry.reject(transactions.failed(entry.operation, error));
  };

  const failedInside = (group: readonly Entry[], error: unknown): void => {
    const [only] = group;
    if (transactions.isBusy(error)) waitForTurn(group, error);
    else if (only && group.length === 1) only.reject(transactions.failed(only.operation, error));
    else {
      for (const entry of group) entry.isAlone = true;
      putBack(group);
    }
  };

  const waitForTurn = (group: readonly Entry[], error: unknown): void => {
    busyTries += 1;
    const now = performance.now();
    const isLate = ({ addedAt }: Entry): boolean => now - addedAt >= transactions.timeoutMs;
    for (const entry of group.filter(isLate))
      entry.reject(transactions.failed(entry.operation, error));
    putBack(group.filter((entry) => !isLate(entry)));
  };

  return {
    add: (operation, write) =>
      new Promise((resolve, reject) => {
        const addedAt = performance.now();
        waiting.push({ operation, write, resolve, reject, addedAt, isAlone: false });
        schedule();
      }),
  };
}

/** Runs the writes until the turn takes too long, and returns their outcomes. */
function outcomesOf(group: readonly Entry[]): readonly Outcome[] {
  const endsAt = performance.now() + LONGEST_TURN_MS;
  const outcomes: Outcome[] = [];
  for (const entry of group) {
    outcomes.push(attempt(entry));
    if (performance.now() >= endsAt) break;
  }
  return outcomes;
}

function attempt({ write }: Entry): Outcome {
  try {
    return { value: write() };
  } catch (error) {
    if (AgentError.is(error)) return { refusal: error };
    throw error;
  }
}

function settle(entry: Entry | undefined, outcome: Outcome): void {
  if ('refusal' in outcome) entry?.reject(outcome.refusal);
  else entry?.resolve(outcome.value as never);
}
