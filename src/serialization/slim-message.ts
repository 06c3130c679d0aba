import type { JsonObject } from '../json.ts';
import { ttlOf } from '../messages/cache-mark.ts';
import type { ContentPart } from '../messages/content-part.ts';
import type { Message, MessageJSON } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { cutContent } from './truncate-text.ts';
import type { TruncationReport } from './truncation-report.ts';
import type { StateRedactor } from './state-redactor.ts';
import type { SlimLimits } from './slim-serialization-config.ts';
import type { SlimMessage, SlimToolCall } from './slim-state.ts';
import { camelKeys, snakeKeys } from './snake-keys.ts';

/** Context for writing the parts of a document. */
export interface Writing {
  readonly limits: SlimLimits;
  readonly redactor: StateRedactor;
  readonly report: TruncationReport;
}

/** Writes a message. `isNeeded` means that the execution cannot continue without the exact message. */
export function slimMessage(message: Message, writing: Writing, isNeeded: boolean): SlimMessage {
  const { limits, redactor, report } = writing;
  const { value, hidden } = redactor.message(message);
  report.secretsHidden(hidden, isNeeded);
  const content = cutContent(value.content, limits.maxContentLength);
  if (content !== value.content) report.contentCut(isNeeded);
  const metadata = slimMetadata(value.metadata, limits);
  if (Object.keys(metadata).length < Object.keys(value.metadata).length)
    report.metadataCut(isNeeded ? 'its messages' : null);
  const { id, role, toolCalls, toolCallId, name, createdAt } = value;
  return {
    id,
    role,
    content: typeof content === 'string' ? content : content.map(snakeKeys),
    ...(toolCalls.length > 0 ? { tool_calls: slimCalls(toolCalls, writing, isNeeded) } : null),
    ...(toolCallId === null ? null : { tool_call_id: toolCallId }),
    ...(name === null ? null : { name }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : null),
    created_at: createdAt,
  };
}

/** Keeps two fields even without metadata: `synthetic`, which separates turns, and the cache mark. */
function slimMetadata(metadata: JsonObject, { includeMetadata }: SlimLimits): JsonObject {
  if (includeMetadata) return metadata;
  const cache = ttlOf(metadata['cache']);
  return { ...(metadata['synthetic'] === true && { synthetic: true }), ...(cache && { cache }) };
}

export const slimCalls = (
  calls: readonly ToolCall[],
  { limits, report }: Writing,
  isNeeded: boolean,
): readonly SlimToolCall[] =>
  calls.map((call) => {
    const { argsRaw, ...rest } = call;
    const isEmpty = argsRaw === undefined && Object.keys(call.args).length === 0;
    if (limits.includeToolArgs || isEmpty) return snakeKeys(call);
    report.argsCut(call.name, isNeeded);
    return { ...snakeKeys({ ...rest, args: {} }), args_omitted: true };
  });

export function readSlimCall(slim: SlimToolCall): ToolCall {
  const { args_omitted: _, ...call } = slim;
  return camelKeys<ToolCall>(call);
}

export const readSlimMessage = (message: SlimMessage): MessageJSON => ({
  id: message.id,
  role: message.role,
  content:
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part) => camelKeys<ContentPart>(part)),
  toolCalls: (message.tool_calls ?? []).map(readSlimCall),
  toolCallId: message.tool_call_id ?? null,
  name: message.name ?? null,
  metadata: message.metadata ?? {},
  createdAt: message.created_at,
});
