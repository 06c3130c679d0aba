import { MAX_CHARS } from './bounded.ts';

/** A text that arrives in chunks: `text` is complete from its beginning, `ahead` has chunks after a gap. */
export interface GrowingText {
  readonly text: string;
  /** Start of the next chunk, in the unit of `Counted`. */
  readonly next: number;
  readonly ahead: Readonly<Record<number, string>>;
}

/**
 * Unit of chunk positions. Earlier servers number chunks; later ones send the characters before, so chunks may have
 * any size.
 */
export type Counted = 'pieces' | 'characters';

/** Maximum chunks after a gap, more than arrive during a refill. Dropped ones are requested again. */
const MAX_AHEAD = 256;

export const noText: GrowingText = Object.freeze({ text: '', next: 0, ahead: Object.freeze({}) });

/** Adds a chunk; returns the same object if it is known. Overlapping chunks are merged. */
export function withPiece<T extends GrowingText>(
  known: T,
  at: number,
  piece: string,
  counted: Counted,
): T {
  const endOf = (from: number, part: string): number =>
    from + (counted === 'pieces' ? 1 : part.length);
  if (endOf(at, piece) <= known.next) return known;
  if (at > known.next) return withAhead(known, at, piece);
  let { text, next } = known;
  const add = (from: number, part: string): void => {
    text = longer(text, counted === 'pieces' ? part : part.slice(next - from));
    next = endOf(from, part);
  };
  add(at, piece);
  const ahead: Record<number, string> = {};
  for (const [from, part] of inOrder(known.ahead)) {
    if (from > next) ahead[from] = part;
    else if (endOf(from, part) > next) add(from, part);
  }
  return { ...known, text, next, ahead };
}

function withAhead<T extends GrowingText>(known: T, at: number, piece: string): T {
  const { ahead } = known;
  const before = ahead[at];
  if (before !== undefined && before.length >= piece.length) return known;
  if (before === undefined && Object.keys(ahead).length >= MAX_AHEAD) return known;
  return { ...known, ahead: { ...ahead, [at]: piece } };
}

/** Whether a chunk arrived after a gap. */
export const hasHole = ({ ahead }: GrowingText): boolean => {
  for (const _ in ahead) return true;
  return false;
};

const inOrder = (ahead: GrowingText['ahead']): [number, string][] =>
  Object.entries(ahead)
    .map(([from, part]): [number, string] => [Number(from), part])
    .toSorted(([a], [b]) => a - b);

/** Appends text. A text beyond the limit stays unchanged until the finished message arrives. */
const longer = (text: string, more: string): string =>
  text.length < MAX_CHARS ? text + more : text;
