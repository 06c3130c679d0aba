import type { CommitReceipt, SessionStore } from '../../session-store.ts';
import { revisionConflict, staleOwner, startConflict } from '../store-errors.ts';
import { commitArguments, preparedCommit, type PreparedCommit } from './postgres-commit-arrays.ts';
import { REFUSED_START } from './postgres-commit-migration.ts';
import { runsIn, withRuns } from './postgres-run-writes.ts';
import { commitGroups } from './postgres-commit-groups.ts';
import { isOfStatement, sqlState, storeFailed } from './postgres-errors.ts';
import { isRefused, ledgerColumns } from './postgres-ledger.ts';
import type { Database } from './postgres-pool.ts';

const TRIES = 3;
/** How long a group waits for a locked row, in milliseconds. Each of its commits then waits by itself. */
const GROUP_PATIENCE_MS = 20;

type Written = CommitReceipt & { readonly sessionId: string };

/**
 * Writes commits. Those of several sessions that arrive while earlier ones are being written go into one statement.
 * Whatever prevents one of them from being written, such as a locked row, then affects no other: each is written alone.
 */
export function commitWriter(db: Database, schema: string): SessionStore['commit'] {
  const write = (patience: string, commits: readonly PreparedCommit[]): Promise<Written[]> => {
    const { list, values } = commitArguments(commits);
    const plain = `select "sessionId", phase, "stopReason", "pauseReason"${db.durably}
      from ${schema}.write_commits((select ${patience}), ${list})`;
    const runs = runsIn(commits);
    return runs === null
      ? db.run<Written>('commit', plain, values, { isInside: true })
      : db.run<Written>('commit', withRuns(schema, plain, values.length + 1), [...values, runs], {
          isInside: true,
        });
  };
  const [alone, together] = [db.patience(), db.patience(GROUP_PATIENCE_MS)];

  /** Writes one commit. Only if it wrote nothing does a second statement read the reason. */
  async function writeAlone(prepared: PreparedCommit): Promise<CommitReceipt> {
    for (let tries = 0; tries < TRIES; tries++) {
      const [written] = await write(alone, [prepared]).catch((error: unknown) => {
        if (sqlState(error) === REFUSED_START) return [];
        throw error;
      });
      const receipt = written ? receiptOf(written) : await whyNot(db, schema, prepared);
      if (receipt) return receipt;
    }
    throw storeFailed('commit', new Error('the session kept changing during the commit'));
  }

  const groups = commitGroups<PreparedCommit, CommitReceipt>({
    keyOf: ({ commit }) => commit.sessionId,
    sizeOf: ({ size }) => size,
    async write(commits) {
      try {
        const rows = await write(together, commits);
        const receipts = new Map(rows.map((row) => [row.sessionId, receiptOf(row)]));
        const inOrder = commits.flatMap(({ commit }) => receipts.get(commit.sessionId) ?? []);
        return inOrder.length === commits.length ? inOrder : null;
      } catch (error) {
        if (isOfStatement(error)) return null;
        throw error;
      }
    },
    writeAlone,
  });

  return (commit) =>
    db.during('commit', { session: commit.sessionId }, async () =>
      groups.add(preparedCommit(commit)),
    );
}

const receiptOf = ({ phase, stopReason, pauseReason }: CommitReceipt): CommitReceipt => ({
  phase,
  stopReason,
  pauseReason,
});

/**
 * Returns the receipt of a commit that was written before, or null if it may be tried again. Otherwise throws the
 * reason.
 */
async function whyNot(
  db: Database,
  schema: string,
  { commit, lines }: PreparedCommit,
): Promise<CommitReceipt | null> {
  type Found = CommitReceipt & {
    readonly token: number;
    readonly revision: number;
    readonly worker: string | null;
    readonly refused: string | null;
  };
  const [found] = await db.run<Found>(
    'commit',
    `select s.token::float8 as token, s.revision, s.worker, s.phase, s.stop_reason as "stopReason",
      s.pause_reason as "pauseReason", (
        select c.call_id from json_to_recordset($2::json) as r(${ledgerColumns})
        join ${schema}.calls c
          on c.session_id = s.id and c.execution_id = r."executionId" and c.call_id = r."callId"
        where ${isRefused} limit 1) as refused
    from ${schema}.sessions s where s.id = $1`,
    [commit.sessionId, JSON.stringify(lines)],
    { isRepeatable: true, isInside: true },
  );
  if (found?.token !== commit.token) throw staleOwner(commit);
  if (commit.revision < found.revision) return receiptOf(found);
  if (found.worker === null) throw staleOwner(commit);
  if (commit.revision > found.revision) throw revisionConflict(commit, found.revision);
  if (found.refused !== null) throw startConflict(commit, found.refused);
  return null;
}
