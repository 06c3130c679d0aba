import { MOST_CHARS } from './bounded.ts';

/** A text that comes in pieces: what is known of it from its beginning without a hole, and what came too early. */
export interface GrowingText {
  readonly text: string;
  /** Where the next piece begins, by what its pieces are counted in. */
  readonly next: number;
  readonly ahead: Readonly<Record<number, string>>;
}

/** Earlier servers number pieces; later ones say how many characters come before, so that pieces may be of any size. */
export type Counted = 'pieces' | 'characters';

/** More than come while a refill is on its way; what is dropped here is asked for as if it were lost. */
const MOST_AHEAD = 256;

export const noText: GrowingText = Object.freeze({ text: '', next: 0, ahead: Object.freeze({}) });

/** With one more piece; the same object if it is known. Pieces that overlap are put together, and none shows twice. */
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
  if (before === undefined && Object.keys(ahead).length >= MOST_AHEAD) return known;
  return { ...known, ahead: { ...ahead, [at]: piece } };
}

/** Something came behind a hole. */
export const hasHole = ({ ahead }: GrowingText): boolean => {
  for (const _ in ahead) return true;
  return false;
};

const inOrder = (ahead: GrowingText['ahead']): [number, string][] =>
  Object.entries(ahead)
    .map(([from, part]): [number, string] => [Number(from), part])
    .toSorted(([a], [b]) => a - b);

/** A text beyond what a screen takes stays as it is until the finished message comes. */
const longer = (text: string, more: string): string =>
  text.length < MOST_CHARS ? text + more : text;
