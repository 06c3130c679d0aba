import type { Tool } from '../../tools/tool.ts';
import type { Pace } from '../pace.ts';
import type { PartnerData } from '../partner-data.ts';
import { createLead } from './create-lead.ts';
import { deleteLead } from './delete-lead.ts';
import { enrichCompany } from './enrich-company.ts';
import { getLead } from './get-lead.ts';
import { programReport } from './program-report.ts';
import { searchLeads } from './search-leads.ts';
import { searchPrograms } from './search-programs.ts';
import { updateLead } from './update-lead.ts';

export const partnerTools = (data: PartnerData, pace: Pace): readonly Tool[] => [
  searchPrograms(data),
  searchLeads(data),
  getLead(data),
  enrichCompany(data, pace),
  createLead(data),
  updateLead(data),
  deleteLead(data),
  programReport(data),
];
