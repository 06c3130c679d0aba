import { AgentError } from '../../../errors/agent-error.ts';
import { storeClosed } from '../store-errors.ts';

export type KeyValueEntry = readonly [key: string, value: string];
/** Null removes the key, also one that is not there. */
export type KeyValueChange = readonly [key: string, value: string | null];

export interface KeyValueRange {
  /** From this key on. */
  readonly from: string;
  /** Only keys below. */
  readonly before: string;
  /** Largest key first, instead of smallest. */
  readonly reverse: boolean;
  readonly limit: number;
}

/**
 * The least that a database must do for sessions to live in it. Keys are ASCII and sort by their bytes; values are
 * text. What `write` has resolved with is durable, and every later read sees it.
 */
export interface KeyValueDriver {
  readonly name: string;
  /** The entries that are there, in any order. */
  get(keys: readonly string[]): readonly KeyValueEntry[] | Promise<readonly KeyValueEntry[]>;
  list(range: KeyValueRange): readonly KeyValueEntry[] | Promise<readonly KeyValueEntry[]>;
  /** Makes all changes at once if the value of `check` is still that one (null: not there), else none and says false. */
  write(changes: readonly KeyValueChange[], check: KeyValueChange): boolean | Promise<boolean>;
  /**
   * Milliseconds since the epoch, for leases. Default: the clock of this machine. It may be set forward and back: each
   * process also counts for itself how long a lease was not renewed.
   */
  now?(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** The driver as the store uses it: closed once, and every failure typed. */
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
