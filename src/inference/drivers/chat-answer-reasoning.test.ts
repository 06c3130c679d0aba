import { describe, expect, it } from 'vitest';
import { end, isRead, ways, type Sample } from '../../../test/setup/chat-samples.ts';
import { delta } from '../../../test/setup/loopback.ts';
import { events } from '../../../test/setup/read-chat.ts';
import { ChatStream } from './chat-stream.ts';

const thoughts: readonly Sample[] = [
  [
    'reasoning_content',
    events(
      delta({ reasoning_content: 'Hm' }),
      delta({ reasoning_content: '.' }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm.' },
  ],
  ['reasoning', events(delta({ reasoning: 'Hm' }), delta('a', 'stop')), { reasoning: 'Hm' }],
  [
    'reasoning_details',
    events(
      delta({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      delta('a', 'stop'),
    ),
    { reasoning: 'Hm' },
  ],
  [
    'the same text in two fields, which counts once',
    events(
      delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm' },
  ],
  [
    'parts of the content, as Mistral sends them',
    events(
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm' },
  ],
  [
    'parts of the content separated by a text, joined by a blank line',
    events(
      delta({ content: [{ type: 'thinking', thinking: 'H' }] }),
      delta({ content: [{ type: 'thinking', thinking: 'm' }] }),
      delta('a'),
      delta({ content: [{ type: 'thinking', thinking: 'So' }] }),
      delta('b', 'stop'),
    ),
    { content: 'ab', reasoning: 'Hm\n\nSo' },
  ],
  [
    'details with an index, joined by a blank line',
    events(
      delta({ reasoning_details: [{ type: 'reasoning.summary', index: 0, summary: 'H' }] }),
      delta({ reasoning_details: [{ type: 'reasoning.summary', index: 0, summary: 'm' }] }),
      delta({ reasoning_details: [{ type: 'reasoning.summary', index: 1, summary: 'So' }] }),
      delta('a', 'stop'),
    ),
    { content: 'a', reasoning: 'Hm\n\nSo' },
  ],
  [
    'a field, which is one text even if content arrives between its pieces',
    events(
      delta({ reasoning_content: 'Hm' }),
      delta('a'),
      delta({ reasoning_content: 'm' }),
      delta('b', 'stop'),
    ),
    { content: 'ab', reasoning: 'Hmm' },
  ],
  [
    '<think> at the start of the text',
    events(delta('<th'), delta('ink>\nHm</thi'), delta('nk>\n'), delta('\na'), end('stop')),
    { content: 'a', reasoning: '\nHm' },
  ],
  [
    'an empty <think>',
    events(delta('<think>\n\n</think>\n\na'), end('stop')),
    { content: 'a', reasoning: null },
  ],
  [
    '<think> without an end, which stays text',
    events(delta('<think>Hm'), end('length')),
    { content: '<think>Hm', reasoning: null },
  ],
  [
    '<think> in the middle, which is text',
    events(delta('a <think>b</think>'), end('stop')),
    { content: 'a <think>b</think>', reasoning: null },
  ],
  [
    'a text that starts with <',
    events(delta('<t'), delta('able>'), end('stop')),
    { content: '<table>' },
  ],
  [
    'a refusal, which is not content',
    events(delta({ refusal: 'I ' }), delta({ refusal: 'cannot.' }), end('stop')),
    { content: '', refusal: 'I cannot.' },
  ],
  [
    'a refusal as a part',
    events(delta({ content: [{ type: 'refusal', refusal: 'No.' }] }, 'stop')),
    { content: '', refusal: 'No.' },
  ],
];

describe.each(ways)('a streamed answer, read %s', (_way, read) => {
  describe('reasoning and refusal', () => {
    it.each(thoughts)('%s', (_name, text, expected) => isRead(read(text), expected));
  });
});

describe('streamed reasoning', () => {
  const chunksOf = (...deltas: readonly object[]): string[] => {
    const stream = new ChatStream('https://x');
    return deltas
      .flatMap((one) => stream.read({ choices: [{ index: 0, delta: one }] }))
      .flatMap((chunk) => ('text' in chunk ? `${chunk.type}: ${chunk.text}` : []));
  };

  it.each([
    ['a field', [{ reasoning_content: 'H' }, { reasoning_content: 'm' }, { content: 'a' }]],
    ['<think>', [{ content: '<think>H' }, { content: 'm</th' }, { content: 'ink>\n\na' }]],
  ])('is emitted with each delta: %s', (_name, deltas) => {
    expect(chunksOf(...deltas)).toEqual(['reasoning: H', 'reasoning: m', 'content: a']);
  });

  it('has the blank line between two parts in the chunk of the second part', () => {
    const thinking = (text: string) => ({ content: [{ type: 'thinking', thinking: text }] });
    expect(chunksOf(thinking('Hm'), { content: 'a' }, thinking('So'))).toEqual([
      'reasoning: Hm',
      'content: a',
      'reasoning: \n\nSo',
    ]);
  });

  it('is emitted once if a provider sends it twice', () => {
    const deltas = [{ reasoning: 'Hm' }, { content: '<think>Hm</think>a' }];
    expect(chunksOf(...deltas)).toEqual(['reasoning: Hm', 'content: a']);
  });
});
