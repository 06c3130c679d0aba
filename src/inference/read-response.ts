import { show } from '../errors/agent-error.ts';
import { messageOf, type ErrorReport } from '../errors/error-record.ts';
import { isRecord, parseJson, toJsonValue, type JsonObject } from '../json.ts';
import type { FinishReason, InferenceResponse, InferredToolCall } from './inference-driver.ts';

/** A call with its arguments read; `problem` says why it must not run. */
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

const noCalls: readonly ReadCall[] = Object.freeze([]);
const noNotes: readonly string[] = Object.freeze([]);

/** Makes sense of what a driver returned, or says in an error record why it makes none. */
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
  if (response.finishReason === 'error')
    return {
      type: 'model',
      code: 'finish_error',
      message: 'The model call ended with finish reason "error".',
    };
  if (toolCalls.length === 0)
    return { content, calls: noCalls, finishReason: finishWord(response, false), notes: noNotes };
  const finishReason = finishWord(response, true);
  const corrected = response.finishReason !== finishReason;
  return {
    content,
    calls: toolCalls.map((call) => readCall(call, finishReason === 'length')),
    finishReason,
    notes: corrected ? [`finishReasonCorrected:${response.finishReason}`] : noNotes,
  };
}

export const isReport = (read: ReadResponse | ErrorReport): read is ErrorReport => 'type' in read;

/** Calls mean `tool_calls` whatever the provider's word, unless the turn was cut off; an unknown word is `stop`. */
function finishWord({ finishReason }: InferenceResponse, hasCalls: boolean): FinishReason {
  if (finishReason === 'length') return 'length';
  if (finishReason === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

function readCall(call: InferredToolCall, cutOff: boolean): ReadCall {
  const { name } = call;
  const providerId = typeof call.id === 'string' && call.id !== '' ? call.id : null;
  const read = readArguments(call, cutOff);
  if (typeof read === 'string')
    return {
      providerId,
      name,
      args: {},
      argsRaw: call.argsRaw ?? messageOf(call.args),
      problem: cutOff ? `${truncated} ${read}` : read,
    };
  return cutOff
    ? { providerId, name, args: read, problem: truncated }
    : { providerId, name, args: read };
}

const truncated =
  'The answer was cut off at the output limit (length), so none of its calls was run.';

/** The arguments as an object, or the sentence that says why they are none. */
function readArguments({ args, argsRaw }: InferredToolCall, cutOff: boolean): JsonObject | string {
  if (args !== undefined && args !== null) {
    if (typeof args === 'string') return readArguments({ name: '', argsRaw: args }, cutOff);
    if (!isRecord(args)) return `The arguments are ${show(args)}, expected a JSON object.`;
    try {
      return toJsonValue(args) as JsonObject;
    } catch (error) {
      return `The arguments cannot be kept as JSON (${messageOf(error)}).`;
    }
  }
  const text = argsRaw?.trim() ?? '';
  if (text === '') return cutOff ? 'The arguments are missing.' : {};
  const parsed = parseJson(text);
  if (!parsed.ok) return `The arguments are not valid JSON (${parsed.error}).`;
  return isRecord(parsed.value)
    ? parsed.value
    : `The arguments are ${show(parsed.value)}, expected a JSON object.`;
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
