import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { daysBefore } from '../data/dates.ts';
import { leadStatuses } from '../data/leads.ts';
import { plain } from '../data/plain.ts';
import type { PartnerData } from '../partner-data.ts';
import { filterOf, leadColumns, leadTables, numberOf, programNamed, textOf } from './look-up.ts';

const DEFAULT_LIMIT = 20;

export const searchLeads = (data: PartnerData): Tool =>
  defineTool({
    name: 'search_leads',
    description:
      'Finds leads by company, contact, program, status, owner or how long nothing happened. `total` counts all that fit, `leads` holds the first of them, most recently active first.',
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'Part of the company, contact or domain.' },
        program: { type: 'string', description: 'Name or id of a program.' },
        status: { type: 'string', enum: leadStatuses },
        owner: {
          type: 'string',
          description: 'Part of the name; "unassigned" for leads without one.',
        },
        idle_days: {
          type: 'integer',
          minimum: 0,
          description: 'No activity for at least so many days.',
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Default 20.' },
      },
      additionalProperties: false,
    },
    idempotent: true,
    execute(args) {
      const text = textOf(args, 'text');
      const program = textOf(args, 'program');
      const owner = textOf(args, 'owner');
      const idleDays = numberOf(args, 'idle_days');
      const { where, values } = filterOf(
        ['instr(l.words, ?) > 0', text === null ? null : plain(text)],
        [
          'l.program_id = ?',
          program === null ? null : String(programNamed(data, program)['id'] ?? ''),
        ],
        ['l.status = ?', textOf(args, 'status')],
        ["instr(lower(coalesce(l.owner, 'unassigned')), lower(?)) > 0", owner],
        ['l.last_activity <= ?', idleDays === null ? null : daysBefore(data.today(), idleDays)],
      );
      const total = Number(
        data.one(`SELECT count(*) AS total FROM ${leadTables} WHERE ${where}`, ...values)?.[
          'total'
        ],
      );
      const leads = data.all(
        `SELECT ${leadColumns} FROM ${leadTables} WHERE ${where} ORDER BY l.last_activity DESC, l.id LIMIT ?`,
        ...values,
        numberOf(args, 'limit') ?? DEFAULT_LIMIT,
      );
      return { total, shown: leads.length, leads };
    },
  });
