import { isRecord, type JsonValue } from '../json.ts';
import { jsonIn } from '../ui/bounded.ts';
import { isTruncated } from '../ui/message-list.ts';
import { visibleName, visibleText } from '../visible-text.ts';
import type { UiToolCall } from '../ui/ui-message.ts';

/** Maximum characters of JSON in one line; longer JSON is indented. */
const shortJson = 64;

/** Formats JSON over several lines; returns other text unchanged. */
export function valueText(value: JsonValue): string {
  const read = typeof value === 'string' ? jsonIn(value) : value;
  if (typeof value === 'string' && read === null) return value;
  const formatted = JSON.stringify(read, null, 2);
  return formatted.length > shortJson ? formatted : formatted.replaceAll(/\n */g, ' ');
}

/** Formats arguments in one line: "type: program, query: Nordlicht". */
export function argsText({ args, args_summary: summary }: UiToolCall): string {
  const read =
    typeof args === 'object' && args !== null && !isTruncated(args) ? args : jsonIn(summary);
  if (!isRecord(read)) return visibleText(summary);
  return Object.entries(read)
    .map(
      ([name, value]) =>
        `${visibleName(name)}: ${visibleText(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join(', ');
}
