/** Reads a text table: one row per line, cells between bars. */
export const readRows = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
