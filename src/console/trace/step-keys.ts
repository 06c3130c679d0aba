import type { TraceRow } from './trace-rows.ts';

interface Key {
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

/** Returns the step that a key selects; null for other keys. */
export function stepFor(key: Key, rows: readonly TraceRow[], at: number): number | null {
  const to = goal(key, at, rows.length);
  if (to === null || to === at) return null;
  return rows[to]?.number ?? null;
}

function goal({ key, altKey, ctrlKey, metaKey }: Key, at: number, count: number): number | null {
  if (altKey || ctrlKey || metaKey) return null;
  switch (key) {
    case 'ArrowDown':
    case 'j':
    case 'J':
      return at + 1;
    case 'ArrowUp':
    case 'k':
    case 'K':
      return at - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
