import { describe, expect, it } from 'vitest';
import { redactedParts } from './redacted-parts.ts';

describe('the hidden values of a text', () => {
  it.each([
    ['none', ['none']],
    ['', []],
    ['a [redacted] b', ['a ', { key: '' }, ' b']],
    ['{"to":"x","api_key" : "[redacted]"}', ['{"to":"x","api_key" : ', { key: 'api_key' }, '}']],
    ['["[redacted]", "[redacted]"]', ['[', { key: '' }, ', ', { key: '' }, ']']],
    ['"key [redacted] and more"', ['"key ', { key: '' }, ' and more"']],
    ['5" of "[redacted]', ['5" of "', { key: '' }]],
    ['say "hi [redacted]\n"x": 1', ['say "hi ', { key: '' }, '\n"x": 1']],
  ])('of %j', (text, expected) => {
    expect(redactedParts(text)).toEqual(expected);
  });

  it('are found in a short time in JSON inside JSON', () => {
    const rows = Array.from({ length: 30_000 }, (_, k) => ({ k, v: 'x' }));
    const text = `${JSON.stringify(JSON.stringify(rows))} [redacted]`;
    const startedAt = performance.now();
    expect(redactedParts(text)).toHaveLength(2);
    for (const hostile of ['\\"'.repeat(200_000), '" '.repeat(200_000), '"a" '.repeat(100_000)])
      redactedParts(`${hostile}[redacted]`);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
