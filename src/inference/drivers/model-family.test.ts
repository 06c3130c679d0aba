import { expect, it } from 'vitest';
import { familyOf } from './model-family.ts';

it.each([
  ['gpt-5', 'gpt-5'],
  ['gpt-5-2025-08-07', 'gpt-5'],
  ['gpt-5-mini', 'gpt-5-mini'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['gemini-3-pro-preview', 'gemini-3-pro-preview'],
])('%s is of the family %s', (model, family) => {
  expect(familyOf(model)).toBe(family);
});
