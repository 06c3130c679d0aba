import type { Commit } from '../../session-store.ts';
import { hasProgress } from '../attempt-rules.ts';
import { numberArray, textArray } from './postgres-arrays.ts';
import { commitLayout, type CommitTable } from './postgres-commit-migration.ts';
import { refusedValue } from './postgres-errors.ts';
import { ledgerLines, type LedgerLine } from './postgres-ledger.ts';

/** A commit with the rows that it writes to the ledger. */
export interface PreparedCommit {
  readonly commit: Commit;
  readonly lines: readonly LedgerLine[];
  /** Number of characters of its texts. */
  readonly size: number;
  readonly rows: Readonly<Partial<Record<CommitTable, TableRows>>>;
}

interface TableRows {
  readonly texts: (string | null)[];
  readonly numbers: (number | null)[];
}

type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Throws if a text cannot be stored, so that a group never contains one. */
export function preparedCommit(commit: Commit): PreparedCommit {
  const { sessionId: session_id, token, root, done, agents = [] } = commit;
  const lines = ledgerLines(commit);
  const rows: Partial<Record<CommitTable, TableRows>> = {};
  let size = 0;
  const add = (table: CommitTable, row: Row): void => {
    const into = (rows[table] ??= { texts: [], numbers: [] });
    for (const name of commitLayout[table].texts) {
      const text = (row[name] ?? null) as string | null;
      if (text !== null) size += checked(text).length;
      into.texts.push(text);
    }
    for (const name of commitLayout[table].numbers) {
      const number = row[name] ?? null;
      into.numbers.push(number === null ? null : Number(number));
    }
  };
  add('sessions', {
    id: session_id,
    at: commit.at,
    execution_id: root?.executionId,
    head: root?.head,
    status: root?.status,
    ending: commit.end,
    token,
    revision: commit.revision,
    message_count: root?.messageCount,
    step_count: root?.stepCount,
    requires: root && (root.requires ?? 1),
    seq: commit.seq,
    done,
    has_progress: hasProgress(commit),
    ends_quarantine: commit.endsQuarantine === true,
  });
  for (const { agentId: agent_id, ...row } of commit.messages ?? [])
    add('messages', { session_id, agent_id, ...row });
  for (const { agentId: agent_id, executionId: execution_id, ...row } of commit.steps ?? [])
    add('steps', { session_id, agent_id, execution_id, ...row });
  for (const { agentId: agent_id, toPosition: to_position, ...row } of commit.compactions ?? [])
    add('compactions', { session_id, agent_id, to_position, ...row });
  for (const row of lastOfEach(agents))
    add('agents', {
      session_id,
      execution_id: row.executionId,
      agent_id: row.agentId,
      call_id: row.callId,
      head: row.head,
      message_count: row.messageCount,
      step_count: row.stepCount,
    });
  for (const { executionId: execution_id, callId: call_id, ...line } of lines)
    add('calls', { session_id, execution_id, call_id, token, ...line });
  for (const { executionId: execution_id, ...row } of commit.events ?? [])
    add('events', { session_id, execution_id, ...row });
  for (const row of commit.blobs ?? []) add('blobs', { session_id, ...row });
  if (done !== undefined) add('done', { session_id, number: done });
  return { commit, lines, size, rows };
}

/** Returns the arguments for `write_commits`, by name, and their values. A table without rows has none. */
export function commitArguments(commits: readonly PreparedCommit[]): {
  readonly list: string;
  readonly values: readonly Uint8Array[];
} {
  const list: string[] = [];
  const values: Uint8Array[] = [];
  for (const table of tables) {
    const all = commits.flatMap(({ rows }) => rows[table] ?? []);
    if (all.length === 0) continue;
    values.push(textArray(all.flatMap(({ texts }) => texts)));
    list.push(`p_${table} => $${values.length}::text[]`);
    if (commitLayout[table].numbers.length === 0) continue;
    values.push(numberArray(all.flatMap(({ numbers }) => numbers)));
    list.push(`n_${table} => $${values.length}::bigint[]`);
  }
  return { list: list.join(', '), values };
}

const tables = Object.keys(commitLayout) as readonly CommitTable[];

/** The binary format would replace half of a character pair, where JSON is refused by the server. */
function checked(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw refusedValue('a text has half of a character pair');
  return text;
}

function lastOfEach(agents: NonNullable<Commit['agents']>): NonNullable<Commit['agents']> {
  if (agents.length < 2) return agents;
  const byKey = agents.map((row) => [JSON.stringify([row.executionId, row.agentId]), row] as const);
  return [...new Map(byKey).values()];
}
