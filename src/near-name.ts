/** Longest name that is compared, because the cost grows with the square of the length. */
const MAX_LENGTH = 40;

/** Returns the name that is most likely meant, with at most two typos and at most one in two characters; null if there is none. */
export function nearName(given: string, names: readonly string[]): string | null {
  if (given.length === 0 || given.length > MAX_LENGTH) return null;
  let best: string | null = null;
  let least = Math.min(2, Math.floor(given.length / 2)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - given.length) >= least) continue;
    const typos = typosBetween(given.toLowerCase(), name.toLowerCase());
    if (typos < least) [best, least] = [name, typos];
  }
  return best;
}

/** Counts missing, added, wrong and swapped characters. */
function typosBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
