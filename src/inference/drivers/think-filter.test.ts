import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitThink, ThinkFilter } from './think-filter.ts';

describe('thoughts at the start of a text', () => {
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
  ])('%j has thought %j and text %j', (text, think, said) => {
    expect(splitThink(text)).toEqual({ think, said });
  });

  it('gives the same for any split', () => {
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
        let thought = '';
        let from = 0;
        for (const to of [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted(
          (a, b) => a - b,
        )) {
          said += filter.push(text.slice(from, to));
          thought += filter.takeThought();
          from = to;
        }
        said += filter.end();
        expect({ said, think: filter.think }).toEqual(splitThink(text));
        // early output is the thought, unless it never ended and became text
        if (filter.think !== null || !said.trimStart().startsWith('<think>'))
          expect(thought).toBe(filter.think ?? '');
        else expect(said.trimStart().slice('<think>'.length)).toContain(thought);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a streamed thought', () => {
  const thoughts = (...pieces: string[]): string[] => {
    const filter = new ThinkFilter();
    return pieces.map((piece) => {
      filter.push(piece);
      return filter.takeThought();
    });
  };

  it('is emitted as it arrives, without any part of the closing tag', () => {
    expect(thoughts('<thi', 'nk>One', ' two <', '/thi', 'nk>said')).toEqual([
      '',
      'One',
      ' two ',
      '',
      '',
    ]);
    expect(thoughts('<think>a </', 'thing</think>')).toEqual(['a ', '</thing']);
  });

  it('is not emitted while it is blank', () => {
    expect(thoughts('<think>\n', '\n</think>', '\n\nHi')).toEqual(['', '', '']);
    expect(thoughts('<think>\n', '\nWell', '</think>')).toEqual(['', '\n\nWell', '']);
  });

  it('costs the same for each chunk of a long thought', () => {
    const filter = new ThinkFilter();
    filter.push('<think>');
    let length = 0;
    for (let i = 0; i < 20_000; i++) {
      filter.push('word ');
      length += filter.takeThought().length;
    }
    expect(length).toBe(100_000);
  });
});
