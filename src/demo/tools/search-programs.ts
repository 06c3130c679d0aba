import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { quarterOf, type DateRange } from '../data/dates.ts';
import { programStatuses, tiers } from '../data/programs.ts';
import type { PartnerData } from '../partner-data.ts';
import { filterOf, textOf } from './look-up.ts';

export const searchPrograms = (data: PartnerData): Tool =>
  defineTool({
    name: 'search_programs',
    description:
      'Finds partner programs with tier, region, status, renewal date, yearly budget in euros, owner and number of leads. Without arguments it lists all of them.',
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'Part of the name or of the owner.' },
        tier: { type: 'string', enum: tiers },
        region: { type: 'string', description: 'Such as DACH, Nordics, West.' },
        status: { type: 'string', enum: programStatuses },
        renews: {
          type: 'string',
          enum: ['this_quarter', 'next_quarter', 'this_year'],
          description: 'Only programs whose renewal date is in this period.',
        },
      },
      additionalProperties: false,
    },
    idempotent: true,
    execute(args) {
      const today = data.today();
      const renews = rangeOf(today, textOf(args, 'renews'));
      const { where, values } = filterOf(
        ["instr(lower(p.name || ' ' || p.owner), lower(?)) > 0", textOf(args, 'text')],
        ['p.tier = ?', textOf(args, 'tier')],
        ['lower(p.region) = lower(?)', textOf(args, 'region')],
        ['p.status = ?', textOf(args, 'status')],
        ['p.renews_on >= ?', renews?.from ?? null],
        ['p.renews_on <= ?', renews?.to ?? null],
      );
      const programs = data.all(
        `SELECT p.id, p.name, p.tier, p.region, p.status, p.renews_on, p.budget, p.owner,
           (SELECT count(*) FROM leads l WHERE l.program_id = p.id) AS leads
         FROM programs p WHERE ${where} ORDER BY p.renews_on, p.name`,
        ...values,
      );
      return { today, ...(renews && { from: renews.from, to: renews.to }), programs };
    },
  });

function rangeOf(today: string, word: string | null): DateRange | null {
  if (word === 'this_quarter') return quarterOf(today);
  if (word === 'next_quarter') return quarterOf(today, 1);
  const year = today.slice(0, 4);
  return word === 'this_year' ? { from: `${year}-01-01`, to: `${year}-12-31` } : null;
}
