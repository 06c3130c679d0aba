/** A commit of the rows of one step to PostgreSQL as one would write it by hand: no runtime, one prepared statement. */
import pg from 'pg';

const SCHEMA = 'by_hand';
const table = (name, columns, key) =>
  `create table if not exists ${SCHEMA}.${name} (${columns}, primary key (${key}))`;
const tables = [
  `create schema if not exists ${SCHEMA}`,
  table('sessions', 'id text, token bigint, revision integer, seq integer, head text', 'id'),
  table('messages', 'id text, n integer, role text, body text', 'id, n'),
  table('steps', 'id text, n integer, body text, mark text', 'id, n'),
  table('calls', 'id text, n integer, state text, tool text', 'id, n'),
  table('events', 'id text, n integer, type text, body text', 'id, n'),
];

/** The texts of a step as the runtime stores them, by their lengths. */
const text = (length) => JSON.stringify('step '.repeat(length / 5)).slice(0, length);
const body = {
  head: text(1_870),
  step: text(1_430),
  mark: text(745),
  messages: [text(205), text(160)],
  events: [text(800), text(300)],
};

const statement = {
  name: 'step',
  text: `with s as (
      update ${SCHEMA}.sessions set revision = revision + 1, seq = $3, head = $4
      where id = $1 and revision = $2 and token = 1 returning id),
    m as (insert into ${SCHEMA}.messages select s.id, v.n, v.role, v.body from s,
      (values ($2::integer * 2, 'assistant', $5::text), ($2::integer * 2 + 1, 'tool', $6::text)) v(n, role, body)),
    t as (insert into ${SCHEMA}.steps select s.id, $2::integer, $7, $8 from s),
    c as (insert into ${SCHEMA}.calls as c select s.id, v.n, v.state, 'add' from s,
      (values ($2::integer, 'committed'), ($2::integer + 1, 'started')) v(n, state)
      on conflict (id, n) do update set state = excluded.state),
    e as (insert into ${SCHEMA}.events select s.id, v.n, v.type, v.body from s,
      (values ($2::integer * 2, 'AgentStateUpdated', $9::text), ($2::integer * 2 + 1, 'ToolCallStarted', $10::text)) v(n, type, body))
    select id from s`,
};

/** Writes so many steps to each of so many sessions at once. Milliseconds that it took. */
export async function replaySteps({ url, concurrency, steps }) {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  try {
    for (const sql of tables) await pool.query(sql);
    const ids = Array.from({ length: concurrency }, () => crypto.randomUUID());
    for (const id of ids)
      await pool.query(`insert into ${SCHEMA}.sessions values ($1, 1, 0, 0, '{}')`, [id]);
    const began = performance.now();
    await Promise.all(ids.map((id) => writeSteps(pool, id, steps)));
    return performance.now() - began;
  } finally {
    await pool.end();
  }
}

async function writeSteps(pool, id, steps) {
  for (let n = 0; n < steps; n++) {
    const values = [
      id,
      n,
      n * 7,
      body.head,
      ...body.messages,
      body.step,
      body.mark,
      ...body.events,
    ];
    const { rows } = await pool.query({ ...statement, values });
    if (rows.length !== 1) throw new Error(`step ${n} was not written`);
  }
}
