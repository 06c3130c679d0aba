import { describedText, fileFacts, isRaster } from '../file-facts.ts';
import type { JsonValue } from '../json.ts';
import {
  textOf,
  type FilePart,
  type ImagePart,
  type MessageContent,
} from '../messages/content-part.ts';
import { filesText } from './files-text.ts';
import type { MessageJSON } from '../messages/message.ts';
import { reasoningOf } from '../reasoning-text.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import { valueOf } from './tool-results.ts';
import type { UiMessage, UiMetadata, UiToolCall, UiToolFile } from './ui-message.ts';

/** A step with the results of its calls. */
export interface StepResults {
  readonly messageIds: readonly string[];
  readonly results: readonly Pick<
    ToolResult,
    'callId' | 'kind' | 'value' | 'error' | 'durationMs'
  >[];
}

export interface UiMessagesOptions {
  /** Steps of the session. With them, results have durations and errors. */
  readonly steps?: readonly StepResults[];
  /** Whether answers include the model's reasoning, its first 32,768 characters. Default: false. */
  readonly includeReasoning?: boolean;
  /** Characters of a summary of arguments. Default: 200. */
  readonly maxArgLength?: number;
}

/** Converts a stored conversation to UI messages, without instructions and the loop's own messages to the model. */
export function toUiMessages(
  messages: readonly MessageJSON[],
  options: UiMessagesOptions = {},
): readonly UiMessage[] {
  const { steps = [], maxArgLength = 200, includeReasoning = false } = options;
  const results = resultsByMessage(steps);
  const rows: UiMessage[] = [];
  let names = new Map<string, string>();
  for (const message of messages) {
    const { id, role, metadata, createdAt: timestamp, toolCalls } = message;
    const isTool = role === 'tool';
    const content = isTool ? describedText(message.content) : shownText(message.content);
    if (role === 'user' && metadata['synthetic'] !== true)
      rows.push({ id, role, content, timestamp, metadata: userFiles(message.content) ?? {} });
    else if (role === 'assistant') {
      const reasoning = includeReasoning ? reasoningOf(message) : null;
      if (content.trim() === '' && toolCalls.length === 0 && reasoning === null) continue;
      names = new Map(toolCalls.map((call) => [call.id, call.name]));
      const tool_calls = toolCalls.map((call) => uiCall(call, maxArgLength));
      rows.push({
        id,
        role,
        content,
        timestamp,
        metadata: {
          ...(tool_calls.length > 0 && { tool_calls }),
          ...(reasoning !== null && { reasoning }),
        },
      });
    } else if (isTool) {
      const callId = message.toolCallId ?? '';
      const name = message.name ?? names.get(callId) ?? '';
      rows.push({
        id,
        role,
        content,
        timestamp,
        metadata: {
          ...resultOf(callId, name, content, results.get(id)),
          ...filesOf(message.content),
        },
      });
    }
  }
  return rows;
}

type Result = StepResults['results'][number];

/** Indexes results by message, because call ids are unique only within an execution. */
function resultsByMessage(steps: readonly StepResults[]): ReadonlyMap<string, readonly Result[]> {
  const found = new Map<string, readonly Result[]>();
  for (const { messageIds, results } of steps) for (const id of messageIds) found.set(id, results);
  return found;
}

function resultOf(
  callId: string,
  name: string,
  content: string,
  results: readonly Result[] | undefined,
): UiMetadata {
  const result = results?.find((one) => one.callId === callId);
  const shown: UiMetadata = {
    tool_call_id: callId,
    tool_name: name,
    tool_result: result ? result.value : valueOf(content),
  };
  if (!result) return shown;
  const timed = { ...shown, tool_duration_ms: result.durationMs };
  return result.kind === 'ok'
    ? timed
    : {
        ...timed,
        tool_error: result.error?.message ?? result.kind,
        tool_error_code: result.error?.code ?? result.kind,
      };
}

function uiCall({ id, name, args, argsRaw }: ToolCall, max: number): UiToolCall {
  const text = argsRaw ?? JSON.stringify(args);
  const args_summary = text.length <= max ? text : `${text.slice(0, max - 1)}…`;
  const shown: JsonValue = argsRaw ?? args;
  return { id, name, args: shown, args_summary };
}

/** Most characters of base64 of an image that is shown as it is. */
const MOST_SHOWN = 400_000;

function filesOf(content: MessageContent): Pick<UiMetadata, 'tool_files'> | null {
  const files = filesIn(content);
  return files.length === 0 ? null : { tool_files: files };
}

function userFiles(content: MessageContent): Pick<UiMetadata, 'files'> | null {
  const files = filesIn(content);
  return files.length === 0 ? null : { files };
}

const filesIn = (content: MessageContent): readonly UiToolFile[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === 'text' ? [] : [uiFile(part)]));

/** Describes a part. Only raster images have their data: other formats may hold scripts. */
function uiFile(part: ImagePart | FilePart): UiToolFile {
  const { mediaType, ...facts } = fileFacts(part);
  const { data = '' } = part;
  const isShown =
    mediaType !== undefined && data !== '' && data.length <= MOST_SHOWN && isRaster(mediaType);
  return {
    ...facts,
    ...(mediaType !== undefined && { media_type: mediaType }),
    ...(isShown && { data }),
  };
}

/** Returns the text, or the names of images and files if there is none. */
function shownText(content: MessageContent): string {
  const text = textOf(content);
  return text === '' && typeof content !== 'string'
    ? filesText(content.filter(({ type }) => type !== 'text'))
    : text;
}
