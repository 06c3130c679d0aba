/** Columns that a commit writes to a table: the texts and the numbers of each row stand one after another in two arrays. */
interface RowLayout {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
}

export type CommitTable =
  | 'sessions'
  | 'messages'
  | 'steps'
  | 'compactions'
  | 'agents'
  | 'calls'
  | 'events'
  | 'blobs'
  | 'done';

/** What `write_commits` takes: `p_` and `n_` arrays of each table, null without rows. A change needs a new function, because this one is part of a migration. */
export const commitLayout: Readonly<Record<CommitTable, RowLayout>> = {
  sessions: {
    texts: ['id', 'at', 'execution_id', 'head', 'status', 'ending'],
    numbers: [
      'token',
      'revision',
      'message_count',
      'step_count',
      'requires',
      'seq',
      'done',
      'has_progress',
      'ends_quarantine',
    ],
  },
  messages: { texts: ['session_id', 'agent_id', 'role', 'body'], numbers: ['position'] },
  steps: {
    texts: ['session_id', 'agent_id', 'execution_id', 'body', 'mark'],
    numbers: ['position'],
  },
  compactions: {
    texts: ['session_id', 'agent_id', 'kind', 'body'],
    numbers: ['position', 'to_position'],
  },
  agents: {
    texts: ['session_id', 'execution_id', 'agent_id', 'call_id', 'head'],
    numbers: ['message_count', 'step_count'],
  },
  calls: {
    texts: ['session_id', 'execution_id', 'call_id', 'tool', 'state', 'result'],
    numbers: ['token', 'starts', 'again'],
  },
  events: { texts: ['session_id', 'execution_id', 'type', 'body'], numbers: ['seq'] },
  blobs: { texts: ['session_id', 'scope', 'hash', 'body'], numbers: [] },
  done: { texts: ['session_id'], numbers: ['number'] },
};

/** SQLSTATE of a group of which not every commit could be written. */
const INCOMPLETE = 'OW001';
/** SQLSTATE of a call that may not start. */
export const REFUSED_START = 'OW002';

/**
 * A function, because its statements are planned once per connection without a prepared statement of the client, which
 * a pooler would lose. It writes any number of commits, all or none.
 *
 * Each statement in it sees what was committed before it, so those behind the update of the sessions see all earlier
 * writes to them. Plans are made for tables of any size: a scan that is fast on an empty table would be kept.
 */
export const commitMigration = (schema: string): string => `
  alter table ${schema}.sessions set (toast_tuple_target = 8160, fillfactor = 60);
  alter table ${schema}.messages set (toast_tuple_target = 8160);
  alter table ${schema}.steps set (toast_tuple_target = 8160);
  alter table ${schema}.events set (toast_tuple_target = 8160);
  alter table ${schema}.calls set (fillfactor = 80);
  drop index ${schema}.calls_open;
  create function ${schema}.write_commits(patience text, ${parameters})
  returns table ("sessionId" text, phase text, "stopReason" text, "pauseReason" text)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off
  as $write_commits$
  #variable_conflict use_column
  declare
    written integer;
  begin
    return query update ${schema}.sessions s set ${assignments()}
      from (select ${columnsOf('sessions')} from ${indexes('sessions')}) c
      where s.id = c.id and s.token = c.token and s.revision = c.revision and s.worker is not null
      returning s.id, s.phase, s.stop_reason, s.pause_reason;
    get diagnostics written = row_count;
    if written < cardinality(p_sessions) / ${commitLayout.sessions.texts.length} then
      if written = 0 then return; end if;
      raise exception 'not all commits of a group could be written' using errcode = '${INCOMPLETE}';
    end if;
    ${ifAny('messages', insert(schema, 'messages'))}
    ${ifAny('steps', insert(schema, 'steps'))}
    ${ifAny('compactions', insert(schema, 'compactions'))}
    ${ifAny(
      'agents',
      `${insert(schema, 'agents')} on conflict (session_id, execution_id, agent_id) do update set
        call_id = excluded.call_id, head = excluded.head, message_count = excluded.message_count,
        step_count = excluded.step_count`,
    )}
    ${ifAny('calls', writeCalls(schema))}
    ${ifAny('events', insert(schema, 'events'))}
    ${ifAny('blobs', `${insert(schema, 'blobs')} on conflict do nothing`)}
    ${ifAny(
      'done',
      `delete from ${schema}.commands c using ${indexes('done')}
        where c.session_id = ${valueOf('done', 'session_id')} and c.number = ${valueOf('done', 'number')}`,
    )}
  end $write_commits$;`;

const tables = Object.keys(commitLayout) as readonly CommitTable[];
const parameters = tables
  .map((table) => `p_${table} text[] default null, n_${table} bigint[] default null`)
  .join(', ');

/** SQL for one value of row `i`. */
function valueOf(table: CommitTable, column: string): string {
  const { texts, numbers } = commitLayout[table];
  const [array, columns] = texts.includes(column) ? ['p', texts] : ['n', numbers];
  return `${array}_${table}[${columns.length} * i + ${columns.indexOf(column) + 1}]`;
}

const columnsOf = (table: CommitTable): string => {
  const { texts, numbers } = commitLayout[table];
  return [...texts, ...numbers].map((name) => `${valueOf(table, name)} as ${name}`).join(', ');
};

const indexes = (table: CommitTable): string =>
  `generate_series(0, cardinality(p_${table}) / ${commitLayout[table].texts.length} - 1) as i`;

const ifAny = (table: CommitTable, statement: string): string =>
  `if p_${table} is not null then ${statement}; end if;`;

function insert(schema: string, table: CommitTable): string {
  const { texts, numbers } = commitLayout[table];
  const values = [...texts, ...numbers].map((name) => valueOf(table, name));
  return `insert into ${schema}.${table} (${[...texts, ...numbers].join(', ')})
      select ${values.join(', ')} from ${indexes(table)}`;
}

function writeCalls(schema: string): string {
  const of = (column: string): string => valueOf('calls', column);
  return `if exists (select from ${indexes('calls')} join ${schema}.calls c on c.session_id = ${of('session_id')}
        and c.execution_id = ${of('execution_id')} and c.call_id = ${of('call_id')}
      where ${of('starts')} > 0 and (c.state = 'committed' or (c.state = 'started' and ${of('again')} = 0))) then
      raise exception 'a call may not start again' using errcode = '${REFUSED_START}';
    end if;
    insert into ${schema}.calls as c (session_id, execution_id, call_id, tool, state, token, starts, result)
      select ${of('session_id')}, ${of('execution_id')}, ${of('call_id')}, ${of('tool')}, ${of('state')},
        case when ${of('starts')} > 0 then ${of('token')} else 0 end, ${of('starts')}, ${of('result')}
      from ${indexes('calls')}
      on conflict (session_id, execution_id, call_id) do update set
        state = excluded.state, starts = c.starts + excluded.starts, result = excluded.result,
        token = case when excluded.starts > 0 then excluded.token else c.token end
      where excluded.state <> 'waiting' and c.state <> 'committed'`;
}

/** Assignments to the session's row. `s` is the row, `c` the commit. */
function assignments(): string {
  const commands =
    'case when c.done is null then s.commands else array_remove(s.commands, c.done::integer) end';
  // an answered call that the commit has taken is no longer to be done
  const taken = `select from ${indexes('calls')} where ${valueOf('calls', 'session_id')} = s.id
    and ${valueOf('calls', 'execution_id')} = s.execution_id and ${valueOf('calls', 'call_id')} = d
    and ${valueOf('calls', 'state')} <> 'waiting'`;
  const decided = `case
    when c.ending = 'ended' or s.execution_id is distinct from coalesce(c.execution_id, s.execution_id) then '{}'
    when cardinality(s.decided) = 0 or p_calls is null then s.decided
    else array(select d from unnest(s.decided) as d where not exists (${taken})) end`;
  const tries = 'case when c.has_progress = 1 then 0 else s.tries end';
  // with more to do, the session keeps its lease
  const hasMore = `case c.ending when 'ended' then cardinality(${commands}) > 0
    else s.stop_reason is not null or cardinality(${decided}) > 0 end`;
  const atEnd = (kept: string, left: string, handover: string = left): string =>
    `case when c.ending is null then ${kept} when c.ending = 'handover' then ${handover}
      when ${hasMore} then ${kept} else ${left} end`;
  const isEnd = "c.ending in ('ended', 'paused')";
  const whenEnded = (column: string, value: string): string =>
    `${column} = case when c.ending = 'ended' then ${value} else s.${column} end`;
  return `revision = s.revision + 1,
    updated_at = coalesce(c.at, s.updated_at),
    execution_id = coalesce(c.execution_id, s.execution_id),
    head = coalesce(c.head, s.head),
    status = coalesce(c.status, s.status),
    message_count = coalesce(c.message_count, s.message_count),
    step_count = coalesce(c.step_count, s.step_count),
    requires = coalesce(c.requires, s.requires),
    seq = coalesce(c.seq, s.seq),
    commands = ${commands},
    decided = ${decided},
    phase = case when ${isEnd} then
      case when ${hasMore} then 'open' when c.ending = 'ended' then 'idle' else 'paused' end else s.phase end,
    worker = ${atEnd('s.worker', 'null')},
    leased_until = ${atEnd('s.leased_until', 'null')},
    wait_ms = ${atEnd('s.wait_ms', '0')},
    tries = case when c.ending is null then ${tries}
      when c.ending = 'handover' then greatest(0, ${tries} - 1) when ${hasMore} then 1 else 0 end,
    pause_reason = case when ${isEnd} then null else s.pause_reason end,
    error = case when ${isEnd} then null else s.error end,
    ${whenEnded('stop_reason', 'null')},
    ${whenEnded('close_reason', 'null')},
    ${whenEnded('deaths', '0')},
    quarantined = case when c.ending = 'ended' or c.ends_quarantine = 1 then false else s.quarantined end`;
}
