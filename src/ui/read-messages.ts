import { isRecord, own } from '../json.ts';
import { isBounded } from './bounded.ts';
import { isEvent } from './event-row.ts';
import {
  fieldsOf,
  isAmount,
  isCount,
  isName,
  isRemedy,
  isText,
  isToolFiles,
  isBoolean,
  maybe,
  must,
  orNull,
  readFields,
  type Check,
  type Field,
} from './read-fields.ts';
import { sameItems } from './message-list.ts';
import type { UiMessage, UiMetadata, UiRole, UiStatusType } from './ui-message.ts';

const oneOf =
  (names: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && names.includes(value);

const roles: readonly UiRole[] = ['user', 'assistant', 'tool', 'status'];
const statusTypes: readonly UiStatusType[] = [
  'thinking',
  'tool_call',
  'tool_result',
  'error',
  'info',
  'continuation',
];

const isCall: Check = (value) =>
  isRecord(value) &&
  isName(value['id']) &&
  isName(value['name']) &&
  isText(value['args_summary']) &&
  isBounded(value['args']);
const isContinuation: Check = (value) =>
  isRecord(value) &&
  isBoolean(value['should_continue']) &&
  isText(value['reason']) &&
  [value['stop_reason'], value['resolved_by']].every(orNull(isName)) &&
  orNull(isRemedy)(value['remedy']);

const isCompaction: Check = (value) =>
  isRecord(value) &&
  (value['kind'] === 'summary' || value['kind'] === 'tool_results') &&
  ['messages', 'tokens_before', 'tokens_after'].every((name) => isAmount(own(value, name)));

const isApproval: Check = (value) =>
  isRecord(value) &&
  ['approved', 'edited', 'denied'].includes(String(value['decision'])) &&
  orNull(isName)(value['by']) &&
  isName(value['at']);
const isRetry: Check = (value) =>
  isRecord(value) && isCount(value['number']) && orNull(isCount)(value['limit']);

const messageFields: { readonly [F in keyof UiMessage]: Field } = {
  id: must(isName),
  role: must(oneOf(roles)),
  content: must(isText),
  timestamp: must(isName),
  metadata: must(isRecord),
};

const metadataFields: { readonly [F in keyof UiMetadata]-?: Field } = {
  tool_calls: maybe((value) => Array.isArray(value) && value.every(isCall), undefined),
  tool_call_id: maybe(isName, undefined),
  tool_name: maybe(isName, undefined),
  tool_result: maybe(isBounded, null),
  tool_files: maybe(isToolFiles, undefined),
  tool_error: maybe(isText, 'failed'),
  tool_error_code: maybe(isName, undefined),
  tool_duration_ms: maybe(isAmount, undefined),
  tool_approval: maybe(isApproval, undefined),
  tool_retry: maybe(isRetry, undefined),
  files: maybe(isToolFiles, undefined),
  step: maybe(isCount, undefined),
  execution_id: maybe(isName, undefined),
  event: maybe(isEvent, undefined),
  status_type: maybe(oneOf(statusTypes), 'info'),
  continuation: maybe(isContinuation, undefined),
  compaction: maybe(isCompaction, undefined),
  content_ref: maybe(isName, undefined),
  reasoning: maybe(isText, undefined),
  streaming: maybe(isBoolean, undefined),
  pending: maybe(isBoolean, undefined),
  agent_id: maybe(isName, undefined),
  parent_agent_id: maybe(isName, undefined),
};

/** Keeps fields that only the server knows, unless the view cannot show them. */
function withoutUnbounded(record: Record<string, unknown>): Record<string, unknown> {
  const isLarge = (name: string): boolean =>
    !Object.hasOwn(metadataFields, name) && !isBounded(record[name]);
  const entries = Object.entries(record);
  return entries.some(([name]) => isLarge(name))
    ? Object.fromEntries(entries.filter(([name]) => !isLarge(name)))
    : record;
}

const message = fieldsOf(messageFields);
const metadata = fieldsOf(metadataFields);

/** Reads the messages of a list and counts the invalid ones. Never throws. */
export function readMessages(list: readonly UiMessage[]): {
  readonly messages: readonly UiMessage[];
  readonly ignored: number;
} {
  let ignored = 0;
  const read = (value: unknown): UiMessage | null => {
    const head = isRecord(value) ? readFields(message, value) : null;
    const fields = head && isRecord(head.value['metadata']) ? head.value['metadata'] : null;
    const more = fields && readFields(metadata, withoutUnbounded(fields));
    if (!head || !more?.isWhole) ignored += 1;
    if (!head || !more) return null;
    const fit = more.value === fields ? head.value : { ...head.value, metadata: more.value };
    return fit as unknown as UiMessage; // its fields were checked
  };
  if (!Array.isArray(list)) return { messages: [], ignored: 1 };
  const messages = list.flatMap((value: unknown) => {
    try {
      return read(value) ?? [];
    } catch {
      ignored += 1;
      return [];
    }
  });
  return { messages: sameItems(list, messages) ? list : messages, ignored };
}
