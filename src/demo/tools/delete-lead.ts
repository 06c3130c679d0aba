import { defineTool } from '../../tools/define-tool.ts';
import type { JsonObject } from '../../json.ts';
import type { Tool } from '../../tools/tool.ts';
import type { PartnerData } from '../partner-data.ts';
import { effectKey, leadWith, shortened, textOf } from './look-up.ts';

export const deleteLead = (data: PartnerData): Tool =>
  defineTool({
    name: 'delete_lead',
    description:
      'Deletes a lead for good, after a person has agreed. Say which company and program it is and why it should go: that is what the person decides by.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Such as lead_2101.' },
        company: { type: 'string' },
        program: { type: 'string' },
        reason: { type: 'string', minLength: 3, maxLength: 300 },
        notify_owner: { type: 'boolean', description: 'Whether its owner gets a mail.' },
      },
      required: ['id', 'company', 'program', 'reason', 'notify_owner'],
      additionalProperties: false,
    },
    needsApproval: true,
    idempotent: true,
    execute(args, context): JsonObject {
      return data.once(effectKey(context), () => {
        const lead = leadWith(data, textOf(args, 'id') ?? '');
        const { id = null, company = null, program = null, owner = null } = lead;
        // the user approved the deletion of a company, not of a number
        if (textOf(args, 'company')?.toLowerCase() !== String(company).toLowerCase())
          throw new Error(
            `Nothing was deleted: ${String(id)} is ${String(company)}, not ` +
              `"${shortened(textOf(args, 'company') ?? '')}". Look again with get_lead.`,
          );
        data.run('DELETE FROM activities WHERE lead_id = ?', id);
        data.run('DELETE FROM leads WHERE id = ?', id);
        const isNotified = args['notify_owner'] && owner !== null;
        return { deleted: id, company, program, owner, owner_notified: isNotified };
      });
    },
  });
