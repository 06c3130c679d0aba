import type { TruncatedValue, EnvelopePayloads } from '../broadcasting/envelope.ts';
import type { JsonValue } from '../json.ts';
import { jsonIn } from './bounded.ts';
import { isCut } from './message-list.ts';
import type { UiMessage, UiMetadata } from './ui-message.ts';

/** The value behind a text that is a JSON object or list; any other text is itself, and one that is too deep. */
export function valueOf(text: string): JsonValue {
  return jsonIn(text) ?? text;
}

/** What the row of a result shows. */
export function resultMetadata(
  payload: EnvelopePayloads['agent.tool.completed'],
): Pick<UiMessage, 'content' | 'metadata'> {
  const { tool, tool_call_id, success, error, duration_ms, result_summary } = payload;
  const metadata: UiMetadata = {
    tool_call_id,
    tool_name: tool,
    tool_result: resultOf(result_summary),
    tool_duration_ms: duration_ms,
  };
  return {
    content: isCut(result_summary) ? result_summary.summary : result_summary,
    metadata: success ? metadata : { ...metadata, tool_error: error ?? 'failed' },
  };
}

const resultOf = (result: string | TruncatedValue): JsonValue | TruncatedValue =>
  isCut(result) ? result : valueOf(result);
