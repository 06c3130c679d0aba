import type { Grants } from '../continuation/grants.ts';
import type { PendingApproval, PendingInput } from '../events/agent-event.ts';
import { hiddenText } from '../events/hidden-args.ts';
import { moneyText } from '../number-text.ts';
import { inputFieldsOf } from '../ui/input-fields.ts';
import { visibleJson, visibleText } from '../visible-text.ts';

/** Formats a cost; empty if no price is known. */
export const costText = (cost: number | null): string => (cost === null ? '' : moneyText(cost));

/** Formats `just now`, `5 min ago`, `3 h ago`, `2 days ago`, then the date. */
export function ago(iso: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const days = Math.floor(minutes / 1_440);
  return days < 30 ? `${days} days ago` : iso.slice(0, 10);
}

/** Formats one printable line of at most `max` characters. */
export function oneLine(text: string, most: number): string {
  const line = visibleText(text.replace(/[ \t\r\n]+/g, ' ').trim());
  const letters = Array.from(line.slice(0, most * 2 + 2));
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line;
}

/** Formats arguments briefly. */
export const argsSummary = (args: unknown, most: number = 80): string =>
  isEmpty(args) ? '' : oneLine(visibleJson(JSON.stringify(args) ?? ''), most);

/** Formats a call that needs approval, with the position of hidden arguments. */
export function askedText({ tool, args, hidden }: PendingApproval, most: number): string {
  const hiding = hiddenText(hidden);
  return [
    oneLine(tool, 80),
    argsSummary(args, most),
    hiding === null ? '' : `(${oneLine(hiding, 300)})`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** Formats a question of a tool, with its address or the fields of its form. */
export function questionText({ tool, message, url, schema }: PendingInput, most: number): string {
  const fields = inputFieldsOf(schema)?.map(
    ({ name, kind, isRequired }) => `${oneLine(name, 60)}${isRequired ? '' : '?'}: ${kind}`,
  );
  const answer = fields ? `{ ${fields.join(', ')} }` : argsSummary(schema, most);
  return `${oneLine(tool, 80)} asks: ${oneLine(message, most)} ${oneLine(url ?? answer, Math.max(most, 300))}`.trim();
}

const isEmpty = (args: unknown): boolean =>
  args === null ||
  args === undefined ||
  (typeof args === 'object' && Object.keys(args).length === 0);

/** Formats a grant for `--grant`: `steps=5,tokens=2000`. */
export const grantText = (grant: Grants): string =>
  Object.entries(grant)
    .map(([kind, amount]) => `${kind}=${String(amount)}`)
    .join(',');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/** Shortens generated ids; ids that the user chose stay whole. */
export const shortId = (id: string): string => (UUID.test(id) ? id.slice(0, 8) : id);
