import { AgentError } from '../../../errors/agent-error.ts';
import { storeClosed } from '../store-errors.ts';

export type KeyValueEntry = readonly [key: string, value: string];
/** A change of one key. A null value removes the key, even if it does not exist. */
export type KeyValueChange = readonly [key: string, value: string | null];

export interface KeyValueRange {
  /** First key, inclusive. */
  readonly from: string;
  /** End of the range, exclusive. */
  readonly before: string;
  /** Whether the largest key comes first. */
  readonly reverse: boolean;
  readonly limit: number;
}

/**
 * Minimal interface of a database that stores sessions. Keys are ASCII and sort by their bytes; values are text. When
 * `write` resolves, its changes are durable and visible to every later read.
 */
export interface KeyValueDriver {
  readonly name: string;
  /** Returns the entries that exist, in any order. */
  get(keys: readonly string[]): readonly KeyValueEntry[] | Promise<readonly KeyValueEntry[]>;
  list(range: KeyValueRange): readonly KeyValueEntry[] | Promise<readonly KeyValueEntry[]>;
  /**
   * Makes all changes atomically if the key of `check` still has that value (null: does not exist). Otherwise makes
   * none and returns false.
   */
  write(changes: readonly KeyValueChange[], check: KeyValueChange): boolean | Promise<boolean>;
  /**
   * Returns milliseconds since the epoch, for leases. Default: the clock of this machine. The clock may be changed,
   * because each process also measures how long a lease was not renewed.
   */
  now?(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** Driver as the store uses it: closed once, with every failure as an `AgentError`. */
export interface KeyValues {
  get(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  list(range: KeyValueRange): Promise<readonly KeyValueEntry[]>;
  write(changes: readonly KeyValueChange[], check: KeyValueChange): Promise<boolean>;
  now(): Promise<number>;
  close(): Promise<void>;
}

export function keyValues(driver: KeyValueDriver): KeyValues {
  let closing: Promise<void> | null = null;
  const ask = async <T>(operation: string, call: () => T | Promise<T>): Promise<T> => {
    if (closing) throw storeClosed(driver.name);
    try {
      return await call();
    } catch (error) {
      throw AgentError.is(error) ? error : failed(driver.name, operation, error);
    }
  };
  return {
    get: (keys) => ask('get', async () => new Map(keys.length > 0 ? await driver.get(keys) : [])),
    list: (range) => ask('list', () => (range.limit > 0 ? driver.list(range) : [])),
    write: (changes, check) => ask('write', () => driver.write(changes, check)),
    now: () => ask('now', () => driver.now?.() ?? Date.now()),
    close: () => (closing ??= Promise.resolve(driver.close?.())),
  };
}

const failed = (name: string, operation: string, cause: unknown): AgentError =>
  new AgentError(
    'store_failed',
    `The ${name} store failed at ${operation}: ${cause instanceof Error ? cause.message : 'no reason given'}`,
    { cause, details: { operation } },
  );
