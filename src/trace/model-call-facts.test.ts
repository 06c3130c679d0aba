import { expect, it } from 'vitest';
import { modelCallFacts } from './model-call-facts.ts';
import type { TraceStep } from './trace.ts';

const texts = (step: object): string[] =>
  modelCallFacts({ inputTokens: 10, outputTokens: 5, modelUsage: null, ...step } as TraceStep).map(
    ({ text, code }) => (code === undefined ? text : `${text} ${code}`),
  );
const usage = { input: 10, output: 5, total: 15, cachedInput: 0, reasoning: 0 };

it.each<[string, object, string[]]>([
  ['no record', {}, []],
  [
    'all of it, each warning once',
    {
      modelCall: {
        model: 'gpt-5-2025',
        requestId: 'req_1',
        rawFinishReason: 'end_turn',
        warnings: ['a', 'b', 'a'],
        firstTokenMs: 420,
      },
    },
    [
      'answered by gpt-5-2025',
      'the provider ended it with end_turn',
      'first token after 0.42 s',
      'request req_1',
      'warning: a',
      'warning: b',
    ],
  ],
  [
    'the usage of the call without children',
    { inputTokens: 1_010, modelUsage: usage },
    ['model call alone: 10 in, 5 out'],
  ],
  ['no usage if there are no children', { modelUsage: usage }, []],
])('shows %s', (_what, step, expected) => {
  expect(texts(step)).toEqual(expected);
});

it('shows control and bidi characters as escapes', () => {
  const hostile = 'a\u001b[31m\u202Eb\nc';
  const shown = texts({
    modelCall: { model: hostile, requestId: hostile, warnings: [hostile] },
  }).join('');
  expect(shown).not.toMatch(/[\p{Cc}\u202e]/u);
});
