import type { ErrorRecord } from '../errors/error-record.ts';
import { jsonCopy, type JsonValue } from '../json.ts';

export type ToolResultKind = 'ok' | 'error' | 'denied' | 'aborted' | 'blocked' | 'timeout';

/** How a person answered a call that waited. */
export interface ApprovalRecord {
  readonly decision: 'approved' | 'edited' | 'denied';
  /** Null where it was not said. */
  readonly by: string | null;
  readonly at: string;
  /** Names the arguments that were answered; after an edit, the edited ones. */
  readonly argsHash: string;
}

/** What became of one call; `value` is what the model is shown. */
export interface ToolResult {
  readonly callId: string;
  readonly kind: ToolResultKind;
  readonly value: JsonValue;
  readonly error?: ErrorRecord;
  /** Of a call that waited for a person. */
  readonly approval?: ApprovalRecord;
  readonly durationMs: number;
}

/** The text of a result as a tool message carries it. */
export const resultText = (value: JsonValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** A returned value as the state keeps it: JSON, and cut with a note where it is too long or nested too deep. */
export function recordedValue(
  returned: unknown,
  maxChars: number,
): { readonly value: JsonValue; readonly cut: boolean } {
  const { value, isCut: cut } = jsonCopy(returned);
  if (typeof value !== 'string' && typeof value !== 'object') return { value, cut };
  const text = resultText(value);
  if (text.length <= maxChars) return { value, cut };
  const kept = text.slice(0, endBefore(text, maxChars));
  return { value: `${kept}… [cut: ${kept.length} of ${text.length} characters shown]`, cut: true };
}

/** Never inside a character that takes two code units. */
function endBefore(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
