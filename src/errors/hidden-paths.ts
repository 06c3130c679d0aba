import { isRecord } from '../json.ts';
import { pointerTo } from '../json-pointer.ts';
import type { Redactor } from './make-redactor.ts';

/** A redacted value, and the positions of hidden parts. */
export interface Redacted<T> {
  readonly value: T;
  /**
   * JSON pointers to hidden parts, or to a parent of them. At most 32 pointers of at most 200 characters: if there are
   * more, the pointers of the outermost keys, or `['']` for anywhere.
   */
  readonly hidden: readonly string[];
}

const MAX_PATHS = 32;
const MAX_LENGTH = 200;
const nothing: readonly string[] = [];

/** Redacts a value and returns the paths of the hidden parts, so that a reader can distinguish hidden from absent. */
export function redactedWithPaths<T>(redactor: Redactor, value: T): Redacted<T> {
  const shown = redactor.value(value);
  if (shown === value) return { value, hidden: nothing };
  const found = new HiddenPaths();
  compare(value, shown, { path: '', isTruncated: false }, redactor, found);
  return { value: shown, hidden: found.paths };
}

class HiddenPaths {
  readonly #all = new Set<string>();
  /** Paths of the outermost keys. */
  readonly #outer = new Set<string>();

  add(path: string): void {
    if (this.#all.size <= MAX_PATHS) this.#all.add(path);
    if (this.#outer.size <= MAX_PATHS) this.#outer.add(/^(?:\/[^/]*)?/.exec(path)?.[0] ?? '');
  }

  get paths(): readonly string[] {
    const fitting = [this.#all, this.#outer].find(({ size }) => size <= MAX_PATHS);
    return fitting ? [...fitting] : [''];
  }
}

/** Compares with the original, so it works with any custom redactor. */
function compare(
  value: unknown,
  shown: unknown,
  at: Place,
  redactor: Redactor,
  found: HiddenPaths,
): void {
  if (value === shown) return;
  if (Array.isArray(value) && Array.isArray(shown) && value.length === shown.length)
    value.forEach((item, i) => compare(item, shown[i], below(at, i), redactor, found));
  else if (isRecord(value) && isRecord(shown)) {
    const entries = Object.entries(value);
    for (const [key, inner] of entries)
      if (Object.hasOwn(shown, key)) compare(inner, shown[key], below(at, key), redactor, found);
      // the name itself is redacted or removed
      else found.add(below(at, redactor.text(key)).path);
    if (Object.keys(shown).length > entries.length) found.add(at.path);
  } else found.add(at.path);
}

/** A pointer. If it is truncated, everything below it has the same pointer. */
interface Place {
  readonly path: string;
  readonly isTruncated: boolean;
}

function below(at: Place, key: string | number): Place {
  if (at.isTruncated) return at;
  const path = pointerTo(at.path, key);
  return path.length <= MAX_LENGTH ? { path, isTruncated: false } : { ...at, isTruncated: true };
}
