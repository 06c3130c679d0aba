import type { SqliteDatabase } from '../../sessions/stores/sqlite/sqlite-database.ts';
import { activitiesOf } from './activities.ts';
import { companyRows } from './companies.ts';
import { dayInQuarter, daysBefore } from './dates.ts';
import { leadRows } from './leads.ts';
import { plain } from './plain.ts';
import { programRows } from './programs.ts';

/** Version of the tables below. */
const VERSION = 1;

const schema = `
  CREATE TABLE partners.programs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, tier TEXT NOT NULL, region TEXT NOT NULL, status TEXT NOT NULL,
    renews_on TEXT NOT NULL, budget INTEGER NOT NULL, owner TEXT NOT NULL
  ) STRICT;
  CREATE TABLE partners.companies (
    domain TEXT PRIMARY KEY, name TEXT NOT NULL, employees INTEGER NOT NULL, city TEXT NOT NULL,
    industry TEXT NOT NULL, reach TEXT NOT NULL
  ) STRICT;
  CREATE TABLE partners.leads (
    id TEXT PRIMARY KEY, company TEXT NOT NULL, program_id TEXT NOT NULL REFERENCES programs (id),
    contact_name TEXT, contact_email TEXT, domain TEXT, status TEXT NOT NULL, value INTEGER NOT NULL,
    last_activity TEXT NOT NULL, owner TEXT, employees INTEGER, city TEXT, industry TEXT,
    -- company, contact and domain without case and accents, for the search
    words TEXT NOT NULL
  ) STRICT;
  CREATE INDEX partners.leads_of_program ON leads (program_id, status);
  CREATE TABLE partners.activities (
    lead_id TEXT NOT NULL REFERENCES leads (id), day TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL
  ) STRICT;
  CREATE INDEX partners.activities_of_lead ON activities (lead_id, day);
  -- results of tool calls, so that the same call never runs twice
  CREATE TABLE partners.effects (key TEXT PRIMARY KEY, result TEXT NOT NULL) STRICT;
`;

/** Creates and fills the tables if there are none. If two processes start together, one of them does it. */
export function fillOnce(db: SqliteDatabase, today: string): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (versionOf(db) === 0) fill(db, today);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

/** Returns the version, 0 for a new file. A file with other tables is not changed. */
function versionOf(db: SqliteDatabase): number {
  const version = numberOf(db, 'PRAGMA partners.user_version');
  const tables = numberOf(db, 'SELECT count(*) FROM partners.sqlite_schema');
  if (version === VERSION || (version === 0 && tables === 0)) return version;
  throw new Error('the file contains other data than this demo expects');
}

const numberOf = (db: SqliteDatabase, sql: string): number =>
  Number(Object.values(db.prepare(sql).get() ?? {})[0]);

function fill(db: SqliteDatabase, today: string): void {
  db.exec(schema);
  db.exec(`PRAGMA partners.user_version = ${VERSION}`);
  const program = db.prepare('INSERT INTO programs VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const { id, name, tier, region, status, quarter, share, budget, owner } of programRows)
    program.run(id, name, tier, region, status, dayInQuarter(today, quarter, share), budget, owner);

  const company = db.prepare('INSERT INTO companies VALUES (?, ?, ?, ?, ?, ?)');
  for (const { domain, name, employees, city, industry, reach } of companyRows)
    company.run(domain, name, employees, city, industry, reach);

  const lead = db.prepare(
    `INSERT INTO leads (id, company, program_id, contact_name, contact_email, domain, status, value, last_activity, owner, words)
     VALUES (?, ?, (SELECT id FROM programs WHERE name = ?), ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // thousands of rows: one statement per lead halves the time
  const history = db.prepare(
    `INSERT INTO activities SELECT ?, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
  );
  for (const row of leadRows) {
    const { id, company: name, program: of, contact, domain, status, value, owner } = row;
    const last = daysBefore(today, row.idleDays);
    const email = emailOf(contact, domain);
    const words = plain(`${name} ${contact} ${domain}`);
    lead.run(id, name, of, contact, email, domain, status, value, last, owner, words);
    history.run(id, JSON.stringify(activitiesOf(row, today)));
  }
}

/** Returns `elodie.moreau@lutece.example` for `Élodie Moreau` at `lutece.example`. */
const emailOf = (contact: string, domain: string): string =>
  `${plain(contact).replaceAll(' ', '.')}@${domain}`;
