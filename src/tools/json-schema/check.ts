/** A schema that cannot be used; the message says why. */
export class SchemaProblem extends Error {}

/** Position of a value; formatted only for an error. */
export interface Place {
  readonly above: Place | null;
  readonly key: string | number;
}

/** The keys or items of one value that a schema has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Seen = Set<string | number>;

/** Whether a value matches. Reports problems to `run`, and evaluated parts to `seen`, if given. */
export type Check = (value: unknown, at: Place | null, run: Run, seen: Seen | null) => boolean;

/** Maximum problems that one check collects: a model reads them, so a few are enough. */
const MAX_PROBLEMS = 10;
const MAX_PATH = 200;

interface Known {
  readonly fits: boolean;
  readonly seen: Seen | null;
  readonly isReported: boolean;
}

/** One check of one value. */
export class Run {
  readonly problems: string[] = [];
  #quiet = 0;
  readonly #known = new Map<object, Map<unknown, Known | null>>();

  /** Whether the first problem is enough, because the list is full. */
  get isQuiet(): boolean {
    return this.#quiet > 0 || this.problems.length >= MAX_PROBLEMS;
  }

  /** Adds a problem; returns false. */
  fail(at: Place | null, problem: string): false {
    if (!this.isQuiet) this.problems.push(at === null ? problem : `${pathOf(at)}: ${problem}`);
    return false;
  }

  /** Checks without reporting. */
  quietly(ask: () => boolean): boolean {
    this.#quiet += 1;
    try {
      return ask();
    } finally {
      this.#quiet -= 1;
    }
  }

  /**
   * Runs the check of a referenced schema once for each value: schemas that refer to each other would otherwise
   * double the work at every level. A schema that refers to itself with the same value adds nothing.
   */
  once(schema: object, check: Check, value: unknown, at: Place | null, seen: Seen | null): boolean {
    const values = this.#known.get(schema) ?? new Map<unknown, Known | null>();
    this.#known.set(schema, values);
    const known = values.get(value);
    if (known === null) return true;
    const isEnough = known?.fits
      ? seen === null || known.seen !== null
      : known?.isReported || this.isQuiet;
    if (known && isEnough) {
      addAll(seen, known.seen);
      return known.fits;
    }
    values.set(value, null);
    const own: Seen | null = seen && new Set();
    const isReported = !this.isQuiet;
    const fits = check(value, at, this, own);
    values.set(value, { fits, seen: own, isReported });
    addAll(seen, own);
    return fits;
  }
}

/** Checks every item; stops at the first failure if one is enough. */
export function every<T>(
  items: readonly T[],
  run: Run,
  check: (item: T, at: number) => boolean,
): boolean {
  let fits = true;
  for (let at = 0; at < items.length; at++) {
    if (!check(items[at] as T, at)) fits = false;
    if (!fits && run.isQuiet) break;
  }
  return fits;
}

/** Adds evaluated parts if both exist. */
export function addAll(seen: Seen | null, more: Seen | null): void {
  if (seen && more) for (const key of more) seen.add(key);
}

/** Returns a dotted path, shortened in the middle if keys are long. */
function pathOf(at: Place): string {
  const keys: string[] = [];
  for (let place: Place | null = at; place !== null; place = place.above)
    keys.push(typeof place.key === 'string' ? shortKey(place.key) : String(place.key));
  const path = keys.toReversed().join('.');
  return path.length <= MAX_PATH ? path : `…${path.slice(-MAX_PATH)}`;
}

/** Returns a key from outside, short enough for a sentence. */
export const shortKey = (key: string): string => (key.length <= 80 ? key : `${key.slice(0, 79)}…`);
