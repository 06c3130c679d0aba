import type { TruncatedValue, EnvelopePayloads } from '../broadcasting/envelope.ts';
import type { JsonValue } from '../json.ts';
import { jsonIn } from './bounded.ts';
import { isTruncated } from './message-list.ts';
import type { UiMessage, UiMetadata } from './ui-message.ts';

/** Parses a text that is a JSON object or list; returns any other text, and one that is too deep, unchanged. */
export function valueOf(text: string): JsonValue {
  return jsonIn(text) ?? text;
}

/** Returns the metadata of a result's row. */
export function resultMetadata(
  payload: EnvelopePayloads['agent.tool.completed'],
): Pick<UiMessage, 'content' | 'metadata'> {
  const { tool, tool_call_id, success, error, error_code, duration_ms, result_summary, files } =
    payload;
  const metadata: UiMetadata = {
    tool_call_id,
    tool_name: tool,
    tool_result: resultOf(result_summary),
    ...(files && files.length > 0 && { tool_files: files }),
    tool_duration_ms: duration_ms,
  };
  return {
    content: isTruncated(result_summary) ? result_summary.summary : result_summary,
    metadata: success
      ? metadata
      : {
          ...metadata,
          tool_error: error ?? 'failed',
          ...(error_code !== undefined && { tool_error_code: error_code }),
        },
  };
}

const resultOf = (result: string | TruncatedValue): JsonValue | TruncatedValue =>
  isTruncated(result) ? result : valueOf(result);
