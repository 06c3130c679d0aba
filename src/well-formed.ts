/**
 * Returns JSON in which no text has half of a character pair: `U+FFFD` takes its place. A text that was cut inside of an
 * emoji has one, and providers reject every request with such a text. Returns the same value if there is none.
 */
export function wellFormed<T>(value: T): T {
  // the same type: only texts change
  return repaired(value) as T;
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(half, '\ufffd');
  if (Array.isArray(value)) return repairedList(value);
  return isPlain(value) ? repairedRecord(value) : value;
}

function repairedList(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (const [i, item] of list.entries()) {
    const good = repaired(item);
    if (good !== item) (copy ??= [...list])[i] = good;
  }
  return copy ?? list;
}

function repairedRecord(record: Readonly<Record<string, unknown>>): object {
  const changed = new Map<string, unknown>();
  for (const key in record) {
    const good = repaired(record[key]);
    if (good !== record[key] || repaired(key) !== key) changed.set(key, good);
  }
  if (changed.size === 0) return record;
  const entries = Object.entries(record).map(([key, item]) => [
    repaired(key),
    changed.has(key) ? changed.get(key) : item,
  ]);
  return Object.fromEntries(entries) as object;
}

/** Addresses and bytes are no plain objects, and stay as they are. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const half = /\p{Surrogate}/gu;
