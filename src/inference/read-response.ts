import { show } from '../errors/agent-error.ts';
import { excerpt, safeEnd } from '../errors/excerpt.ts';
import { messageOf, type ErrorReport } from '../errors/error-record.ts';
import { isRecord, type JsonObject } from '../json.ts';
import { argumentsIn, MAX_ARGUMENT_BYTES } from '../tools/arguments.ts';
import { isErrorWord } from './finish-word.ts';
import type { FinishReason, InferenceResponse, InferredToolCall } from './inference-driver.ts';

/** A call with parsed arguments; `problem` says why it must not run. */
export interface ReadCall {
  readonly providerId: string | null;
  readonly name: string;
  readonly args: JsonObject;
  readonly argsRaw?: string;
  readonly problem?: string;
}

export interface ReadResponse {
  readonly content: string;
  readonly calls: readonly ReadCall[];
  readonly finishReason: FinishReason;
  readonly notes: readonly string[];
}

/** Maximum calls of one answer. */
export const MAX_CALLS = 128;
/** Maximum characters of a tool name from the model; names of tools have at most 64. */
const MAX_NAME_CHARACTERS = 200;

const noCalls: readonly ReadCall[] = Object.freeze([]);
const noNotes: readonly string[] = Object.freeze([]);

/** Reads the response of a driver, or returns an error record with the reason why it is invalid. */
export function readResponse(response: InferenceResponse): ReadResponse | ErrorReport {
  const problem = shapeProblem(response);
  if (problem !== null)
    return {
      type: 'validation',
      code: 'bad_response',
      message: `The model's answer cannot be read: ${problem}.`,
    };
  const { content, toolCalls, refusal } = response;
  if (typeof refusal === 'string' && refusal !== '')
    return {
      type: 'model',
      code: 'refusal',
      message: `The model refused: ${refusal}`,
      retryable: false,
    };
  if (response.finishReason === 'error') return failedFinish(response);
  if (toolCalls.length === 0)
    return { content, calls: noCalls, finishReason: finishWord(response, false), notes: noNotes };
  const finishReason = finishWord(response, true);
  const corrected = response.finishReason !== finishReason;
  return {
    content,
    calls: readCalls(toolCalls, finishReason === 'length'),
    finishReason,
    notes: corrected ? [`finishReasonCorrected:${wordOf(response)}`] : noNotes,
  };
}

function failedFinish({ content, rawFinishReason: word }: InferenceResponse): ErrorReport {
  if (typeof word !== 'string' || isErrorWord(word) || content.trim() !== '')
    return {
      type: 'model',
      code: 'finish_error',
      message: 'The model call ended with finish reason "error".',
    };
  const message = `The model's answer is empty. The provider ended it with ${show(word.slice(0, 10_000))}.`;
  return { type: 'model', code: 'empty_answer', message };
}

export const isReport = (read: ReadResponse | ErrorReport): read is ErrorReport => 'type' in read;

/**
 * Returns the finish reason: calls mean `tool_calls` regardless of the provider's reason, unless the answer was
 * truncated or filtered; an unknown one is `stop`.
 */
function finishWord({ finishReason }: InferenceResponse, hasCalls: boolean): FinishReason {
  if (finishReason === 'length') return 'length';
  if (finishReason === 'content_filter') return 'content_filter';
  if (hasCalls) return 'tool_calls';
  return finishReason === 'pause_turn' ? 'pause_turn' : 'stop';
}

const wordOf = ({ finishReason }: InferenceResponse): string =>
  typeof finishReason === 'string' ? excerpt(finishReason, 100) : show(finishReason);

/**
 * Reads the first calls of too many; one more represents the others, so that the conversation stays complete and
 * small.
 */
function readCalls(calls: readonly InferredToolCall[], cutOff: boolean): readonly ReadCall[] {
  const read = calls.slice(0, MAX_CALLS).map((call) => readCall(call, cutOff));
  const next = calls[MAX_CALLS];
  if (next === undefined) return read;
  const over = calls.length - MAX_CALLS;
  const problem =
    `The answer has ${calls.length} calls, and at most ${MAX_CALLS} are accepted: ` +
    `the last ${over === 1 ? 'one was' : `${over} were`} not run. Make fewer calls in one answer.`;
  return [...read, { ...nameAndId(next), args: {}, problem }];
}

const nameAndId = ({ id, name }: InferredToolCall): Pick<ReadCall, 'providerId' | 'name'> => ({
  providerId: typeof id === 'string' && id !== '' ? id : null,
  name:
    name.length > MAX_NAME_CHARACTERS
      ? `${name.slice(0, MAX_NAME_CHARACTERS)}… [cut: ${name.length} characters]`
      : name,
});

function readCall(call: InferredToolCall, cutOff: boolean): ReadCall {
  const { name, providerId } = nameAndId(call);
  const read = readArguments(call, cutOff);
  if (typeof read === 'string')
    return {
      providerId,
      name,
      args: {},
      argsRaw: keptText(call.argsRaw ?? messageOf(call.args)),
      problem: cutOff ? `${truncated} ${read}` : read,
    };
  return cutOff
    ? { providerId, name, args: read, problem: truncated }
    : { providerId, name, args: read };
}

const truncated =
  'The answer was truncated at the output limit (length), so none of its calls was run.';

/** Truncates a text that was rejected for its size. */
const keptText = (text: string): string =>
  text.length <= MAX_ARGUMENT_BYTES
    ? text
    : `${text.slice(0, safeEnd(text, 10_000))}… [cut: ${text.length} characters]`;

/** Returns the arguments as an object, or a sentence that says why they are not. */
function readArguments({ args, argsRaw }: InferredToolCall, cutOff: boolean): JsonObject | string {
  if (args !== undefined && args !== null) {
    if (typeof args === 'string') return readArguments({ name: '', argsRaw: args }, cutOff);
    if (!isRecord(args)) return `The arguments are ${show(args)}, expected a JSON object.`;
    return argumentsIn(args);
  }
  const text = argsRaw?.trim() ?? '';
  if (text === '') return cutOff ? 'The arguments are missing.' : {};
  return argumentsIn(text);
}

function shapeProblem(response: unknown): string | null {
  if (!isRecord(response)) return `it is ${show(response)}, expected an InferenceResponse`;
  if (typeof response['content'] !== 'string')
    return `content is ${show(response['content'])}, expected a string`;
  const calls = response['toolCalls'];
  if (!Array.isArray(calls)) return `toolCalls is ${show(calls)}, expected a list`;
  const bad = calls.findIndex((call) => !isCall(call));
  return bad < 0 ? null : `a tool call is ${show(calls[bad])}, expected { id, name, args }`;
}

const isCall = (call: unknown): boolean =>
  isRecord(call) &&
  typeof call['name'] === 'string' &&
  (call['argsRaw'] === undefined || typeof call['argsRaw'] === 'string');
