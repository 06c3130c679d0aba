import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import type { PartnerData } from '../partner-data.ts';
import { leadWith, textOf } from './look-up.ts';

export const getLead = (data: PartnerData): Tool =>
  defineTool({
    name: 'get_lead',
    description: 'One lead with its latest activities.',
    parameters: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Such as lead_2101.' } },
      required: ['id'],
      additionalProperties: false,
    },
    idempotent: true,
    execute(args) {
      const lead = leadWith(data, textOf(args, 'id') ?? '');
      const activities = data.all(
        'SELECT day, kind, note FROM activities WHERE lead_id = ? ORDER BY day DESC, rowid LIMIT 5',
        lead['id'] ?? null,
      );
      return { ...lead, activities };
    },
  });
