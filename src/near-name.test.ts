import { describe, expect, it } from 'vitest';
import { nearName } from './near-name.ts';

const names = ['openai', 'xai', 'groq', 'google', 'anthropic', 'mistral', 'vllm'];

describe('the name that is most likely meant', () => {
  it.each([
    ['antropic', 'anthropic', 'a missing character'],
    ['anthropicc', 'anthropic', 'an added character'],
    ['anthropik', 'anthropic', 'a wrong character'],
    ['antrhopic', 'anthropic', 'two swapped characters'],
    ['Anthropic', 'anthropic', 'another case'],
    ['open-ai', 'openai', 'a hyphen'],
    ['gogle', 'google', 'the nearest of several'],
    ['xia', 'xai', 'a short name with one typo'],
    ['acme', null, 'another name'],
    ['ab', null, 'too short to compare'],
    ['', null, 'nothing'],
    ['a'.repeat(1_000_000), null, 'too long to compare'],
  ])('of %s is %s: %s', (given, expected, _why) => {
    expect(nearName(given, names)).toBe(expected);
  });
});
