import type { FinishReason } from './inference-driver.ts';

const words: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['recitation', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['spii', 'content_filter'],
  ['model_armor', 'content_filter'],
  ['image_safety', 'content_filter'],
  ['image_prohibited_content', 'content_filter'],
  ['image_recitation', 'content_filter'],
  ['error', 'error'],
  // the provider stopped in the middle of the answer: Zhipu, DeepSeek
  ['network_error', 'error'],
  ['insufficient_system_resource', 'error'],
  ['malformed_function_call', 'error'],
  // the provider continues the same turn with the next request: Anthropic
  ['pause_turn', 'pause_turn'],
  ['compaction', 'pause_turn'],
]);

/** Words of a complete answer, which may be empty. */
const ordinary: ReadonlySet<string> = new Set([
  'stop',
  'stop_sequence',
  'stopped',
  'end',
  'end_turn',
  'eos',
  'eos_token',
  'complete',
  'completed',
  'done',
  'finish',
  'finished',
  'success',
  'tool_calls',
  'tool_use',
  'function_call',
]);

const safety =
  /safety|filter|armor|guardrail|blocklist|prohibit|recitation|spii|sensitive|moderat|refus|blocked/;

/**
 * Maps the provider's finish reason. Calls mean `tool_calls` unless the turn was truncated. An unknown word is `stop`,
 * but `content_filter` or `error` if the answer is empty.
 */
export function finishReasonOf(
  word: string | null,
  hasCalls: boolean,
  isEmpty: boolean = false,
): FinishReason {
  const plain = plainWord(word);
  const known = words.get(plain);
  if (known && !(known === 'pause_turn' && hasCalls)) return known;
  if (hasCalls) return 'tool_calls';
  if (!isEmpty || plain === '' || ordinary.has(plain)) return 'stop';
  return safety.test(plain) ? 'content_filter' : 'error';
}

/** Whether the word itself reports a failure. */
export const isErrorWord = (word: string): boolean => words.get(plainWord(word)) === 'error';

const plainWord = (word: string | null): string =>
  word === null ? '' : word.toLowerCase().replaceAll('-', '_');
