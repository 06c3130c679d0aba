import { describe, expect, it } from 'vitest';
import { ago, argsSummary, costText, grantText, oneLine, shortId } from './format.ts';
import { paintFor, terminalLine } from './paint.ts';

describe('numbers', () => {
  it('hides an unknown cost', () => {
    expect([null, 0, 1.2].map(costText)).toEqual(['', '$0.00', '$1.20']);
  });

  it.each([
    [10_000, 'just now'],
    [5 * 60_000, '5 min ago'],
    [3 * 3_600_000, '3 h ago'],
    [3 * 86_400_000, '3 days ago'],
    [90 * 86_400_000, '2026-01-01'],
  ])('%d ms before is %s', (ms, text) => {
    const at = Date.parse('2026-01-01T00:00:00Z');
    expect(ago('2026-01-01T00:00:00Z', at + ms)).toBe(text);
  });
});

describe('texts for a line', () => {
  it('are truncated at whole characters, with control characters escaped', () => {
    expect(oneLine('a\n\tb  c', 10)).toBe('a b c');
    expect(oneLine('😀'.repeat(10), 4)).toBe('😀😀😀…');
    expect(oneLine('\u001b[31mred\u001b]0;title\u0007', 40)).toBe(
      '\\u001b[31mred\\u001b]0;title\\u0007',
    );
    expect(terminalLine('a\r\u001b[2Kb\nc\u202ed\u009b1m')).toBe(
      'a\\r\\u001b[2Kb\nc\\u202ed\\u009b1m',
    );
    expect(argsSummary({ 'a\u200b': '\u001b' })).toBe('{"a\\u200b":"\\u001b"}');
    // the output is the same JSON
    expect(argsSummary({ a: '\u{e0041}' })).toBe(String.raw`{"a":"\udb40\udc41"}`);
    expect(argsSummary({})).toBe('');
    expect(argsSummary({ a: 1 })).toBe('{"a":1}');
  });

  it('shortens generated ids', () => {
    expect(shortId('1a2b3c4d-0000-4000-8000-000000000000')).toBe('1a2b3c4d');
    expect(shortId('order-1')).toBe('order-1');
    expect(grantText({ steps: 5, cost: 0.5 })).toBe('steps=5,cost=0.5');
  });
});

it('a painted line keeps only its own codes, and a text cannot add any', () => {
  const paint = paintFor({ write: () => {}, isTTY: true }, { env: {} });
  const line = `${paint('bold', paint('red', 'a\u001b[2J'))}\u001b[5;31;7m`;
  expect(terminalLine(line)).toBe(
    '\u001b[1m\u001b[31ma\\u001b[2J\u001b[39m\u001b[22m\\u001b[5;31;7m',
  );
});

describe('colors', () => {
  const terminal = { write: () => {}, isTTY: true };
  const pipe = { write: () => {}, isTTY: false };
  const red = '\u001b[31mx\u001b[39m';
  it.each([
    ['a terminal has them', terminal, {}, true, red],
    ['a pipe has none', pipe, {}, true, 'x'],
    ['NO_COLOR', terminal, { NO_COLOR: '1' }, true, 'x'],
    ['an empty NO_COLOR has no effect', terminal, { NO_COLOR: '' }, true, red],
    ['FORCE_COLOR', pipe, { FORCE_COLOR: '1' }, true, red],
    ['FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, true, 'x'],
    ['NO_COLOR beats FORCE_COLOR', pipe, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, 'x'],
    ['--no-color beats all', terminal, { FORCE_COLOR: '1' }, false, 'x'],
    ['a dumb terminal has none', terminal, { TERM: 'dumb' }, true, 'x'],
  ])('%s', (_name, output, env, isAllowed, shown) => {
    expect(paintFor(output, { env }, isAllowed)('red', 'x')).toBe(shown);
  });
});
