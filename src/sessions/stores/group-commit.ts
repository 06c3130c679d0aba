import { AgentError } from '../../errors/agent-error.ts';

/** What one transaction holds at most, so that nobody waits long for the first of many. */
const LARGEST_GROUP = 256;

export interface Transactions {
  begin(): void;
  commit(): void;
  rollback(): void;
  /** The error for whoever asked for the operation. */
  failed(operation: string, cause: unknown): AgentError;
}

export interface GroupCommit {
  /**
   * Runs `write` in a transaction with others of this turn of the event loop, in order, and resolves when that is
   * committed. A write that throws an `AgentError` must not have written anything.
   */
  add<T>(operation: string, write: () => T): Promise<T>;
}

interface Entry {
  readonly operation: string;
  readonly write: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly refusal: AgentError };

export function groupCommit(transactions: Transactions): GroupCommit {
  const later: (fn: () => void) => unknown =
    (globalThis as { setImmediate?: (fn: () => void) => unknown }).setImmediate ??
    ((fn) => setTimeout(fn, 0));
  let waiting: Entry[] = [];
  let isScheduled = false;

  const flush = (): void => {
    const group = waiting.slice(0, LARGEST_GROUP);
    waiting = waiting.slice(LARGEST_GROUP);
    isScheduled = waiting.length > 0;
    if (isScheduled) later(flush);
    together(group);
  };

  /** One that breaks down takes the transaction with it, so each then gets its own. */
  const together = (group: readonly Entry[]): void => {
    try {
      transactions.begin();
    } catch (error) {
      for (const { operation, reject } of group) reject(transactions.failed(operation, error));
      return;
    }
    let outcomes: Outcome[];
    try {
      outcomes = group.map(attempt);
      transactions.commit();
    } catch (error) {
      transactions.rollback();
      const [only] = group;
      if (only && group.length === 1) only.reject(transactions.failed(only.operation, error));
      else for (const entry of group) together([entry]);
      return;
    }
    for (const [i, entry] of group.entries()) settle(entry, outcomes[i]);
  };

  return {
    add: (operation, write) =>
      new Promise((resolve, reject) => {
        waiting.push({ operation, write, resolve, reject });
        if (isScheduled) return;
        isScheduled = true;
        later(flush);
      }),
  };
}

function attempt({ write }: Entry): Outcome {
  try {
    return { value: write() };
  } catch (error) {
    if (AgentError.is(error)) return { refusal: error };
    throw error;
  }
}

function settle({ resolve, reject }: Entry, outcome: Outcome | undefined): void {
  if (outcome && 'refusal' in outcome) reject(outcome.refusal);
  else resolve(outcome?.value as never);
}
