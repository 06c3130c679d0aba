import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { rest, type Pace } from '../pace.ts';
import type { PartnerData } from '../partner-data.ts';
import { shortened, textOf } from './look-up.ts';

/** Milliseconds that the directory takes to respond, and the timeout of a request. */
const ANSWER_MS = 900;
const TIMEOUT_MS = 3000;
const MIN_TIMEOUT_MS = 30;

/**
 * Simulates an unreliable company directory. For some companies the first request of this process fails, for one it
 * never gets a response; the next succeeds.
 */
export function enrichCompany(data: PartnerData, pace: Pace): Tool {
  const asked = new Set<string>();
  return defineTool({
    name: 'enrich_company',
    description:
      'Looks a company up in the public directory by its domain: full name, employees, city, industry. The directory is sometimes busy; when it does not answer, call again with the same domain.',
    parameters: {
      type: 'object',
      properties: {
        domain: { type: 'string', description: 'Such as fjordkraft.example.', maxLength: 120 },
      },
      required: ['domain'],
      additionalProperties: false,
    },
    timeoutMs: Math.max(MIN_TIMEOUT_MS, TIMEOUT_MS * pace),
    idempotent: true,
    async execute(args, { signal }) {
      const domain = textOf(args, 'domain')?.toLowerCase() ?? '';
      const company = data.one('SELECT * FROM companies WHERE domain = ?', domain);
      const isFirst = !asked.has(domain);
      if (company) asked.add(domain);
      if (isFirst && company?.['reach'] === 'slow') await rest(Number.POSITIVE_INFINITY, signal);
      await rest(ANSWER_MS * pace, signal);
      if (!company)
        throw new Error(
          `The directory has no company with the domain "${shortened(domain)}" (404). Trying again will not help: continue without it.`,
        );
      if (isFirst && company['reach'] === 'flaky')
        throw new Error('The directory did not answer (503). This passes: try again.');
      const { reach: _reach, ...known } = company;
      return known;
    },
  });
}
