/** A schema that cannot be used; the message says why. */
export class SchemaProblem extends Error {}

/** Where a value stands: made into text only for what is wrong. */
export interface Place {
  readonly above: Place | null;
  readonly key: string | number;
}

/** The keys or items of one value that a schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Seen = Set<string | number>;

/** Whether a value fits. It tells what is wrong to `run`, and what it has looked at to `seen`, if asked to. */
export type Check = (value: unknown, at: Place | null, run: Run, seen: Seen | null) => boolean;

/** Sentences that one check collects: a model reads them, so a few are enough. */
const MOST_PROBLEMS = 10;
const MOST_PATH = 200;

interface Known {
  readonly fits: boolean;
  readonly seen: Seen | null;
  readonly isTold: boolean;
}

/** One check of one value. */
export class Run {
  readonly problems: string[] = [];
  #quiet = 0;
  readonly #known = new Map<object, Map<unknown, Known | null>>();

  /** Whether the first problem is enough, because the list is full. */
  get isQuiet(): boolean {
    return this.#quiet > 0 || this.problems.length >= MOST_PROBLEMS;
  }

  /** Notes what is wrong; gives false. */
  fail(at: Place | null, problem: string): false {
    if (!this.isQuiet) this.problems.push(at === null ? problem : `${pathOf(at)}: ${problem}`);
    return false;
  }

  /** Asks without telling. */
  quietly(ask: () => boolean): boolean {
    this.#quiet += 1;
    try {
      return ask();
    } finally {
      this.#quiet -= 1;
    }
  }

  /**
   * The check of a schema that is referred to, once for each value: schemas that refer to each other would else double
   * the work with every level. A schema that leads back to itself with the same value adds nothing.
   */
  once(schema: object, check: Check, value: unknown, at: Place | null, seen: Seen | null): boolean {
    const values = this.#known.get(schema) ?? new Map<unknown, Known | null>();
    this.#known.set(schema, values);
    const known = values.get(value);
    if (known === null) return true;
    const isEnough = known?.fits
      ? seen === null || known.seen !== null
      : known?.isTold || this.isQuiet;
    if (known && isEnough) {
      addAll(seen, known.seen);
      return known.fits;
    }
    values.set(value, null);
    const own: Seen | null = seen && new Set();
    const isTold = !this.isQuiet;
    const fits = check(value, at, this, own);
    values.set(value, { fits, seen: own, isTold });
    addAll(seen, own);
    return fits;
  }
}

/** Asks for every item; only until the first that fails, where one is enough. */
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

/** Where both are there. */
export function addAll(seen: Seen | null, more: Seen | null): void {
  if (seen && more) for (const key of more) seen.add(key);
}

/** Dotted, and cut in the middle where keys are long. */
function pathOf(at: Place): string {
  const keys: string[] = [];
  for (let place: Place | null = at; place !== null; place = place.above)
    keys.push(typeof place.key === 'string' ? shortKey(place.key) : String(place.key));
  const path = keys.toReversed().join('.');
  return path.length <= MOST_PATH ? path : `…${path.slice(-MOST_PATH)}`;
}

/** A key that comes from outside, short enough for a sentence. */
export const shortKey = (key: string): string => (key.length <= 80 ? key : `${key.slice(0, 79)}…`);
