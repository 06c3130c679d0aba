import type { CommitBatch } from './commit-batch.ts';
import type { ExecutionWriter } from './execution-writer.ts';
import { runRecord } from './run-record.ts';
import type { RunRow } from './session-rows.ts';

/** Returns the record of the execution that these batches end or pause; null if they do neither. */
export async function runRow(
  parts: readonly CommitBatch[],
  { execution, rows }: Pick<ExecutionWriter, 'execution' | 'rows'>,
  endedAt: string,
): Promise<RunRow | null> {
  const end = parts.findLast((part) => part.end !== undefined)?.end;
  if (end === undefined || end === 'handover') return null;
  const states = parts.flatMap((part) => [...part.states]);
  const root = states.findLast(([{ callId }]) => callId === null)?.[1];
  const record = root && runRecord(root.state, { endedAt, model: execution.model ?? null });
  if (!record) return null;
  const { details, ...row } = record;
  return { ...row, body: await rows.plain('run', details) };
}
