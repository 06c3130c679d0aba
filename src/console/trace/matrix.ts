import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import { decisiveEvaluation } from '../../trace/evaluations.ts';
import type { TraceRow } from './trace-rows.ts';

export interface MatrixCell {
  readonly evaluation: ContinuationEvaluation | null;
  readonly isDecisive: boolean;
}

export interface MatrixRow {
  readonly name: string;
  /** One for each column. */
  readonly cells: readonly MatrixCell[];
}

export interface Matrix {
  readonly columns: readonly TraceRow[];
  readonly evaluations: readonly MatrixRow[];
}

/** More steps than this are not shown at once. */
export const mostColumns = 24;

/** The newest steps, or those around the selected one where it is older. */
export function columnsOf(
  rows: readonly TraceRow[],
  selected: number | undefined,
): readonly TraceRow[] {
  if (rows.length <= mostColumns) return rows;
  const newest = rows.length - mostColumns;
  const at = rows.findIndex(({ number }) => number === selected);
  if (at < 0 || at >= newest) return rows.slice(newest);
  const from = Math.max(0, Math.min(newest, at - mostColumns / 2));
  return rows.slice(from, from + mostColumns);
}

/** Every criterion that spoke in these steps, as they were asked. */
export function matrixOf(columns: readonly TraceRow[]): Matrix {
  const names = new Set<string>();
  // the newest outcome has the best order
  for (const { outcome } of columns.toReversed())
    for (const { criterion } of outcome?.evaluations ?? []) names.add(criterion);
  const byColumn = columns.map(({ outcome }) => ({
    decisive: decisiveEvaluation(outcome),
    evaluations: new Map(outcome?.evaluations.toReversed().map((e) => [e.criterion, e])),
  }));
  const evaluations = [...names].map((name) => ({
    name,
    cells: byColumn.map(({ decisive, evaluations: said }) => {
      const isDecisive = decisive?.criterion === name;
      return { evaluation: (isDecisive ? decisive : said.get(name)) ?? null, isDecisive };
    }),
  }));
  return { columns, evaluations };
}
