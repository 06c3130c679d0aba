import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import { decisiveEvaluation } from '../../trace/evaluations.ts';
import type { TraceRow } from './trace-rows.ts';

export interface MatrixCell {
  readonly evaluation: ContinuationEvaluation | null;
  readonly isDecisive: boolean;
}

export interface MatrixRow {
  readonly name: string;
  /** One cell for each column. */
  readonly cells: readonly MatrixCell[];
}

export interface Matrix {
  readonly columns: readonly TraceRow[];
  readonly evaluations: readonly MatrixRow[];
}

/** Maximum visible steps. */
export const maxColumns = 24;

/** Returns the newest steps, or those around an older selected one. */
export function columnsOf(
  rows: readonly TraceRow[],
  selected: number | undefined,
): readonly TraceRow[] {
  if (rows.length <= maxColumns) return rows;
  const newest = rows.length - maxColumns;
  const at = rows.findIndex(({ number }) => number === selected);
  if (at < 0 || at >= newest) return rows.slice(newest);
  const from = Math.max(0, Math.min(newest, at - maxColumns / 2));
  return rows.slice(from, from + maxColumns);
}

/** Returns every criterion of these steps, in evaluation order. */
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
