import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { patternOf as readyPattern, type Pattern } from './pattern.ts';
import { programPattern } from './pattern-run.ts';

const patternOf = (source: string): Pattern | string => readyPattern(source, programPattern);

const ready = (source: string): Pattern => {
  const made = patternOf(source);
  if (typeof made === 'string') throw new Error(`${source}: ${made}`);
  return made;
};

/** Patterns of schemas in use, and known slow ones. */
const patterns = [
  String.raw`^[a-z]+$`,
  String.raw`^\d{4}-\d{2}-\d{2}$`,
  String.raw`[A-Z]{2,3}`,
  String.raw`^(\w+\.)*\w+@(\w+\.)+\w{2,}$`,
  String.raw`^(?=.*[A-Z])(?=.*\d)[^\s]{8,}$`,
  String.raw`^(?!forbidden$).+$`,
  String.raw`(?<=\$)\d+(?:\.\d\d)?(?!\d)`,
  String.raw`(?<!a)b(?=c|$)`,
  String.raw`\bword\b|\Bx\B`,
  String.raw`^(a+)+$`,
  String.raw`(a|a)*b`,
  String.raw`^(a|aa)+$`,
  String.raw`a*a*a*b`,
  String.raw`^(?:(?:a?){3}b){2}$`,
  String.raw`^\p{Lu}\p{L}*$`,
  String.raw`^[\u{1f600}-\u{1f64f}]+$`,
  String.raw`^\ud83d\ude00+$`,
  String.raw`^(?<year>\d{2,4})(?:-|\/)[^a-c\]]+?$`,
  String.raw`^$|^x`,
  String.raw`(?:)`,
  String.raw`^.*\.\w{1,3}$`,
  String.raw`^\/(?:[^\/]+\/)*$`,
  String.raw`\x41\cJ|\t`,
  String.raw`(?=(?!ab)a.)a`,
  String.raw`^\d{1,15}(?:@.{1,1000})?$`,
];

describe('patternOf', () => {
  it('agrees with the engine', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'aaabcxAZ019.@-/$ \n\t😀é') }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('forbidden', 'Passw0rd9', 'a.b@c.de', '$12.50', '2026-11-17', '/a/b/', 'Éa'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...patterns), text, (source, value) => {
        expect(ready(source).test(value)).toBe(new RegExp(source, 'u').test(value));
      }),
      { numRuns: 3_000 },
    );
  });

  it('agrees with the engine for generated patterns', () => {
    const { tree } = fc.letrec<{ tree: string; atom: string }>((tie) => ({
      atom: fc.oneof(
        fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', String.raw`\w`, String.raw`\b`, '^', '$'),
        tie('tree').map((inner) => `(?:${inner})`),
        fc
          .tuple(fc.constantFrom('=', '!', '<=', '<!'), tie('tree'))
          .map(([sign, inner]) => `(?${sign}${inner})`),
      ),
      tree: fc.oneof(
        { depthSize: 'small' },
        tie('atom'),
        fc.tuple(tie('atom'), tie('tree')).map((parts) => parts.join('')),
        fc.tuple(tie('tree'), tie('tree')).map((parts) => parts.join('|')),
        fc
          .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}?'))
          .map(([inner, times]) => `(?:${inner})${times}`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 6 });
    fc.assert(
      fc.property(tree, fc.array(text, { minLength: 1, maxLength: 5 }), (source, values) => {
        const pattern = patternOf(source);
        if (typeof pattern === 'string') return;
        const native = new RegExp(source, 'u');
        for (const value of values) expect(pattern.test(value), value).toBe(native.test(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    String.raw`^(a+)+$`,
    String.raw`(a|a)*b`,
    String.raw`a*a*a*a*a*b`,
    String.raw`^(?=(a+)+$)b`,
    String.raw`(?<!(?:a|a)+b)c`,
    String.raw`\s+$`,
    String.raw`^([a-z]+-?)*[a-z]+\.$`,
  ])('D92: reads a long text once: %s', (source) => {
    for (const text of [`${'a'.repeat(100_000)}!`, `${' '.repeat(100_000)}x`])
      expect(ready(source).test(text)).toBe(false);
  });

  it('accepts large counts, and follows only open states', () => {
    const pattern = ready(String.raw`^\d{1,15}(?:@.{1,1000})?$`);
    expect(pattern.test(`1@${'x'.repeat(1_000)}`)).toBe(true);
    expect(pattern.test(`1@${'x'.repeat(1_001)}`)).toBe(false);
    expect(pattern.test(`1@${'x'.repeat(1_000_000)}`)).toBe(false);
  });

  it('reports if too many states are open', () => {
    const pattern = ready('(?:a|b)*a(?:a|b){300}c');
    let text = '';
    for (let i = 0, seed = 1; i < 100_000; i++) {
      seed = (seed * 48_271) % 2_147_483_647;
      text += seed % 2 === 0 ? 'a' : 'b';
    }
    expect(pattern.test(text)).toBeUndefined();
    expect(pattern.test('ab')).toBe(false);
  });

  it.each<[string, string, RegExp]>([
    ['a backreference', String.raw`(a)\1`, /refers back with \\1/],
    ['a named one', String.raw`(?<x>a)\k<x>`, /refers back with \\k<x>/],
    ['an invalid pattern', '(', /[Uu]nterminated/],
    ['a pattern that it cannot expand', '(?:(?:ab){100}){100}x*y*', /repeats too much/],
    ['a very long pattern', 'a'.repeat(5_000), /5000 characters, at most 4096/],
  ])('rejects %s', (_case, source, reason) => {
    expect(patternOf(source)).toMatch(reason);
  });

  it('accepts many repeats of an empty group', () => {
    expect(ready('(?:){99999999}a*b*').test('x')).toBe(true);
  });
});
