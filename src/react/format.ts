import { isRecord, parseJson, type JsonValue } from '../json.ts';
import { isCut } from '../ui/rows.ts';
import type { UiToolCall } from '../ui/ui-message.ts';

/** "0.31 s", "4.2 s", "2 min 5 s": as exact as a person needs it. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(ms < 1000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

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
