import type { JsonObject } from '../../json.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { PartnerData, Row } from '../partner-data.ts';

/** Columns of a lead in tool results. */
export const leadColumns = `l.id, l.company, p.name AS program, l.contact_name, l.contact_email, l.domain, l.status,
  l.value, l.last_activity, l.owner, l.employees, l.city, l.industry`;

export const leadTables = 'leads l JOIN programs p ON p.id = l.program_id';

/** Finds a program by id, by name, or by a part of the name that matches only one. */
export function programNamed(data: PartnerData, name: string): Row {
  const wanted = name.trim();
  const exact = data.one(
    'SELECT * FROM programs WHERE id = ? OR lower(name) = lower(?)',
    wanted,
    wanted,
  );
  if (exact) return exact;
  const close = data.all('SELECT * FROM programs WHERE instr(lower(name), lower(?)) > 0', wanted);
  const [only] = close;
  if (only && close.length === 1 && wanted !== '') return only;
  const known = data.all('SELECT name FROM programs ORDER BY name').map((row) => row['name']);
  throw new Error(
    `There is no program "${shortened(wanted)}". Programs: ${known.join(', ')}. Call again with one of these names.`,
  );
}

export function leadWith(data: PartnerData, id: string): Row {
  const lead = data.one(`SELECT ${leadColumns} FROM ${leadTables} WHERE l.id = ?`, id.trim());
  if (lead) return lead;
  throw new Error(
    `There is no lead "${shortened(id)}". Ids look like lead_2101: find the right one with search_leads.`,
  );
}

/** Returns a key that is the same for every attempt of this call, and differs for every other call of any session. */
export const effectKey = ({ state, idempotencyKey }: ToolContext): string =>
  `${state.agentId}:${idempotencyKey}`;

export const textOf = (args: JsonObject, name: string): string | null => {
  const value = args[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

export const numberOf = (args: JsonObject, name: string): number | null => {
  const value = args[name];
  return typeof value === 'number' ? value : null;
};

/** Shortens a value in an error for the model. */
export const shortened = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80)}…` : text;

/** The requested parts of a WHERE clause, with their values in the same order. */
export interface Filter {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/** Combines conditions with their values; conditions without a value are omitted. */
export function filterOf(
  ...conditions: readonly (readonly [sql: string, value: string | number | null])[]
): Filter {
  const wanted = conditions.filter(
    (condition): condition is readonly [string, string | number] => condition[1] !== null,
  );
  return {
    where: wanted.map(([sql]) => sql).join(' AND ') || '1',
    values: wanted.map(([, value]) => value),
  };
}
