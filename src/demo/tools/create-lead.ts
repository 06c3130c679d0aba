import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { plain } from '../data/plain.ts';
import type { PartnerData, Row } from '../partner-data.ts';
import { effectKey, leadWith, numberOf, programNamed, textOf } from './look-up.ts';

export const createLead = (data: PartnerData): Tool =>
  defineTool({
    name: 'create_lead',
    description:
      'Adds a lead to a program. Look for duplicates with search_leads first, fill in the company data with enrich_company, and give the lead an owner.',
    parameters: {
      type: 'object',
      properties: {
        company: { type: 'string', minLength: 2, maxLength: 120 },
        program: { type: 'string', description: 'Name or id of a program.' },
        contact_name: { type: 'string', maxLength: 120 },
        contact_email: { type: 'string', maxLength: 200 },
        domain: { type: 'string', maxLength: 120 },
        value: { type: 'integer', minimum: 0, description: 'Expected value in euros.' },
        owner: { type: 'string', maxLength: 120, description: 'Who of us looks after it.' },
        employees: { type: 'integer', minimum: 0 },
        city: { type: 'string', maxLength: 120 },
        industry: { type: 'string', maxLength: 120 },
      },
      required: ['company', 'program'],
      additionalProperties: false,
    },
    // the same call never adds a second lead, so it may run again
    idempotent: true,
    execute(args, context): Row {
      return data.once(effectKey(context), () => {
        const program = programNamed(data, textOf(args, 'program') ?? '');
        const company = textOf(args, 'company') ?? '';
        refuseDuplicate(data, company, program);
        const id = nextId(data);
        data.run(
          `INSERT INTO leads (id, company, program_id, contact_name, contact_email, domain, status, value,
             last_activity, owner, employees, city, industry, words)
           VALUES (?, ?, ?, ?, ?, ?, 'new', ?, ?, ?, ?, ?, ?, ?)`,
          id,
          company,
          program['id'] ?? null,
          textOf(args, 'contact_name'),
          textOf(args, 'contact_email'),
          textOf(args, 'domain'),
          numberOf(args, 'value') ?? 0,
          data.today(),
          textOf(args, 'owner'),
          numberOf(args, 'employees'),
          textOf(args, 'city'),
          textOf(args, 'industry'),
          plain([company, textOf(args, 'contact_name'), textOf(args, 'domain')].join(' ')),
        );
        data.run("INSERT INTO activities VALUES (?, ?, 'note', 'Created.')", id, data.today());
        return { ...leadWith(data, id), program_owner: program['owner'] ?? null };
      });
    },
  });

function refuseDuplicate(data: PartnerData, company: string, program: Row): void {
  const same = data.one(
    'SELECT id, status, owner FROM leads WHERE program_id = ? AND lower(company) = lower(?)',
    program['id'] ?? null,
    company,
  );
  if (same)
    throw new Error(
      `${String(program['name'])} has this company already: ${String(same['id'])} (${String(same['status'])}, owner ` +
        `${String(same['owner'] ?? 'unassigned')}). Change that one with update_lead, or choose another program.`,
    );
}

const nextId = (data: PartnerData): string => {
  const row = data.one('SELECT max(CAST(substr(id, 6) AS INTEGER)) + 1 AS next FROM leads');
  return `lead_${String(row?.['next'] ?? 2101)}`;
};
