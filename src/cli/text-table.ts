import type { Paint } from './paint.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

/** Formats rows in columns. Widths are those of the plain text, so `dress` styles cells afterwards. */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  dress: (text: string, column: number, row: number) => string = (text) => text,
): string[] {
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[], dressed: (text: string, i: number) => string): string =>
    columns
      .map(({ align }, i) => {
        const text = cells[i] ?? '';
        const space = ' '.repeat(Math.max(0, (widths[i] ?? 0) - text.length));
        const shown = dressed(text, i);
        return align === 'right' ? space + shown : shown + space;
      })
      .join('  ')
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      (text) => (text === '' ? '' : paint('dim', text)),
    ),
    ...rows.map((row, r) => line(row, (text, i) => dress(text, i, r))),
  ];
}
