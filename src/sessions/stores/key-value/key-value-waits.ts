import type { CallRow } from '../../session-rows.ts';
import type { Commit } from '../../session-store.ts';
import type { KeyValueChange, KeyValueEntry, KeyValues } from './key-value-driver.ts';
import { rowKey, under } from './key-value-layout.ts';
import { rowsIn } from './key-value-session.ts';

export type Wait = Pick<CallRow, 'executionId' | 'callId'>;

export const waitEntry = (sessionId: string, { executionId, callId }: Wait): KeyValueEntry => [
  rowKey(sessionId, 'wait', callId, executionId),
  JSON.stringify({ executionId, callId }),
];

/** Returns entries that record which calls waited in which execution. They stay as long as the session exists. */
export const waitEntries = ({ sessionId, calls = [] }: Commit): readonly KeyValueChange[] =>
  calls.filter(({ state }) => state === 'waiting').map((call) => waitEntry(sessionId, call));

/** Whether a call with this id has ever waited in another execution of the session. */
export async function hasWaitedElsewhere(
  kv: KeyValues,
  sessionId: string,
  { executionId, callId }: Wait,
): Promise<boolean> {
  const isOther = (row: Wait): boolean => row.executionId !== executionId;
  const [wait] = await rowsIn<Wait>(
    kv,
    { ...under('of', sessionId, 'wait', callId), limit: 1 },
    isOther,
  );
  if (wait) return true;
  // release 0.1.0 recorded neither waits nor executions: infer them from its calls, as long as those exist
  const calls = await rowsIn<CallRow>(
    kv,
    under('of', sessionId, 'call'),
    (row) => row.callId === callId && isOther(row) && (row.starts === 0 || row.answer !== null),
  );
  const executions = calls.map((row) => rowKey(sessionId, 'execution', row.executionId));
  return executions.length > 0 && (await kv.get(executions)).size < executions.length;
}
