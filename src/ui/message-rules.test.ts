import { describe, expect, it } from 'vitest';
import {
  hasToolError,
  isToolCallMessage,
  isToolResultMessage,
  shouldRenderAssistantContent,
} from './message-rules.ts';
import type { UiMessage, UiMetadata, UiRole } from './ui-message.ts';

const message = (role: UiRole, content: string, metadata: UiMetadata = {}): UiMessage => ({
  id: 'm1',
  role,
  content,
  timestamp: '2026-01-16T12:00:00.000Z',
  metadata,
});
const calls = { tool_calls: [{ id: 'c1', name: 'stock', args: null, args_summary: '{}' }] };

describe('message types', () => {
  it('a tool call message has the role assistant and calls', () => {
    expect(isToolCallMessage(message('assistant', '', calls))).toBe(true);
    expect(isToolCallMessage(message('assistant', '', { tool_calls: [] }))).toBe(false);
    expect(isToolCallMessage(message('assistant', 'hi'))).toBe(false);
    expect(isToolCallMessage(message('tool', '', { tool_call_id: 'c1' }))).toBe(false);
  });

  it('a tool result message has the role tool, and its error is marked', () => {
    const result = message('tool', 'boom', { tool_call_id: 'c1', tool_error: '' });
    expect(isToolResultMessage(result)).toBe(true);
    expect(isToolResultMessage(message('assistant', '', calls))).toBe(false);
    expect(hasToolError(result)).toBe(true);
    expect(hasToolError(message('tool', 'fine', { tool_call_id: 'c1' }))).toBe(false);
  });
});

describe('the text next to tool calls', () => {
  it.each<[string, boolean, string]>([
    ['', false, 'nothing was said'],
    [' \n\t', false, 'blank'],
    ['Let me look.', true, 'natural language'],
    ['  Let me look.\n', true, 'natural language with space around it'],
    ['{"city":"Rome"}', false, 'a JSON object'],
    ['\n {"city": "Rome"} \n', false, 'a JSON object with space around it'],
    ['{}', false, 'an empty object'],
    ['[1, 2]', false, 'a JSON list'],
    ['[]', false, 'an empty list'],
    ['42', true, 'a number is something to say'],
    ['"hi"', true, 'so is a quoted word'],
    ['true', true, 'and a yes'],
    ['null', true, 'and a word that JSON knows'],
    ['{"city": "Ro', true, 'broken JSON is text'],
    ['{city: Rome}', true, 'what only looks like JSON is text'],
    ['{"a":1} is what I will send', true, 'JSON inside a sentence'],
    ['[1] See the list.', true, 'a sentence that begins with a bracket'],
    ['```json\n{"a":1}\n```', true, 'a fenced block is meant for a reader'],
    ['{"a":1}{"b":2}', true, 'two objects are no JSON'],
  ])('%j is shown: %s (%s)', (content, isShown) => {
    expect(shouldRenderAssistantContent(message('assistant', content, calls))).toBe(isShown);
  });

  it('shows any text without calls, also JSON', () => {
    expect(shouldRenderAssistantContent(message('assistant', '{"city":"Rome"}'))).toBe(true);
    expect(shouldRenderAssistantContent(message('assistant', ' '))).toBe(false);
  });
});
