import { parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import type { Messages } from '../../messages/messages.ts';

/** Result of one tool call, read from the conversation. */
export interface Outcome {
  readonly tool: string;
  /** Arguments that the model sent. */
  readonly args: JsonObject;
  readonly kind: 'ok' | 'error' | 'denied' | 'unfinished';
  /** Value of a successful call. */
  readonly value: JsonValue;
  /** Text of a failed or denied call. */
  readonly said: string;
}

/** Everything that the demo model uses. It is read again for every call, so any process can continue at any point. */
export interface Talk {
  /** The request as a whole sentence; follow-ups are completed. */
  readonly text: string;
  /** The message as typed, and its id. */
  readonly typed: string;
  readonly messageId: string;
  readonly isFirstTurn: boolean;
  /** Tool calls of this turn, in call order. */
  readonly outcomes: readonly Outcome[];
  /** What a criterion requested after an answer of this turn. */
  readonly asked: string | null;
}

/** Earlier messages, for follow-ups. */
export interface Past {
  readonly lastRequest: string | null;
  readonly lastAnswer: string;
  readonly messages: readonly Message[];
}

/** Maximum characters to read: the model matches words only. */
const MAX_TEXT = 2000;

export interface Turns {
  readonly talk: Talk;
  readonly past: Past;
}

const isRequest = (message: Message): boolean =>
  message.isUser() && message.metadata['synthetic'] !== true;

/** Splits the conversation at the newest request; "continue" resumes the request before it. */
export function readTurns(list: Messages): Turns {
  const messages = [...list];
  const newest = messages.findLastIndex(isRequest);
  const typed = textAt(messages, newest);
  let start = newest;
  while (start > 0 && asksToContinue.test(textAt(messages, start))) {
    const before = messages.slice(0, start).findLastIndex(isRequest);
    if (before < 0) break;
    start = before;
  }
  const turn = messages.slice(start + 1);
  const earlier = messages.slice(0, Math.max(0, start));
  const asked = turn.findLast((message) => message.isUser() && !isRequest(message));
  return {
    talk: {
      text: textAt(messages, start),
      typed,
      messageId: messages[newest]?.id ?? '',
      isFirstTurn: messages.findIndex(isRequest) === newest,
      outcomes: outcomesIn(turn),
      asked: asked?.text ?? null,
    },
    past: {
      lastRequest: earlier.findLast(isRequest)?.text ?? null,
      lastAnswer: earlier.findLast((m) => m.isAssistant() && m.text.trim() !== '')?.text ?? '',
      messages: earlier,
    },
  };
}

const asksToContinue =
  /^\W*(?:please |ok(?:ay)?,? )?(?:go\s+on|continue|carry on|keep going|proceed|try again|again)\b[^a-z]*$/i;

const textAt = (messages: readonly Message[], index: number): string =>
  (messages[index]?.text ?? '').slice(0, MAX_TEXT);

export function outcomesIn(messages: readonly Message[]): readonly Outcome[] {
  const answers = new Map<string, string>();
  for (const { toolCallId, text } of messages)
    if (toolCallId !== null) answers.set(toolCallId, text);
  return messages.flatMap(({ toolCalls }) =>
    toolCalls.flatMap(({ id, name, args }) => {
      const answer = answers.get(id);
      return answer === undefined ? [] : [readOutcome(name, args, answer)];
    }),
  );
}

/** Prefixes that the loop adds to failed results. */
const beginnings: readonly (readonly [Outcome['kind'], RegExp])[] = [
  ['error', /^Error: /],
  ['denied', /^(?:Denied by a person|Blocked): /],
  ['unfinished', /^Not (?:finished|run): /],
];

/** Skips the note about changed arguments at the start of a result. */
const edited = /^\[A person changed the arguments to .* before this ran\.\]\n/;

function readOutcome(tool: string, args: JsonObject, answer: string): Outcome {
  const rest = answer.replace(edited, '');
  for (const [kind, beginning] of beginnings)
    if (beginning.test(rest))
      return { tool, args, kind, value: null, said: rest.replace(beginning, '') };
  const parsed = parseJson(rest);
  return { tool, args, kind: 'ok', value: parsed.ok ? parsed.value : rest, said: '' };
}
