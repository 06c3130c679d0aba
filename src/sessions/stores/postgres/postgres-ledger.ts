import type { CallState } from '../../session-rows.ts';
import type { CallWrite, Commit } from '../../session-store.ts';
import { startConflict } from '../store-errors.ts';

/** Net effect of one commit on one call, merged from its writes. */
export interface LedgerLine {
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: Exclude<CallState, 'decided'>;
  readonly starts: number;
  /** Whether the first of these starts may follow an earlier one. */
  readonly again: boolean;
  readonly result: string | null;
}

/** {@link LedgerLine} as columns. */
export const ledgerColumns =
  '"executionId" text, "callId" text, tool text, state text, starts integer, again boolean, result text';

/** SQL condition: whether a line (`r`) may not start the existing call (`c`). */
export const isRefused =
  "r.starts > 0 and (c.state = 'committed' or (c.state = 'started' and not r.again))";

/** Merges the writes to one line per call, because a statement cannot write a row twice. */
export function ledgerLines(commit: Commit): readonly LedgerLine[] {
  const lines = new Map<string, LedgerLine>();
  for (const write of commit.calls ?? []) {
    const key = JSON.stringify([write.executionId, write.callId]);
    const line = lines.get(key);
    lines.set(key, line ? nextLine(line, write, commit) : firstLine(write));
  }
  return [...lines.values()];
}

function firstLine(write: CallWrite): LedgerLine {
  const { executionId, callId, tool, state, again = false, result = null } = write;
  const starts = state === 'started' ? 1 : 0;
  // a model may use a tool name with characters that a column cannot hold
  const name = tool.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
  return { executionId, callId, tool: name, state, starts, again, result };
}

function nextLine(line: LedgerLine, write: CallWrite, commit: Commit): LedgerLine {
  const { state, again = false, result = null } = write;
  if (state === 'waiting') return line;
  if (state === 'committed') return line.state === 'committed' ? line : { ...line, state, result };
  if (line.state === 'committed' || (line.starts > 0 && !again))
    throw startConflict(commit, line.callId);
  return { ...line, state, starts: line.starts + 1, again: line.starts > 0 ? line.again : again };
}
