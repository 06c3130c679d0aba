import { describe, expect, it } from 'vitest';
import type { FinishReason, InferenceResponse } from './inference-driver.ts';
import { finishReasonOf } from './finish-word.ts';
import { readResponse } from './read-response.ts';

describe("the provider's finish reason", () => {
  it.each<[string | null, FinishReason, FinishReason]>([
    ['stop', 'stop', 'stop'],
    ['STOP', 'stop', 'stop'],
    ['end_turn', 'stop', 'stop'],
    ['eos', 'stop', 'stop'],
    [null, 'stop', 'stop'],
    ['pause_turn', 'pause_turn', 'pause_turn'],
    ['compaction', 'pause_turn', 'pause_turn'],
    ['MODEL_ARMOR', 'content_filter', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter', 'content_filter'],
    ['SPII', 'content_filter', 'content_filter'],
    ['NEW_SAFETY_WORD', 'stop', 'content_filter'],
    ['refusal', 'stop', 'content_filter'],
    ['LANGUAGE', 'stop', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'stop', 'error'],
    ['TOO_MANY_TOOL_CALLS', 'stop', 'error'],
    ['NO_IMAGE', 'stop', 'error'],
    ['OTHER', 'stop', 'error'],
    ['MALFORMED_FUNCTION_CALL', 'error', 'error'],
    ['insufficient-system-resource', 'error', 'error'],
  ])('%s is %s with a text, and %s without', (word, withText, without) => {
    expect(finishReasonOf(word, false, false)).toBe(withText);
    expect(finishReasonOf(word, false, true)).toBe(without);
  });

  it.each(['LANGUAGE', 'UNEXPECTED_TOOL_CALL', 'pause_turn', 'stop', null])(
    '%s with calls is tool_calls',
    (word) => expect(finishReasonOf(word, true, true)).toBe('tool_calls'),
  );
});

describe('an empty answer', () => {
  const empty = (more: Partial<InferenceResponse>): InferenceResponse => ({
    content: '',
    toolCalls: [],
    usage: null,
    finishReason: 'error',
    ...more,
  });

  it('has the code empty_answer, and names the word of the provider', () => {
    expect(readResponse(empty({ rawFinishReason: 'LANGUAGE' }))).toMatchObject({
      type: 'model',
      code: 'empty_answer',
      message: 'The model\'s answer is empty. The provider ended it with "LANGUAGE".',
    });
  });

  it.each([{ rawFinishReason: 'error' }, {}, { rawFinishReason: 'LANGUAGE', content: 'half' }])(
    'is finish_error for %j',
    (more) => expect(readResponse(empty(more))).toMatchObject({ code: 'finish_error' }),
  );
});
