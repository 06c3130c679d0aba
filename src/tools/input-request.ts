import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, jsonCopy, type JsonObject, type JsonValue } from '../json.ts';
import { readySchema, type JsonSchema } from './schema.ts';

/** A question to the user: a form that `schema` describes, or an address to open. */
export type InputQuestion =
  | { readonly message: string; readonly schema: JsonSchema; readonly url?: undefined }
  | { readonly message: string; readonly url: string; readonly schema?: undefined };

/** The user's answer to one question; `content` holds the fields of the form. */
export type InputAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** A question under the key that a tool gave it. */
export interface KeyedQuestion {
  readonly key: string;
  readonly message: string;
  /** JSON Schema of the form; absent if `url` is set. */
  readonly schema?: JsonSchema;
  /** Address to open. It comes from the tool, so show where it leads before it is opened. */
  readonly url?: string;
}

/** What earlier rounds of a call asked and got; null in `ToolContext.input` on the first run of a call. */
export interface GivenInput {
  /** Answers by key, without inherited properties. A later answer replaces an earlier one. */
  readonly answers: Readonly<Record<string, InputAnswer>>;
  /** The state that the tool passed to `requestInput`; null if it passed none. */
  readonly state: string | null;
}

const MAX_QUESTIONS = 16;
const MAX_MESSAGE = 4_000;
const MAX_SCHEMA = 64_000;
const MAX_URL = 8_000;
/** Maximum characters of the fields of one form, as JSON. */
const MAX_CONTENT = 100_000;
/** Maximum characters of the state that a tool keeps with its questions. */
const MAX_STATE = 100_000;

/** The result of a tool that needs input before it can continue: the call stays open and the run pauses. */
export class InputRequired {
  readonly questions: readonly KeyedQuestion[];
  readonly state: string | null;

  constructor(questions: readonly KeyedQuestion[], state: string | null) {
    this.questions = questions;
    this.state = state;
  }
}

/**
 * Asks the user in the middle of a call: return it from `execute`. The run pauses, and `execute` runs again with the
 * answers in `context.input`, also in another process. `state` comes back unchanged.
 */
export function requestInput(
  questions: Readonly<Record<string, InputQuestion>>,
  options: { readonly state?: string } = {},
): InputRequired {
  const keyed = Object.entries(questions).map(([key, question]) => checkedQuestion(key, question));
  if (keyed.length === 0 || keyed.length > MAX_QUESTIONS)
    throw invalidInput(`${keyed.length} questions`, `1 to ${MAX_QUESTIONS}`);
  const { state = null } = options;
  if (state !== null && (typeof state !== 'string' || state.length > MAX_STATE))
    throw invalidInput(
      typeof state === 'string' ? `a state of ${state.length} characters` : `state ${show(state)}`,
      `a text of at most ${MAX_STATE} characters`,
    );
  return new InputRequired(keyed, state);
}

/** Checks a question, which may come from a foreign server, and keeps only its known fields. */
function checkedQuestion(key: string, question: unknown): KeyedQuestion {
  if (!/^[\w-]{1,64}$/.test(key))
    throw invalidInput(`the key ${show(key)}`, '1 to 64 letters, digits, "_" or "-"');
  if (!isRecord(question))
    throw invalidInput(show(question), '{ message, schema } or { message, url }');
  const { message, schema, url } = question;
  if (typeof message !== 'string' || message.trim() === '' || message.length > MAX_MESSAGE)
    throw invalidInput(
      `the message ${show(message).slice(0, 100)} for "${key}"`,
      `a text of 1 to ${MAX_MESSAGE} characters`,
    );
  if (url !== undefined) {
    if (
      typeof url !== 'string' ||
      url.length > MAX_URL ||
      !/^https?:\/\//i.test(url) ||
      !URL.canParse(url)
    )
      throw invalidInput(
        `the url ${show(url).slice(0, 100)} for "${key}"`,
        'an http or https address',
      );
    return { key, message, url };
  }
  if (!isRecord(schema))
    throw invalidInput(`the schema ${show(schema)} for "${key}"`, 'a JSON Schema, or a url');
  const { value, isTruncated } = jsonCopy(schema);
  const size = JSON.stringify(value).length;
  if (isTruncated || size > MAX_SCHEMA)
    throw invalidInput(
      `a schema of ${size} characters${isTruncated ? ' with too many levels' : ''} for "${key}"`,
      `one of at most ${MAX_SCHEMA}`,
    );
  readySchema(`The question "${key}"`, value as JsonSchema);
  return { key, message, schema: value as JsonSchema };
}

const invalidInput = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_input', `The request for input has ${seen}, expected ${expected}.`);

/** Returns why an answer does not fit its question; null if it does. */
export async function inputProblem(
  { key, schema, url }: KeyedQuestion,
  answer: InputAnswer,
): Promise<string | null> {
  if (answer.action !== 'accept') return null;
  const { content } = answer;
  if (url !== undefined)
    return content === undefined
      ? null
      : 'The question is an address to open, and takes no content.';
  if (content === undefined) return 'The answer has no content, and the question is a form.';
  const checked = await readySchema(`The question "${key}"`, schema ?? {}).check(content);
  return checked.ok ? null : checked.message;
}

/** Reads an answer from outside into a private copy; null if it is none. */
export function inputAnswerIn(given: unknown): InputAnswer | null {
  if (!isRecord(given)) return null;
  const { action, content } = given;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') return null;
  if (content === undefined) return { action };
  if (!isRecord(content)) return null;
  let copy: { readonly value: JsonValue; readonly isTruncated: boolean };
  try {
    copy = jsonCopy(content);
  } catch {
    return null;
  }
  const isFine = !copy.isTruncated && JSON.stringify(copy.value).length <= MAX_CONTENT;
  return isFine ? { action, content: copy.value as JsonObject } : null;
}
