import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { leadStatuses } from '../data/leads.ts';
import { plain } from '../data/plain.ts';
import type { PartnerData, Row } from '../partner-data.ts';
import { effectKey, leadWith, textOf } from './look-up.ts';

/**
 * Fields that may change. Column names become part of the SQL, so they come from this list and never from the model.
 */
const fields = {
  status: { type: 'string', enum: leadStatuses },
  value: { type: 'integer', minimum: 0, description: 'Expected value in euros.' },
  owner: { type: 'string', minLength: 2, maxLength: 120 },
  contact_name: { type: 'string', maxLength: 120 },
  contact_email: { type: 'string', maxLength: 200 },
  employees: { type: 'integer', minimum: 0 },
  city: { type: 'string', maxLength: 120 },
  industry: { type: 'string', maxLength: 120 },
} as const;

const columns = Object.keys(fields) as (keyof typeof fields)[];
const companyFields: ReadonlySet<string> = new Set(['employees', 'city', 'industry']);

export const updateLead = (data: PartnerData): Tool =>
  defineTool({
    name: 'update_lead',
    description: 'Changes a lead: status, value, owner, contact or company data.',
    parameters: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Such as lead_2101.' }, ...fields },
      required: ['id'],
      additionalProperties: false,
    },
    idempotent: true,
    execute(args, context): Row {
      return data.once(effectKey(context), () => {
        const id = String(leadWith(data, textOf(args, 'id') ?? '')['id']);
        const changed = columns.filter((name) => args[name] !== undefined);
        if (changed.length === 0)
          throw new Error(
            `Nothing to change in ${id}. Give at least one of: ${columns.join(', ')}.`,
          );
        const values = changed.map((name) => args[name] as string | number); // the schema has
        // checked them
        const today = data.today();
        data.run(
          `UPDATE leads SET ${changed.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
          ...values,
          id,
        );
        const { company, contact_name: contact, domain } = leadWith(data, id);
        const words = plain([company, contact, domain].join(' '));
        data.run('UPDATE leads SET words = ? WHERE id = ?', words, id);
        // company data is not an activity of the lead
        if (changed.some((name) => !companyFields.has(name)))
          data.run('UPDATE leads SET last_activity = ? WHERE id = ?', today, id);
        const note = `Changed ${changed.join(', ')}.`;
        data.run("INSERT INTO activities VALUES (?, ?, 'note', ?)", id, today, note);
        return leadWith(data, id);
      });
    },
  });
