import { AgentError } from '../../../errors/agent-error.ts';
import type { CallRow } from '../../session-rows.ts';
import type { Commit, CommitReceipt } from '../../session-store.ts';
import type { KeyValueChange, KeyValues } from './key-value-driver.ts';
import { commandKey, rowKey, under } from './key-value-layout.ts';
import { runEntries } from './key-value-runs.ts';
import { change, rowsIn } from './key-value-session.ts';
import { waitEntries } from './key-value-waits.ts';
import {
  committed,
  ended,
  isNewCommit,
  nextCall,
  receiptOf,
  refusedStart,
} from '../session-rules.ts';
import { staleOwner } from '../store-errors.ts';

/** Writes a commit in two round trips: one read of everything that it depends on, and one write. */
export const commitTo = (kv: KeyValues, commit: Commit): Promise<CommitReceipt> => {
  const { sessionId: id, calls = [] } = commit;
  const callKey = ({ executionId, callId }: Pick<CallRow, 'executionId' | 'callId'>): string =>
    rowKey(id, 'call', executionId, callId);
  const appended: KeyValueChange[] = [
    ...(commit.messages ?? []).map((row) =>
      entry(rowKey(id, 'message', row.agentId, row.position), row),
    ),
    ...(commit.steps ?? []).map((row) => entry(rowKey(id, 'step', row.agentId, row.position), row)),
    ...(commit.compactions ?? []).map((row) =>
      entry(rowKey(id, 'compaction', row.agentId, row.position), row),
    ),
  ];
  const blobs = (commit.blobs ?? []).map((row) =>
    entry(rowKey(id, 'blob', row.hash, row.scope), row),
  );
  const runs = commit.run ? [rowKey(id, 'run', commit.run.executionId)] : [];
  const read = [...calls.map(callKey), ...appended.map(keyOf), ...blobs.map(keyOf), ...runs];

  return change(kv, id, read, async (session, found) => {
    if (!session) throw staleOwner(commit);
    if (!isNewCommit(session.row, commit)) return { result: receiptOf(session.row) };
    const ledger = new Map<string, CallRow>();
    for (const key of calls.map(callKey)) {
      const text = found.get(key);
      if (text !== undefined) ledger.set(key, JSON.parse(text) as CallRow);
    }
    const refused = refusedStart(commit, (write) => ledger.get(callKey(write))?.state);
    if (refused) throw refused;
    const taken = appended.map(keyOf).find((key) => found.has(key));
    if (taken !== undefined)
      throw new AgentError('store_failed', `A row already exists at ${taken}.`);
    for (const write of calls) {
      const key = callKey(write);
      ledger.set(key, nextCall(ledger.get(key), write, commit.token));
    }
    let row = committed(session.row, commit);
    if (commit.end)
      row = ended(
        row,
        commit.end,
        await hasMore(kv, commit, row.executionId ?? '', ledger, callKey),
      );
    return {
      result: receiptOf(row),
      next: { ...session, row, ...(row.worker === null && { waitMs: 0 }) },
      rows: [
        ...appended,
        ...blobs.filter(([key]) => !found.has(key)).filter(isFirst),
        ...[...ledger].map(([key, call]) => entry(key, call)),
        ...waitEntries(commit),
        ...(commit.run ? runEntries(row, commit.run, found) : []),
        ...(commit.agents ?? []).map((agent) =>
          entry(rowKey(id, 'agent', agent.executionId, agent.agentId), agent),
        ),
        ...(commit.events ?? []).map((event) =>
          entry(rowKey(id, 'event', event.executionId, event.seq), event),
        ),
        ...doneKeys(commit).map((key): KeyValueChange => [key, null]),
      ],
    };
  });
};

/** Whether there is more to do: a command after the end, or an answer after a pause. */
async function hasMore(
  kv: KeyValues,
  commit: Commit,
  executionId: string,
  ledger: ReadonlyMap<string, CallRow>,
  keyOfCall: (call: CallRow) => string,
): Promise<boolean> {
  const id = commit.sessionId;
  if (commit.end === 'handover') return false;
  if (commit.end === 'ended') {
    const left = await kv.list({ ...under('of', id, 'command'), limit: 2 });
    return left.some(([key]) => !doneKeys(commit).includes(key));
  }
  const calls = await rowsIn<CallRow>(kv, under('of', id, 'call', executionId));
  return calls.some((call) => (ledger.get(keyOfCall(call)) ?? call).state === 'decided');
}

/** Returns both possible keys of the finished command, because a commit has its number but not its kind. */
const doneKeys = ({ sessionId, done }: Commit): readonly string[] =>
  done === undefined
    ? []
    : (['message', 'resume'] as const).map((kind) => commandKey(sessionId, { kind, number: done }));

const entry = (key: string, row: object): KeyValueChange => [key, JSON.stringify(row)];

const keyOf = ([key]: KeyValueChange): string => key;

const isFirst = ([key]: KeyValueChange, i: number, all: readonly KeyValueChange[]): boolean =>
  all.findIndex(([other]) => other === key) === i;
