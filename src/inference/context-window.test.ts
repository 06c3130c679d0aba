import { describe, expect, it } from 'vitest';
import { contextWindowOf } from './context-window.ts';

describe('the context window of a model', () => {
  it.each([
    ['gpt-4o', 128_000],
    ['gpt-5-2025-08-07', 400_000],
    ['openai/gpt-5', 400_000],
    ['claude-sonnet-4-5', 200_000],
    ['claude-sonnet-4-5@20250929', 200_000],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['gemini-2.5-flash', 1_048_576],
  ])('%s', (model, tokens) => expect(contextWindowOf(model)).toBe(tokens));

  it.each([undefined, '', 'my-model', 'gpt-5-mine', '__proto__', 'constructor'])(
    'is unknown for %s',
    (model) => expect(contextWindowOf(model)).toBeNull(),
  );
});
