import { isRecord, sameJson } from '../../json.ts';

/** A field whose value differs; undefined where it is missing. */
export interface ValueEdit {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Most fields that are named; the last one then names what contains the others. */
const MOST_EDITS = 50;

/** Returns the innermost fields that differ, in the order of the keys. */
export function argumentEdits(before: unknown, after: unknown): readonly ValueEdit[] {
  const edits: ValueEdit[] = [];
  compare(before, after, '', edits);
  return edits.length <= MOST_EDITS ? edits : [{ field: '', before, after }];
}

function compare(before: unknown, after: unknown, path: string, edits: ValueEdit[]): void {
  if (edits.length > MOST_EDITS || sameJson(before, after)) return;
  const isList = Array.isArray(before) && Array.isArray(after);
  if (!isList && !(isRecord(before) && isRecord(after))) {
    edits.push({ field: path, before, after });
    return;
  }
  const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const inner = path === '' ? key : `${path}.${key}`;
    const valueOf = (holder: Record<string, unknown>): unknown =>
      Object.hasOwn(holder, key) ? holder[key] : undefined;
    compare(valueOf(a), valueOf(b), inner, edits);
  }
}
