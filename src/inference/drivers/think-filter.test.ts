import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitThink, ThinkFilter } from './think-filter.ts';

describe('thoughts at the beginning of a text', () => {
  it.each<[string, string | null, string]>([
    ['<think>Hm</think>a', 'Hm', 'a'],
    ['\n <think>Hm</think>\n\n a ', 'Hm', 'a '],
    ['<think></think>a', null, 'a'],
    ['<think>Hm</think>', 'Hm', ''],
    ['<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
    ['<think>a < b </ think></think>c', 'a < b </ think>', 'c'],
    ['<think>Hm', null, '<think>Hm'],
    ['<thin', null, '<thin'],
    ['a<think>b</think>', null, 'a<think>b</think>'],
    ['  a', null, '  a'],
    ['', null, ''],
  ])('%j: thought %j, said %j', (text, think, said) => {
    expect(splitThink(text)).toEqual({ think, said });
  });

  it('reads the same wherever it is cut', () => {
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<',
      'think',
      '>',
      '/',
      ' ',
      '\n',
      'a',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(40)), (parts, cuts) => {
        const text = parts.join('');
        const filter = new ThinkFilter();
        let said = '';
        let from = 0;
        for (const to of [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted(
          (a, b) => a - b,
        )) {
          said += filter.push(text.slice(from, to));
          from = to;
        }
        said += filter.end();
        expect({ said, think: filter.think }).toEqual(splitThink(text));
      }),
      { numRuns: 1_000 },
    );
  });
});
