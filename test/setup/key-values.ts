import type { KeyValueDriver } from '../../src/sessions/stores/key-value/index.ts';

/** Each method waits a moment, like over a network, so that concurrent calls overlap. */
export function mapDriver(): KeyValueDriver {
  const entries = new Map<string, string>();
  return {
    name: 'map',
    async get(keys) {
      await Promise.resolve();
      return keys.flatMap((key) => {
        const value = entries.get(key);
        return value === undefined ? [] : [[key, value] as const];
      });
    },
    async list({ from, before, reverse, limit }) {
      await Promise.resolve();
      const found = [...entries].filter(([key]) => key >= from && key < before);
      return found.toSorted(([a], [b]) => (a < b === reverse ? 1 : -1)).slice(0, limit);
    },
    async write(changes, [key, expected]) {
      await Promise.resolve();
      if ((entries.get(key) ?? null) !== expected) return false;
      for (const [changed, value] of changes)
        if (value === null) entries.delete(changed);
        else entries.set(changed, value);
      return true;
    },
  };
}
