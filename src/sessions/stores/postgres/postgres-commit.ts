import type { Commit, CommitReceipt } from '../../session-store.ts';
import { hasProgress } from '../attempt-rules.ts';
import { storeFailed } from './postgres-errors.ts';
import { isRefused, ledgerColumns, ledgerLines, type LedgerLine } from './postgres-ledger.ts';
import type { Database } from './postgres-pool.ts';
import { revisionConflict, staleOwner, startConflict } from '../store-errors.ts';

const TRIES = 3;

/** Writes a commit in one statement. Only if it wrote nothing does a second statement read the reason. */
export async function writeCommit(
  db: Database,
  schema: string,
  commit: Commit,
): Promise<CommitReceipt> {
  const lines = ledgerLines(commit);
  const { text, values } = commitStatement(db, schema, commit, lines);
  for (let tries = 0; tries < TRIES; tries++) {
    const [written] = await db.run<CommitReceipt>('commit', text, values, {
      session: commit.sessionId,
    });
    if (written) return receiptOf(written);
    const earlier = await whyNot(db, schema, commit, lines);
    if (earlier) return earlier;
  }
  throw storeFailed('commit', new Error('the session kept changing during the commit'));
}

/** SQL fragments that insert rows from JSON into a table. */
interface RowTable {
  readonly into: string;
  readonly selected: string;
  readonly typed: string;
  readonly onConflict: string;
}

function rowTable(name: string, columns: Record<string, string>, onConflict = ''): RowTable {
  const names = Object.keys(columns);
  const snakeCase = (column: string): string =>
    column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    into: `${name} (session_id, ${names.map(snakeCase).join(', ')})`,
    selected: names.map((column) => `r."${column}"`).join(', '),
    typed: names.map((column) => `"${column}" ${columns[column]}`).join(', '),
    onConflict,
  };
}

const tables = {
  messages: rowTable('messages', {
    agentId: 'text',
    position: 'integer',
    role: 'text',
    body: 'text',
  }),
  steps: rowTable('steps', {
    agentId: 'text',
    position: 'integer',
    executionId: 'text',
    body: 'text',
    mark: 'text',
  }),
  compactions: rowTable('compactions', {
    agentId: 'text',
    position: 'integer',
    kind: 'text',
    toPosition: 'integer',
    body: 'text',
  }),
  agents: rowTable(
    'agents',
    {
      executionId: 'text',
      agentId: 'text',
      callId: 'text',
      head: 'text',
      messageCount: 'integer',
      stepCount: 'integer',
    },
    `on conflict (session_id, execution_id, agent_id) do update set call_id = excluded.call_id,
      head = excluded.head, message_count = excluded.message_count, step_count = excluded.step_count`,
  ),
  events: rowTable('events', {
    executionId: 'text',
    seq: 'integer',
    type: 'text',
    body: 'text',
  }),
  blobs: rowTable('blobs', { scope: 'text', hash: 'text', body: 'text' }, 'on conflict do nothing'),
} as const;

/**
 * Builds the statement from only the parts that the commit has, so that the few kinds of commits become a few prepared
 * statements. The phase depends only on the session's row, whose newest version is read even after a wait for its lock.
 * Refused starts depend on other rows, but only commits change those, and then the revision does not match.
 */
function commitStatement(
  { durably, patiently }: Database,
  schema: string,
  commit: Commit,
  lines: readonly LedgerLine[],
): { readonly text: string; readonly values: readonly unknown[] } {
  const { root, seq, done, end } = commit;
  const values: unknown[] = [];
  const bind = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const id = bind(commit.sessionId, 'text');
  const token = bind(commit.token, 'bigint');
  const fence = [
    `s.id = ${id}`,
    patiently,
    `s.token = ${token}`,
    `s.revision = ${bind(commit.revision, 'integer')}`,
    's.worker is not null',
  ];
  const set = ['revision = s.revision + 1'];
  if (commit.at !== undefined) set.push(`updated_at = ${bind(commit.at, 'text')}`);
  const writes: string[] = [];
  let commands = 's.commands';
  let decided = 's.decided';

  const rows = { ...commit, agents: lastOfEach(commit.agents) };
  for (const name of ['messages', 'steps', 'compactions', 'agents', 'events', 'blobs'] as const) {
    if (!rows[name]?.length) continue;
    const { into, selected, typed, onConflict } = tables[name];
    const json = bind(JSON.stringify(rows[name]), 'json');
    writes.push(`${name}_written as (
      insert into ${schema}.${into} select ${id}, ${selected}
      from fenced, json_to_recordset(${json}) as r(${typed}) ${onConflict})`);
  }
  if (commit.run) writes.push(runWritten(schema, id, bind(JSON.stringify(commit.run), 'json')));
  if (lines.length > 0) {
    const ledger = `json_to_recordset(${bind(JSON.stringify(lines), 'json')}) as r(${ledgerColumns})`;
    decided = `case when cardinality(s.decided) = 0 then s.decided else array(
      select d from unnest(s.decided) as d where not exists (select from ${ledger}
        where r."callId" = d and r."executionId" = s.execution_id and r.state <> 'waiting')) end`;
    if (lines.some(({ starts }) => starts > 0))
      fence.push(`not ${refusedStart(schema, id, ledger)}`);
    writes.push(callsWritten(schema, id, token, ledger));
  }
  if (root) {
    const executionId = bind(root.executionId, 'text');
    decided = `case when s.execution_id is distinct from ${executionId} then '{}' else ${decided} end`;
    set.push(
      `execution_id = ${executionId}`,
      `head = ${bind(root.head, 'text')}`,
      `status = ${bind(root.status, 'text')}`,
      `message_count = ${bind(root.messageCount, 'integer')}`,
      `step_count = ${bind(root.stepCount, 'integer')}`,
      `requires = ${bind(root.requires ?? 1, 'integer')}`,
    );
  }
  if (done !== undefined) {
    const number = bind(done, 'integer');
    commands = `array_remove(s.commands, ${number})`;
    set.push(`commands = ${commands}`);
    writes.push(`command_done as (
      delete from ${schema}.commands c using fenced where c.session_id = ${id} and c.number = ${number})`);
  }
  if (seq !== undefined) set.push(`seq = ${bind(seq, 'integer')}`);
  if (end === 'ended') decided = `'{}'`;
  if (decided !== 's.decided') set.push(`decided = ${decided}`);
  const tries = hasProgress(commit) ? '0' : 's.tries';
  if (end) set.push(...endOf(end, commands, decided, tries));
  else if (tries === '0') set.push('tries = 0');
  if (commit.endsQuarantine && end !== 'ended') set.push('quarantined = false');

  const fenced = `fenced as (
      update ${schema}.sessions s set ${set.join(', ')} where ${fence.join(' and ')}
      returning s.phase, s.stop_reason, s.pause_reason, s.owner, s.agent)`;
  return {
    text: `with ${[fenced, ...writes].join(', ')}
      select phase, stop_reason as "stopReason", pause_reason as "pauseReason"${durably} from fenced`,
    values,
  };
}

/** Matches a start that is not allowed. `offset 0` forces one lookup per call, however many calls the session has. */
const refusedStart = (schema: string, id: string, ledger: string): string => `exists (
    select from ${ledger}, lateral (
      select c.state from ${schema}.calls c
      where c.session_id = ${id} and c.execution_id = r."executionId" and c.call_id = r."callId"
      offset 0) as c
    where ${isRefused})`;

const callsWritten = (schema: string, id: string, token: string, ledger: string): string =>
  `calls_written as (
    insert into ${schema}.calls as c
      (session_id, execution_id, call_id, tool, state, token, starts, result)
    select ${id}, r."executionId", r."callId", r.tool, r.state,
      case when r.starts > 0 then ${token} else 0 end, r.starts, r.result
    from fenced, ${ledger}
    on conflict (session_id, execution_id, call_id) do update set
      state = excluded.state, starts = c.starts + excluded.starts, result = excluded.result,
      token = case when excluded.starts > 0 then excluded.token else c.token end
    where excluded.state <> 'waiting' and c.state <> 'committed')`;

const runWritten = (schema: string, id: string, json: string): string =>
  `run_written as (
    insert into ${schema}.runs (session_id, owner, agent, execution_id, started_at, ended_at, status, stop_reason,
      model, cost, session_cost, errors, body)
    select ${id}, fenced.owner, fenced.agent, r."executionId", r."startedAt", r."endedAt", r.status, r."stopReason",
      r.model, r.cost, r."sessionCost", r.errors, r.body
    from fenced, json_to_record(${json}) as r("executionId" text, "startedAt" text, "endedAt" text, status text,
      "stopReason" text, model text, cost float8, "sessionCost" float8, errors integer, body text)
    on conflict (session_id, execution_id) do update set started_at = excluded.started_at,
      ended_at = excluded.ended_at, status = excluded.status, stop_reason = excluded.stop_reason,
      model = excluded.model, cost = excluded.cost, session_cost = excluded.session_cost,
      errors = excluded.errors, body = excluded.body)`;

/** Returns the assignments to the session's row at the end of a run. */
function endOf(
  end: NonNullable<Commit['end']>,
  commands: string,
  decided: string,
  tries: string,
): readonly string[] {
  if (end === 'handover')
    return [
      'worker = null',
      'leased_until = null',
      'wait_ms = 0',
      `tries = greatest(0, ${tries} - 1)`,
    ];
  const hasMore =
    end === 'ended'
      ? `cardinality(${commands}) > 0`
      : `(s.stop_reason is not null or cardinality(${decided}) > 0)`;
  return [
    `phase = case when ${hasMore} then 'open' else '${end === 'ended' ? 'idle' : 'paused'}' end`,
    `worker = case when ${hasMore} then s.worker end`,
    `leased_until = case when ${hasMore} then s.leased_until end`,
    `wait_ms = case when ${hasMore} then s.wait_ms else 0 end`,
    // if there is more to do, the lease is kept and the next work counts as its first try
    `tries = case when ${hasMore} then 1 else 0 end`,
    'pause_reason = null',
    'error = null',
    ...(end === 'ended'
      ? ['stop_reason = null', 'close_reason = null', 'deaths = 0', 'quarantined = false']
      : []),
  ];
}

function lastOfEach(agents: Commit['agents'] = []): NonNullable<Commit['agents']> {
  const byKey = agents.map((row) => [JSON.stringify([row.executionId, row.agentId]), row] as const);
  return [...new Map(byKey).values()];
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
  commit: Commit,
  lines: readonly LedgerLine[],
): Promise<CommitReceipt | null> {
  type Found = CommitReceipt & {
    readonly token: number;
    readonly revision: number;
    readonly worker: string | null;
    readonly refused: string | null;
  };
  const [found] = await db.read<Found>(
    'commit',
    `select s.token::float8 as token, s.revision, s.worker, s.phase, s.stop_reason as "stopReason",
      s.pause_reason as "pauseReason", (
        select c.call_id from json_to_recordset($2::json) as r(${ledgerColumns})
        join ${schema}.calls c
          on c.session_id = s.id and c.execution_id = r."executionId" and c.call_id = r."callId"
        where ${isRefused} limit 1) as refused
    from ${schema}.sessions s where s.id = $1`,
    [commit.sessionId, JSON.stringify(lines)],
  );
  if (found?.token !== commit.token) throw staleOwner(commit);
  if (commit.revision < found.revision) return receiptOf(found);
  if (found.worker === null) throw staleOwner(commit);
  if (commit.revision > found.revision) throw revisionConflict(commit, found.revision);
  if (found.refused !== null) throw startConflict(commit, found.refused);
  return null;
}
