import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import type { PartnerData } from '../partner-data.ts';
import { leadColumns, leadTables, programNamed, textOf } from './look-up.ts';

export const programReport = (data: PartnerData): Tool =>
  defineTool({
    name: 'program_report',
    description:
      'Everything about one program: totals by status, and every lead with its whole history. Long: use it only when the full report is asked for.',
    parameters: {
      type: 'object',
      properties: { program: { type: 'string', description: 'Name or id of a program.' } },
      required: ['program'],
      additionalProperties: false,
    },
    idempotent: true,
    // a report is read in one transaction
    maxResultChars: 250_000,
    execute(args) {
      const program = programNamed(data, textOf(args, 'program') ?? '');
      const id = program['id'] ?? null;
      const byStatus = data.all(
        'SELECT status, count(*) AS leads, sum(value) AS value FROM leads WHERE program_id = ? GROUP BY status ORDER BY value DESC',
        id,
      );
      const leads = data.all(
        `SELECT ${leadColumns} FROM ${leadTables} WHERE l.program_id = ? ORDER BY l.value DESC`,
        id,
      );
      const sum = (column: string): number =>
        byStatus.reduce((total, row) => total + Number(row[column]), 0);
      return {
        program,
        made_on: data.today(),
        totals: { leads: sum('leads'), value: sum('value'), by_status: byStatus },
        leads: leads.map((lead) => ({
          ...lead,
          history: data.all(
            'SELECT day, kind, note FROM activities WHERE lead_id = ? ORDER BY day DESC, rowid',
            lead['id'] ?? null,
          ),
        })),
      };
    },
  });
