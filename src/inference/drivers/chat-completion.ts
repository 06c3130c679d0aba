import { isRecord } from '../../json.ts';
import type { InferenceResponse, InferredToolCall } from '../inference-driver.ts';
import { finishReasonOf, readCall, splitThink, spokenIn, string, usageIn } from './chat-message.ts';

/** Reads a whole Chat Completions body; null when it has no choice to read. */
export function readCompletion(body: unknown): InferenceResponse | null {
  if (!isRecord(body) || !Array.isArray(body['choices'])) return null;
  const choice: unknown = body['choices'][0];
  if (!isRecord(choice)) return null;
  const { message } = choice;
  const word = string(choice['finish_reason']) || null;
  const cutOff = finishReasonOf(word, false) === 'length';
  const toolCalls = isRecord(message) ? callsIn(message, cutOff) : [];
  const { text, reasoning, refusal } = spokenIn(message);
  const { think, said } = splitThink(text);
  return {
    content: said,
    toolCalls,
    reasoning: reasoning || think || null,
    refusal: refusal || null,
    finishReason: finishReasonOf(word, toolCalls.length > 0),
    usage: usageIn(body),
  };
}

function callsIn(message: Record<string, unknown>, cutOff: boolean): InferredToolCall[] {
  const list = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
  const calls = list.flatMap((call: unknown) => {
    const fn = isRecord(call) && isRecord(call['function']) ? call['function'] : null;
    if (!isRecord(call) || !fn || string(fn['name']) === '') return [];
    return [
      readCall(string(call['id']), string(fn['name']), argumentText(fn['arguments']), cutOff),
    ];
  });
  const legacy = message['function_call'];
  if (calls.length > 0 || !isRecord(legacy) || string(legacy['name']) === '') return calls;
  return [readCall('', string(legacy['name']), argumentText(legacy['arguments']), cutOff)];
}

/** Some servers send the arguments as an object instead of its text. */
export const argumentText = (value: unknown): string =>
  isRecord(value) ? JSON.stringify(value) : string(value);
