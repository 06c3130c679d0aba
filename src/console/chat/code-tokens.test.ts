import { describe, expect, it } from 'vitest';
import { codeTokens } from './code-tokens.ts';

const shown = (text: string, name: string): string[] | undefined =>
  codeTokens(text, name)?.flatMap(({ kind, text: piece }) => (kind ? [`${kind} ${piece}`] : []));

describe('the colors of code', () => {
  it.each([
    ['ts', "const a = 'x'; // no", ['keyword const', "string 'x'", 'comment // no']],
    ['JSON', '{ "id": 7, "ok": true }', ['name "id"', 'number 7', 'name "ok"', 'keyword true']],
    ['python', 'def f(x): # hi', ['keyword def', 'name f', 'comment # hi']],
    ['sql', 'select 1 -- x', ['keyword select', 'number 1', 'comment -- x']],
    ['sh', 'if [ "$a" ]; then', ['keyword if', 'string "$a"', 'keyword then']],
    ['html', '<a href="x">y</a>', ['tag <a', 'string "x"', 'tag >', 'tag </a>']],
    ['css', 'a { color: #fff }', ['name color', 'number #fff']],
    ['css', 'a{--x-1:-4px;top :0}', ['name --x-1', 'number 4px', 'name top', 'number 0']],
    ['go', 'func main() { /* x', ['keyword func', 'name main', 'comment /* x']],
  ])('of %s', (name, text, expected) => {
    expect(shown(text, name)).toEqual(expected);
  });

  it('keep every character, and are none for an unknown or very long text', () => {
    const text = 'const `a ${1}\n"b\\" /* \u202e */ <script>';
    for (const name of ['ts', 'html', 'css', 'sql', 'py', 'yaml'])
      expect(
        codeTokens(text, name)
          ?.map((token) => token.text)
          .join(''),
      ).toBe(text);
    for (const name of ['', 'nothing', '__proto__', 'constructor'])
      expect(codeTokens(text, name)).toBeNull();
    expect(codeTokens('x'.repeat(50_001), 'ts')).toBeNull();
  });

  it.each([
    '/*'.repeat(20_000),
    '"\\'.repeat(20_000),
    '<!--'.repeat(10_000),
    '`'.repeat(40_000),
    '- '.repeat(20_000),
    'a'.repeat(50_000),
    '-'.repeat(50_000),
    'a'.repeat(25_000) + ' '.repeat(25_000),
  ])('take a short time for hostile code', (text) => {
    const startedAt = performance.now();
    for (const name of ['ts', 'html', 'css', 'sql', 'py']) codeTokens(text, name);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
