import {
  contentOf,
  readRecord,
  type ReadOptions,
} from '../broadcasting/use-chat/use-chat-request.ts';
import { ChatRefusal } from '../broadcasting/use-chat/use-chat-errors.ts';
import { isRecord, jsonCopy, type JsonObject } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';

/** The answer to one interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  /** `cancelled`: the user gave no answer. */
  readonly status: 'resolved' | 'cancelled';
  readonly payload: unknown;
}

/** What a client asks for: an answer to its newest message, to continue after interrupts, or to see the thread. */
export type RunAsk =
  | { readonly kind: 'message'; readonly id: string; readonly content: MessageContent }
  | { readonly kind: 'resume'; readonly entries: ReadonlyMap<string, ResumeEntry> }
  | { readonly kind: 'attach' };

/**
 * The request of a client. Its earlier messages, tools and context are ignored: the server keeps the conversation, and
 * runs only its own tools.
 */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** The client's own state. It gets it back with the facts of the session. */
  readonly state: JsonObject;
  readonly ask: RunAsk;
}

const MAX_RUN_ID = 200;
const MAX_ENTRIES = 100;
/** Most characters of the client's state, as JSON. */
const MAX_STATE = 100_000;

export async function readRunInput(request: Request, options: ReadOptions): Promise<RunInput> {
  const body = await readRecord(request, options.maxBodyBytes);
  const { threadId, runId } = body;
  if (typeof threadId !== 'string') throw invalid('The body has no threadId.');
  if (typeof runId !== 'string' || runId === '' || runId.length > MAX_RUN_ID)
    throw invalid(`The body has no runId of 1 to ${MAX_RUN_ID} characters.`);
  return { threadId, runId, state: stateIn(body['state']), ask: askIn(body, options) };
}

function stateIn(state: unknown): JsonObject {
  if (!isRecord(state)) return {};
  const { value, isTruncated } = jsonCopy(state);
  if (isTruncated || JSON.stringify(value).length > MAX_STATE)
    throw new ChatRefusal(
      'body_too_large',
      `The state has more than ${MAX_STATE} characters or too many levels. Send a smaller one.`,
    );
  return value as JsonObject; // a copy of a record
}

function askIn(body: Readonly<Record<string, unknown>>, options: ReadOptions): RunAsk {
  const { resume, messages = [] } = body;
  if (!Array.isArray(messages)) throw invalid('The messages are not a list.');
  if (resume !== undefined && resume !== null && !Array.isArray(resume))
    throw invalid('resume is not a list.');
  if (Array.isArray(resume) && resume.length > 0)
    return { kind: 'resume', entries: entriesIn(resume) };
  const last: unknown = messages.at(-1);
  if (!isRecord(last) || last['role'] !== 'user') return { kind: 'attach' };
  const { id, content } = last;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(parts)) throw invalid('The content of the message is neither text nor parts.');
  return {
    kind: 'message',
    id: typeof id === 'string' ? id : '',
    content: contentOf(parts.filter(isRecord).map(filePart), options),
  };
}

/** Returns a part as `contentOf` reads it. What has no place in a message is refused, and not left out in silence. */
function filePart(part: Record<string, unknown>): Record<string, unknown> {
  const { type, source } = part;
  if (type === 'text') return part;
  const { type: kind, value, mimeType } = isRecord(source) ? source : {};
  if (typeof value !== 'string' || (kind !== 'data' && kind !== 'url'))
    throw invalid('A part of the message is no text and has no data. Send files as data.');
  const media = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  return {
    type: 'file',
    mediaType:
      kind === 'url' && type === 'image' && !media.startsWith('image/') ? 'image/*' : media,
    url: kind === 'data' ? `data:${media};base64,${value}` : value,
  };
}

function entriesIn(resume: readonly unknown[]): ReadonlyMap<string, ResumeEntry> {
  if (resume.length > MAX_ENTRIES) throw invalid(`resume has more than ${MAX_ENTRIES} entries.`);
  const entries = new Map<string, ResumeEntry>();
  for (const entry of resume) {
    const { interruptId, status, payload } = isRecord(entry) ? entry : {};
    if (typeof interruptId !== 'string')
      throw invalid('An entry of resume has no interruptId. Send the id of the interrupt.');
    if (status !== 'resolved' && status !== 'cancelled')
      throw invalid('An entry of resume has no status of resolved or cancelled.');
    if (entries.has(interruptId))
      throw invalid('An interrupt is answered more than once. Send one answer for each.');
    entries.set(interruptId, { interruptId, status, payload });
  }
  return entries;
}

const invalid = (message: string): ChatRefusal => new ChatRefusal('invalid_request', message);
