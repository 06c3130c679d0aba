import { isRecord, parseJson } from '../../json.ts';
import type { FinishReason, InferredToolCall } from '../inference-driver.ts';
import type { Usage } from '../usage.ts';

/** Text, reasoning and refusal of a message or a delta, wherever the provider put them. */
export interface Spoken {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
}

/** `content` is a string, null, a list of typed parts, or an empty object; reasoning has three other homes. */
export function spokenIn(message: unknown): Spoken {
  if (!isRecord(message)) return { text: '', reasoning: '', refusal: '' };
  const { content } = message;
  let text = typeof content === 'string' ? content : '';
  let reasoning = string(message['reasoning_content']) || string(message['reasoning']);
  if (reasoning === '' && Array.isArray(message['reasoning_details']))
    reasoning = message['reasoning_details'].map(partText).join('');
  if (Array.isArray(content))
    for (const part of content)
      if (isRecord(part) && (part['type'] === 'thinking' || part['type'] === 'reasoning'))
        reasoning += partText(part);
      else text += partText(part);
  return { text, reasoning, refusal: string(message['refusal']) };
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part)) return '';
  const { thinking } = part;
  if (Array.isArray(thinking)) return thinking.map(partText).join('');
  return string(part['text']) || string(thinking) || string(part['summary']);
}

export const string = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The last report of a body or chunk, in any of the places where providers put it; null when there is none. */
export function usageIn(body: Record<string, unknown>): Partial<Usage> | null {
  const groq = isRecord(body['x_groq']) ? body['x_groq']['usage'] : undefined;
  const choices = Array.isArray(body['choices']) ? body['choices'] : [];
  const [choice] = choices as unknown[];
  const report = [body['usage'], groq, isRecord(choice) ? choice['usage'] : undefined].find(
    isRecord,
  );
  if (!report) return null;
  const input = count(report['prompt_tokens'] ?? report['input_tokens']);
  const output = count(report['completion_tokens'] ?? report['output_tokens']);
  if (input === undefined && output === undefined) return null;
  const total = count(report['total_tokens']);
  const inputDetails = report['prompt_tokens_details'] ?? report['input_tokens_details'];
  const outputDetails = report['completion_tokens_details'] ?? report['output_tokens_details'];
  const cachedInput =
    count(isRecord(inputDetails) ? inputDetails['cached_tokens'] : undefined) ??
    count(report['prompt_cache_hit_tokens'] ?? report['cached_tokens']);
  const reasoning = count(isRecord(outputDetails) ? outputDetails['reasoning_tokens'] : undefined);
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(total === undefined ? null : { total }),
    ...(cachedInput === undefined ? null : { cachedInput }),
    ...(reasoning === undefined ? null : { reasoning }),
  };
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Arguments as an object where they are one; the text is kept where they are not. */
export function readCall(
  id: string,
  name: string,
  argsRaw: string,
  cutOff: boolean,
): InferredToolCall {
  if (argsRaw.trim() === '' && !cutOff) return { id: id || null, name, args: {}, argsRaw };
  const parsed = parseJson(argsRaw);
  return parsed.ok && isRecord(parsed.value)
    ? { id: id || null, name, args: parsed.value, argsRaw }
    : { id: id || null, name, argsRaw };
}

/** The provider's word in ours; calls mean `tool_calls` unless the turn was cut off. */
export function finishReasonOf(word: string | null, hasCalls: boolean): FinishReason {
  switch (word) {
    case 'length':
    case 'max_tokens':
    case 'model_length':
      return 'length';
    case 'content_filter':
    case 'safety':
      return 'content_filter';
    case 'error':
      return 'error';
    default:
      return hasCalls ? 'tool_calls' : 'stop';
  }
}

/** Splits `<think>…</think>` at the beginning of a text from what was said after it. */
export function splitThink(text: string): { readonly think: string; readonly said: string } {
  const [whole, think = ''] = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text) ?? [];
  return whole === undefined
    ? { think: '', said: text }
    : { think, said: text.slice(whole.length) };
}
