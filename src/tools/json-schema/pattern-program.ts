import type { PatternNode } from './parse-pattern.ts';

/** One state of the automaton: it consumes a character, tests an edge, or splits. */
export type Op =
  | { readonly op: 'eat'; readonly source: string; next: number }
  | { readonly op: 'edge'; readonly of: '^' | '$' | '\\b' | '\\B'; next: number }
  | { readonly op: 'look'; readonly program: Program; readonly isNegative: boolean; next: number }
  | { readonly op: 'split'; readonly to: number[] }
  | { readonly op: 'end' };

/** An automaton that reads in one direction; its first state is `start`. */
export interface Program {
  readonly ops: readonly Op[];
  readonly start: number;
  readonly isBackward: boolean;
}

/** Maximum states of one pattern, for memory; the number of open states is bounded at run time. */
const MAX_STATES = 10_000;

/** Creates the automaton of a tree, reading forward or backward; null if it is too large. */
export function programOf(tree: PatternNode, isBackward: boolean): Program | null {
  const ops: Op[] = [{ op: 'end' }];
  const add = (op: Op): number => {
    if (ops.length >= MAX_STATES) throw new TooLarge();
    return ops.push(op) - 1;
  };

  /** Returns the first state of `node` when `next` follows it. */
  const made = (node: PatternNode, next: number): number => {
    if (node.kind === 'one') return add({ op: 'eat', source: node.source, next });
    if (node.kind === 'edge') return add({ op: 'edge', of: node.of, next });
    if (node.kind === 'any')
      return add({ op: 'split', to: node.items.map((item) => made(item, next)) });
    if (node.kind === 'all')
      // create the last part in reading order first
      return (isBackward ? node.items : node.items.toReversed()).reduce(
        (behind, item) => made(item, behind),
        next,
      );
    if (node.kind === 'repeat') return repeated(node, next);
    // a lookbehind reads forward, a lookahead backward: both end at the same position
    const program = programOf(node.item, !node.isBehind);
    if (program === null) throw new TooLarge();
    return add({ op: 'look', program, isNegative: node.isNegative, next });
  };
  const repeated = (
    { item, least, most }: Extract<PatternNode, { kind: 'repeat' }>,
    next: number,
  ): number => {
    let first = next;
    if (most === Infinity) {
      const loop: Op = { op: 'split', to: [next] };
      first = add(loop);
      loop.to.push(made(item, first));
    } else
      for (let i = least; i < most; i++)
        first = add({ op: 'split', to: [next, made(item, first)] });
    for (let i = 0; i < least; i++) {
      const before = made(item, first);
      if (before === first) break; // nothing to repeat
      first = before;
    }
    return first;
  };

  try {
    return { start: made(tree, 0), ops, isBackward };
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

class TooLarge extends Error {}

/** Maximum characters after a part of variable length in a plain pattern: the matcher tries them for each length. */
const MAX_AFTER = 32;

/**
 * Whether the engine's own backtracking matcher is linear too: it starts at one position, and at most one part has a
 * variable length, with few characters after it.
 */
export function isPlain(tree: PatternNode): boolean {
  if (tree.kind !== 'all') return false;
  const [first, ...rest] = tree.items;
  if (first?.kind !== 'edge' || first.of !== '^') return false;
  const open = rest.findIndex((item) => lengthOf(item) === null);
  if (open === -1) return true;
  const behind = rest.slice(open + 1).map(lengthOf);
  const part = rest[open];
  return (
    part?.kind === 'repeat' &&
    lengthOf(part.item) !== null &&
    behind.reduce<number>((sum, length) => sum + (length ?? Infinity), 0) <= MAX_AFTER
  );
}

/** Returns how many characters a part reads; null if that varies. */
function lengthOf(node: PatternNode): number | null {
  if (node.kind === 'one') return 1;
  if (node.kind === 'edge') return 0;
  if (node.kind === 'repeat') {
    const length = node.least === node.most ? lengthOf(node.item) : null;
    return length === null ? null : length * node.least;
  }
  if (node.kind !== 'all') return null;
  const lengths = node.items.map(lengthOf);
  return lengths.includes(null)
    ? null
    : lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0);
}
