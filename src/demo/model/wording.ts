import type { JsonObject } from '../../json.ts';
import { amount, field } from './reply.ts';
import { sentence } from '../../sentence.ts';

export const count = (n: number, one: string, many: string = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;

export const euros = (n: number): string => `€${n.toLocaleString('en-US')}`;

/** Formats `31 January 2027`. */
export const day = (iso: string): string => {
  const ms = Date.parse(iso);
  return Number.isNaN(ms)
    ? iso
    : new Date(ms).toLocaleDateString('en-GB', {
        day: 'numeric',
        month: 'long',
        year: 'numeric',
        timeZone: 'UTC',
      });
};

export const lines = (items: readonly string[]): string => items.map((i) => `- ${i}`).join('\n');

export const ownerOf = (row: JsonObject): string => field(row, 'owner') || 'unassigned';

/** Formats `lead_2101 Fjordkraft Systems AS: negotiating, €96,000, Mara Lindqvist`. */
export const leadLine = (lead: JsonObject): string =>
  `${field(lead, 'id')} ${field(lead, 'company')}: ${field(lead, 'status')}, ${euros(amount(lead, 'value'))}, ${ownerOf(lead)}`;

/** Formats `84 people, Winterthur, robotics`. */
export const companyFacts = (company: JsonObject): string =>
  [`${field(company, 'employees')} people`, field(company, 'city'), field(company, 'industry')]
    .filter((fact) => fact.trim() !== '')
    .join(', ');

/** Returns a tool's text without its advice to the model. */
export const withoutAdvice = (said: string): string => sentence(said.replaceAll(advice, '').trim());

const advice =
  /\s(?:Call again|Trying again|This passes|Look again|Change that one|Ids look like|Give at least)[^.]*(?:\.|$)/g;
