import { READ_RESULT } from '../../agent/compaction.ts';
import type { Compaction } from '../../agent/compaction.ts';
import type { Redactor } from '../../errors/redactor.ts';
import { estimateTokens, messageTokens, textTokens } from '../../inference/estimate-tokens.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import { textOf } from '../../messages/content-part.ts';
import type { Message, MessageJSON } from '../../messages/message.ts';
import { fileFacts, type FileFacts } from '../../file-facts.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import type {
  PartChange,
  PayloadCall,
  RequestCompaction,
  RequestDocument,
  RequestMessage,
  RequestMessages,
  ResponseDocument,
} from './model-call-document.ts';
import type { PayloadText, PayloadTexts } from './payload-text.ts';

/** Which messages of a request to show. */
export interface MessagesShown {
  /** `new`: only those that the call before did not have. */
  readonly messages: 'new' | 'all';
  /** Index of the first message. */
  readonly from: number;
  readonly limit: number;
}

/** Describes a request and how it differs from the call before. */
export function requestDocument(
  call: StoredModelCall,
  shown: MessagesShown,
  texts: PayloadTexts,
): RequestDocument | null {
  const { request, previous, frame, redactor } = call;
  if (request === null) return null;
  const { system, tools, toolChoice, responseFormat } = request;
  const change = (part: 'system' | 'tools'): PartChange => {
    if (!previous?.frame) return 'first';
    return previous.frame[part] === frame?.[part] ? 'unchanged' : 'changed';
  };
  const choice = typeof toolChoice === 'string' ? toolChoice : toolChoice.tool;
  return {
    tokens: estimateTokens(request),
    since: previous && { step: previous.step, executionId: previous.executionId },
    system:
      system === null
        ? null
        : {
            change: change('system'),
            tokens: Math.ceil(textTokens(system)),
            content: texts.text('system', redactor.text(system)),
          },
    tools:
      tools.length === 0
        ? null
        : {
            change: change('tools'),
            tokens: Math.ceil(textTokens(JSON.stringify(tools))),
            count: tools.length,
            names: tools.slice(0, MOST_NAMES).map(({ name }) => name),
            content: texts.json('tools', redactor.value(tools)),
          },
    toolChoice: choice,
    format: responseFormat && texts.json('format', redactor.value(responseFormat)),
    messages: messagesOf(call, shown, texts),
  };
}

const MOST_NAMES = 200;

function messagesOf(
  { request, previous, compactions, redactor }: StoredModelCall,
  { messages: which, from, limit }: MessagesShown,
  texts: PayloadTexts,
): RequestMessages {
  const all = [...(request?.messages ?? [])];
  const isKnown = knownIn(previous?.messages ?? null);
  const isNew = all.map((message) => previous !== null && !isKnown(message));
  const items: RequestMessage[] = [];
  let next: number | null = null;
  for (const [index, message] of all.entries()) {
    if (index < from) continue;
    const compaction = compactions.find(({ id }) => id === message.id) ?? null;
    const isShown = which === 'all' || previous === null || isNew[index] || compaction !== null;
    if (!isShown) continue;
    if (items.length >= limit) {
      next = index;
      break;
    }
    const step = isNew[index] && !message.isUser() ? (previous?.step ?? null) : null;
    const facts = { index, isNew: isNew[index] ?? false, step, compaction };
    items.push(requestMessage(message, facts, redactor, texts));
  }
  return { count: all.length, added: isNew.filter(Boolean).length, items, next };
}

/** Whether a message is in a list: the same object, or one of the same JSON. */
function knownIn(messages: Iterable<Message> | null): (message: Message) => boolean {
  const same = new Set(messages ?? []);
  const byId = new Map(Array.from(messages ?? [], (message) => [message.id, message]));
  return (message) => {
    if (same.has(message)) return true;
    const before = byId.get(message.id);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(message);
  };
}

/** The start of the note in place of a long result, see `modelView`. */
const LEFT_OUT = '[Left out to save space:';

function requestMessage(
  message: Message,
  facts: Pick<RequestMessage, 'index' | 'isNew' | 'step'> & {
    readonly compaction: Compaction | null;
  },
  redactor: Redactor,
  texts: PayloadTexts,
): RequestMessage {
  const { index, isNew, step, compaction } = facts;
  const { text } = message;
  return {
    index,
    role: message.role,
    isNew,
    step,
    tokens: Math.ceil(messageTokens(message)),
    name: message.name,
    callId: message.toolCallId,
    ...contentOf(message, `m${index}`, redactor, texts),
    compaction: compaction && compactionFacts(compaction),
    isLeftOut: message.isTool() && text.startsWith(LEFT_OUT) && text.includes(READ_RESULT),
  };
}

function compactionFacts(compaction: Compaction): RequestCompaction {
  const {
    id,
    fromPosition,
    toPosition,
    tokensBefore,
    tokensAfter,
    model = null,
    cost,
    at,
  } = compaction;
  const messages = Math.max(0, toPosition - fromPosition);
  return { id, messages, tokensBefore, tokensAfter, model, cost, at };
}

/** Describes the parts of a message. */
function contentOf(
  message: MessageJSON,
  name: string,
  redactor: Redactor,
  texts: PayloadTexts,
): Pick<RequestMessage, 'content' | 'reasoning' | 'calls' | 'files'> {
  const { content, toolCalls, metadata, role } = message;
  const text = textOf(content);
  const { reasoning } = metadata;
  return {
    content: text === '' ? null : shownText(text, name, role === 'tool', redactor, texts),
    reasoning:
      typeof reasoning === 'string' && reasoning !== ''
        ? texts.text(`${name}.reasoning`, redactor.text(reasoning))
        : null,
    calls: toolCalls.map(({ id, name: tool, args, argsRaw }, i): PayloadCall => ({
      id,
      name: tool,
      args: texts.json(
        `${name}.call${i}`,
        argsRaw === undefined ? redactor.value(args) : redactor.text(argsRaw),
      ),
    })),
    files: redactor.value(filesIn(content)),
  };
}

/** A result of a tool that is JSON is shown with line breaks. */
function shownText(
  text: string,
  name: string,
  mayBeJson: boolean,
  redactor: Redactor,
  texts: PayloadTexts,
): PayloadText {
  if (mayBeJson && /^[[{]/.test(text))
    try {
      return texts.json(name, redactor.value(JSON.parse(text) as unknown));
    } catch {
      // a note, or a cut result
    }
  return texts.text(name, redactor.text(text));
}

const filesIn = (content: MessageJSON['content']): readonly FileFacts[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part: ContentPart) => (part.type === 'text' ? [] : [fileFacts(part)]));

/** Describes the answer of a step; null if there is none. */
export function responseDocument(
  { answer, step, redactor }: StoredModelCall,
  texts: PayloadTexts,
): ResponseDocument | null {
  const message = answer.find(({ role }) => role === 'assistant');
  if (!message) return null;
  return {
    ...contentOf(message, 'response', redactor, texts),
    finishReason: step?.finishReason ?? null,
    isCut: message.metadata['cut'] === true,
  };
}
