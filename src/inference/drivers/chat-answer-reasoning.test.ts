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
    'the same text in two fields counts once',
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
    '<think> at the beginning of the text',
    events(delta('<th'), delta('ink>\nHm</thi'), delta('nk>\n'), delta('\na'), end('stop')),
    { content: 'a', reasoning: '\nHm' },
  ],
  [
    'an empty <think>',
    events(delta('<think>\n\n</think>\n\na'), end('stop')),
    { content: 'a', reasoning: null },
  ],
  [
    '<think> that never ends is kept as it came',
    events(delta('<think>Hm'), end('length')),
    { content: '<think>Hm', reasoning: null },
  ],
  [
    '<think> in the middle is text',
    events(delta('a <think>b</think>'), end('stop')),
    { content: 'a <think>b</think>', reasoning: null },
  ],
  [
    'a text that begins with <',
    events(delta('<t'), delta('able>'), end('stop')),
    { content: '<table>' },
  ],
  [
    'a refusal is not content',
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

describe('reasoning while it arrives', () => {
  const chunksOf = (...deltas: readonly object[]): string[] => {
    const stream = new ChatStream('https://x');
    return deltas
      .flatMap((one) => stream.read({ choices: [{ index: 0, delta: one }] }))
      .flatMap((chunk) => ('text' in chunk ? `${chunk.type}: ${chunk.text}` : []));
  };

  it.each([
    ['a field', [{ reasoning_content: 'H' }, { reasoning_content: 'm' }, { content: 'a' }]],
    ['<think>', [{ content: '<think>H' }, { content: 'm</th' }, { content: 'ink>\n\na' }]],
  ])('comes with each delta: %s', (_name, deltas) => {
    expect(chunksOf(...deltas)).toEqual(['reasoning: H', 'reasoning: m', 'content: a']);
  });

  it('comes once where a provider sends it twice', () => {
    const deltas = [{ reasoning: 'Hm' }, { content: '<think>Hm</think>a' }];
    expect(chunksOf(...deltas)).toEqual(['reasoning: Hm', 'content: a']);
  });
});
