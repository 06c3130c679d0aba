import { isRecord, type JsonValue } from '../json.ts';
import { jsonIn } from '../ui/bounded.ts';
import { isCut } from '../ui/message-list.ts';
import { visibleName, visibleText } from '../visible-text.ts';
import type { UiToolCall } from '../ui/ui-message.ts';

/** What fits into one line is not laid out over many. */
const shortJson = 64;

/** Laid out over lines where it is JSON, else as it is. */
export function valueText(value: JsonValue): string {
  const read = typeof value === 'string' ? jsonIn(value) : value;
  if (typeof value === 'string' && read === null) return value;
  const laidOut = JSON.stringify(read, null, 2);
  return laidOut.length > shortJson ? laidOut : laidOut.replaceAll(/\n */g, ' ');
}

/** Arguments in a line: "type: program, query: Nordlicht". */
export function argsText({ args, args_summary: summary }: UiToolCall): string {
  const read = typeof args === 'object' && args !== null && !isCut(args) ? args : jsonIn(summary);
  if (!isRecord(read)) return visibleText(summary);
  return Object.entries(read)
    .map(
      ([name, value]) =>
        `${visibleName(name)}: ${visibleText(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join(', ');
}
