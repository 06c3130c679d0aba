import type { JsonSchema } from '../../tools/schema.ts';
import {
  anything,
  count,
  flag,
  list,
  number,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
  time,
} from './shapes.ts';

export const compactionKind: JsonSchema = oneOfTexts(['tool_results', 'summary']);

const answers = oneOfTexts(['approved', 'edited', 'denied']);

const files = list(
  object(
    { type: oneOfTexts(['image', 'file']) },
    { media_type: text, filename: text, url: text, bytes: count, data: text },
  ),
);

/** What happened between messages; `kind` names the other fields. */
const uiEvent = object(
  { kind: oneOfTexts(['stop', 'grant', 'fallback', 'failed_call', 'settings', 'fork']) },
  {
    step: count,
    headline: text,
    amounts: ref('Grants'),
    by: orNull(text),
    authority: text,
    from: text,
    to: text,
    code: text,
    attempt: count,
    error: text,
    wait_ms: number,
    will_retry: flag,
    changes: list(text),
    session_id: text,
  },
);

/** Schema of a row of a conversation. */
export const messageSchemas: Readonly<Record<string, JsonSchema>> = {
  UiMessage: object({
    id: text,
    role: oneOfTexts(['user', 'assistant', 'tool', 'status']),
    content: text,
    timestamp: time,
    metadata: object(
      {},
      {
        tool_calls: list(object({ id: text, name: text, args: anything, args_summary: text })),
        tool_call_id: text,
        tool_name: text,
        tool_result: anything,
        tool_files: files,
        tool_error: text,
        tool_error_code: text,
        tool_duration_ms: number,
        tool_approval: object(
          { decision: answers, by: orNull(text), at: time },
          { remembered: flag },
        ),
        tool_retry: object({ number: count, limit: orNull(count) }),
        files,
        step: count,
        execution_id: text,
        event: uiEvent,
        continuation: object({
          should_continue: flag,
          stop_reason: orNull(text),
          resolved_by: orNull(text),
          reason: text,
          remedy: orNull(record),
        }),
        reasoning: text,
        status_type: text,
        content_ref: text,
        compaction: object({
          kind: compactionKind,
          messages: count,
          tokens_before: count,
          tokens_after: count,
        }),
      },
    ),
  }),
};
