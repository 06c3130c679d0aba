import { isRecord, sameJson, type JsonObject } from '../json.ts';
import { ttlOf } from '../messages/cache-mark.ts';
import type { ContentPart } from '../messages/content-part.ts';
import type { Message, MessageJSON } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { cutContent } from './truncate-text.ts';
import type { TruncationReport } from './truncation-report.ts';
import type { StateRedactor } from './state-redactor.ts';
import type { SlimLimits } from './slim-serialization-config.ts';
import type { SlimMessage, SlimPart, SlimToolCall } from './slim-state.ts';
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
  if (!sameJson(metadata, value.metadata)) report.metadataCut(isNeeded ? 'its messages' : null);
  const { id, role, toolCalls, toolCallId, name, createdAt } = value;
  return {
    id,
    role,
    content: typeof content === 'string' ? content : slimParts(content),
    ...(toolCalls.length > 0 ? { tool_calls: slimCalls(toolCalls, writing, isNeeded) } : null),
    ...(toolCallId === null ? null : { tool_call_id: toolCallId }),
    ...(name === null ? null : { name }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : null),
    created_at: createdAt,
  };
}

export const slimParts = (content: readonly ContentPart[]): readonly SlimPart[] =>
  content.map((part) => snakeKeys(part) as SlimPart); // each kind of part by the same rule

export const readSlimParts = (content: readonly SlimPart[]): readonly ContentPart[] =>
  content.map((part) => camelKeys<ContentPart>(part));

/**
 * Keeps three facts even without metadata: `synthetic`, which separates turns, the cache mark, and the kind of a
 * result, by which errors are marked on the wire.
 */
function slimMetadata(metadata: JsonObject, { includeMetadata }: SlimLimits): JsonObject {
  if (includeMetadata) return metadata;
  const { synthetic, toolResult } = metadata;
  const kind = isRecord(toolResult) ? toolResult['kind'] : undefined;
  const cache = ttlOf(metadata['cache']);
  return {
    ...(synthetic === true && { synthetic }),
    ...(cache && { cache }),
    ...(typeof kind === 'string' && { toolResult: { kind } }),
  };
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
  content: typeof message.content === 'string' ? message.content : readSlimParts(message.content),
  toolCalls: (message.tool_calls ?? []).map(readSlimCall),
  toolCallId: message.tool_call_id ?? null,
  name: message.name ?? null,
  metadata: message.metadata ?? {},
  createdAt: message.created_at,
});
