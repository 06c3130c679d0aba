import type { ErrorReport } from '../../errors/error-record.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import type { ImagePart } from '../../messages/content-part.ts';
import { string } from './chat-message.ts';
import { callTypes } from './responses-state.ts';

/** An output item while it grows. */
export interface OutputItem {
  readonly type: string;
  text: string;
  refusal: string;
  /** Kind of the reasoning that arrived first, and the identity of its parts. */
  thought: { readonly kind: 'summary' | 'content'; readonly parts: Map<unknown, object> } | null;
  callId: string;
  name: string;
  args: string;
  /** Characters of the arguments that were emitted. */
  emitted: number;
  /** Position among the calls that have a name; -1 until then. */
  call: number;
  /** The complete item. */
  whole: Record<string, unknown> | null;
}

/** Joins the parts of a message. */
export function partsOf(content: unknown): { readonly text: string; readonly refusal: string } {
  const said = { text: '', refusal: '' };
  for (const part of Array.isArray(content) ? (content as unknown[]) : [])
    if (isRecord(part)) {
      said.text += string(part['text']);
      said.refusal += string(part['refusal']);
    }
  return said;
}

/** Returns the images that built-in tools made, in the order of their items. */
export function filesOf(items: Iterable<OutputItem>): ImagePart[] {
  const files: ImagePart[] = [];
  for (const { type, whole } of items) {
    const { result: data, output_format: format } = whole ?? {};
    if (!isImage(type, data)) continue;
    const mediaType = typeof format === 'string' ? `image/${format}` : undefined;
    files.push({ type: 'image', data, ...(mediaType !== undefined && { mediaType }) });
  }
  return files;
}

const isImage = (type: string, data: unknown): data is string =>
  type === 'image_generation_call' && typeof data === 'string' && data !== '';

/** Returns an item as the state stores it; null if it cannot be sent back. */
export function keptItem({ type, text, call, whole }: OutputItem): JsonObject | null {
  const source = (whole ?? {}) as JsonObject; // parsed from JSON
  const { id: _id, status: _status, ...more } = source;
  if (type === 'message') {
    const { phase } = source;
    const annotations = annotationsIn(source['content']);
    return text === ''
      ? null
      : {
          type,
          length: text.length,
          ...(typeof phase === 'string' ? { phase } : null),
          ...(annotations.length > 0 ? { annotations } : null),
        };
  }
  if (callTypes.has(type)) {
    const { arguments: _args, input: _input, call_id: _callId, name: _name, ...rest } = more;
    return call < 0 ? null : { ...rest, type, call };
  }
  if (whole === null) return null;
  // a summary is required, and some servers send none
  if (type === 'reasoning') return isReadable(source) ? { summary: [], ...more } : null;
  // the message has the image as a part
  if (isImage(type, source['result'])) {
    const { result: _image, ...call } = source;
    return call;
  }
  // other built-in calls require their id
  return type === 'web_search_call' ? { ...more, status: source['status'] ?? null } : source;
}

/** Whether reasoning can be sent back: encrypted, or in clear as local servers send it. */
const isReadable = ({ encrypted_content: secret, content }: JsonObject): boolean =>
  typeof secret === 'string' || (Array.isArray(content) && content.length > 0);

function annotationsIn(content: unknown): JsonObject[] {
  return (Array.isArray(content) ? (content as unknown[]) : []).flatMap((part) =>
    isRecord(part) && Array.isArray(part['annotations'])
      ? (part['annotations'] as JsonObject[]) // parsed from JSON
      : [],
  );
}

/** Returns why a response is not an answer; null if it is one. */
export function problemIn(
  { status }: Record<string, unknown>,
  items: readonly OutputItem[],
): ErrorReport | null {
  if (status === 'cancelled')
    return { type: 'timeout', code: 'cancelled', message: 'The provider cancelled the response.' };
  if (status === 'queued' || status === 'in_progress')
    return {
      type: 'validation',
      code: 'unreadable_body',
      message: `The provider's answer cannot be read: its status is ${status}. Do not set background in extraBody.`,
      retryable: false,
    };
  if (status === 'failed')
    return { type: 'model', code: 'server', message: 'The provider failed without a message.' };
  const asked = items.find(({ type }) => type === 'mcp_approval_request')?.whole;
  if (!asked) return null;
  return {
    type: 'model',
    code: 'mcp_approval_required',
    message:
      `The MCP server "${string(asked['server_label'])}" requires an approval of ${string(asked['name'])}, ` +
      "which built-in tools do not support. Set require_approval: 'never' on the tool, or connect the server as tools of the agent.",
    retryable: false,
  };
}
