import { pacer } from '../../../pacing.ts';
import { whileBusy } from './sqlite-busy.ts';
import type { SqliteDatabase, SqliteValue } from './sqlite-database.ts';

interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Rows of the first statement. Later ones adapt to the time that they take. */
const FIRST_ROWS = 20;
const MOST_ROWS = 5_000;
const STATEMENT_MS = 8;

/**
 * Copies a consistent snapshot of every table into the attached file. Works in short statements inside one read
 * transaction, on a connection that is used for nothing else.
 */
export async function copyTables(
  source: SqliteDatabase,
  busyTimeoutMs: number,
  target: string,
  openTarget: () => SqliteDatabase,
): Promise<void> {
  const schema = await whileBusy(busyTimeoutMs, () => schemaOf(source));
  inTarget(openTarget, (db) => {
    db.exec('PRAGMA page_size = 8192');
    db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    db.exec('BEGIN');
    for (const { type, sql } of schema) if (type !== 'trigger') db.exec(sql);
    db.exec('COMMIT');
  });
  source.prepare('ATTACH DATABASE ? AS copy').run(target);
  source.exec('PRAGMA copy.journal_mode = OFF');
  source.exec('PRAGMA copy.synchronous = OFF');
  source.exec('BEGIN');
  const marks = await whileBusy(busyTimeoutMs, () => marksOf(source));
  if (JSON.stringify(schemaOf(source)) !== JSON.stringify(schema)) {
    source.exec('ROLLBACK');
    throw new Error('The tables changed when the backup began. Try again.');
  }
  const turn = pacer('backup', 0);
  for (const { type, name } of schema)
    if (type === 'table') for (const _ of copyTable(source, name)) await turn();
  source.exec('COMMIT');
  source.exec('DETACH DATABASE copy');
  inTarget(openTarget, (db) => {
    db.exec('BEGIN');
    for (const { type, sql } of schema) if (type === 'trigger') db.exec(sql);
    for (const [name, value] of marks) db.exec(`PRAGMA ${name} = ${value}`);
    db.exec('COMMIT');
  });
}

/** Returns the schema entries in the order in which they can be created. */
const schemaOf = (db: SqliteDatabase): readonly SchemaEntry[] =>
  db
    .prepare(
      `SELECT type, name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY type = 'table' DESC, rowid`,
    )
    .all() as SchemaEntry[];

const marksOf = (db: SqliteDatabase): readonly (readonly [string, number])[] =>
  ['user_version', 'application_id'].map((name) => {
    const row = db.prepare(`PRAGMA main.${name}`).get() as Record<string, number>;
    return [name, Number(row[name])];
  });

/** Copies a table, one statement per iteration. Rows keep their numbers, because the store derives eras from them. */
function* copyTable(db: SqliteDatabase, table: string): Generator<void> {
  const columns = db
    .prepare(`SELECT name, type, pk FROM pragma_table_info(?, 'main')`)
    .all(table) as {
    name: string;
    type: string;
    pk: number;
  }[];
  const names = columns.map(({ name }) => `"${name}"`);
  const key = keyOf(db, table, columns);
  const all = key.length === 1 && key[0] === 'rowid' ? ['rowid', ...names] : names;
  const place = (of: string): string => `(${key.map((name) => `${of}${name}`).join(', ')})`;
  const list = all.join(', ');
  const holes = `(${key.map(() => '?').join(', ')})`;
  const order = key.join(', ');
  const lastOf = (where: string): string =>
    `SELECT ${order} FROM (SELECT ${order} FROM main."${table}" ${where} ORDER BY ${order} LIMIT ?)
     ORDER BY ${key.map((name) => `${name} DESC`).join(', ')} LIMIT 1`;
  const firstLast = db.prepare(lastOf(''));
  const nextLast = db.prepare(lastOf(`WHERE ${place('')} > ${holes}`));
  const insert = (where: string): string =>
    `INSERT INTO copy."${table}" (${list}) SELECT ${list} FROM main."${table}" WHERE ${where} ORDER BY ${order}`;
  const copyFirst = db.prepare(insert(`${place('')} <= ${holes}`));
  const copyNext = db.prepare(insert(`${place('')} > ${holes} AND ${place('')} <= ${holes}`));
  let before: SqliteValue[] | null = null;
  for (let rows = FIRST_ROWS; ;) {
    const found: unknown = before ? nextLast.get(...before, rows) : firstLast.get(rows);
    if (!found) return;
    const last = Object.values(found as Record<string, SqliteValue>);
    const start = performance.now();
    if (before) copyNext.run(...before, ...last);
    else copyFirst.run(...last);
    const share = STATEMENT_MS / Math.max(0.1, performance.now() - start);
    rows = Math.max(1, Math.min(MOST_ROWS, Math.floor(rows * Math.min(2, share))));
    before = last;
    yield;
  }
}

/** Returns the columns that order the rows: the row number, or the primary key of a table without one. */
function keyOf(
  db: SqliteDatabase,
  table: string,
  columns: readonly { readonly name: string; readonly type: string; readonly pk: number }[],
): readonly string[] {
  const keys = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  const { wr } = db
    .prepare(`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`)
    .get(table) as { wr: number };
  if (wr === 1) return keys.map(({ name }) => `"${name}"`);
  const [only, ...more] = keys;
  const isNumber = only !== undefined && more.length === 0 && only.type === 'INTEGER';
  return [isNumber ? `"${only.name}"` : 'rowid'];
}

function inTarget(open: () => SqliteDatabase, work: (db: SqliteDatabase) => void): void {
  const db = open();
  try {
    // the caller syncs the file when it is complete; an incomplete file is worthless
    db.exec('PRAGMA synchronous = OFF');
    work(db);
  } finally {
    db.close();
  }
}
