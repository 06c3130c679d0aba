import { isRecord, parseJson, type JsonValue } from '../json.ts';
import { isCut } from '../ui/rows.ts';
import type { UiToolCall } from '../ui/ui-message.ts';

/** What fits into one line is not laid out over many. */
const shortJson = 64;

/** Laid out over lines where it is JSON, else as it is. */
export function valueText(value: JsonValue): string {
  const read = typeof value === 'string' ? objectIn(value) : value;
  if (typeof value === 'string' && read === null) return value;
  const laidOut = JSON.stringify(read, null, 2);
  return laidOut.length > shortJson ? laidOut : laidOut.replaceAll(/\n */g, ' ');
}

/** Arguments in a line: "type: program, query: Nordlicht". */
export function argsText({ args, args_summary: summary }: UiToolCall): string {
  const read = typeof args === 'object' && args !== null && !isCut(args) ? args : objectIn(summary);
  if (!isRecord(read)) return summary;
  return Object.entries(read)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** The object or list that a text is; null where it is none. */
function objectIn(text: string): JsonValue | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : null;
}
