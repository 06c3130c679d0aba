import { isRecord } from '../json.ts';
import { pointerTo } from '../json-pointer.ts';
import type { Redactor } from './make-redactor.ts';

/** A value as it may be shown, and where something in it is hidden. */
export interface Redacted<T> {
  readonly value: T;
  /**
   * JSON pointers: at each of them, or below, something is hidden. At most 32 of at most 200 characters: where there
   * are more, they are those of the outermost keys, and `['']` means anywhere.
   */
  readonly hidden: readonly string[];
}

const MOST_PATHS = 32;
const MOST_LENGTH = 200;
const nothing: readonly string[] = [];

/** Redacts a value and returns the paths of the hidden parts, so that a reader can tell hidden from absent. */
export function redactedWithPaths<T>(redactor: Redactor, value: T): Redacted<T> {
  const shown = redactor.value(value);
  if (shown === value) return { value, hidden: nothing };
  const found = new HiddenPaths();
  compare(value, shown, { path: '', isCut: false }, redactor, found);
  return { value: shown, hidden: found.paths };
}

class HiddenPaths {
  readonly #all = new Set<string>();
  /** Of the outermost keys. */
  readonly #outer = new Set<string>();

  add(path: string): void {
    if (this.#all.size <= MOST_PATHS) this.#all.add(path);
    if (this.#outer.size <= MOST_PATHS) this.#outer.add(/^(?:\/[^/]*)?/.exec(path)?.[0] ?? '');
  }

  get paths(): readonly string[] {
    const fitting = [this.#all, this.#outer].find(({ size }) => size <= MOST_PATHS);
    return fitting ? [...fitting] : [''];
  }
}

/** Works with custom redactors too, whatever they write in place of a hidden value. */
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
      // the name itself is hidden, or stands no more
      else found.add(below(at, redactor.text(key)).path);
    if (Object.keys(shown).length > entries.length) found.add(at.path);
  } else found.add(at.path);
}

/** A pointer; where it was cut, all below it has the same. */
interface Place {
  readonly path: string;
  readonly isCut: boolean;
}

function below(at: Place, key: string | number): Place {
  if (at.isCut) return at;
  const path = pointerTo(at.path, key);
  return path.length <= MOST_LENGTH ? { path, isCut: false } : { ...at, isCut: true };
}
