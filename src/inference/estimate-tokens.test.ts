import { describe, expect, it, vi } from 'vitest';
import { requestOf } from '../../test/setup/inference-request.ts';
import { Messages } from '../messages/messages.ts';
import { estimateTokens } from './estimate-tokens.ts';

const text = (length: number) => ({ role: 'user', content: 'x'.repeat(length) }) as const;
const of = (messages: Messages) =>
  estimateTokens({ ...requestOf(), system: null, messages, tools: [] });

describe('the estimate of a request', () => {
  it('is a token per 4 characters, and some around each message', () => {
    expect(of(Messages.empty())).toBe(0);
    expect(of(Messages.from([text(400)]))).toBe(104);
    expect(
      estimateTokens({
        ...requestOf(),
        system: 'x'.repeat(40),
        messages: Messages.empty(),
        tools: [],
      }),
    ).toBe(10);
  });

  it.each([
    ['letters of other alphabets', 'я'.repeat(100), 50],
    ['signs', '語'.repeat(100), 100],
    ['a mix', `${'x'.repeat(40)}${'ü'.repeat(10)}${'語'.repeat(10)}`, 25],
    ['emoji', '😀'.repeat(10), 20],
  ])('counts more tokens for %s', (_, content, tokens) => {
    expect(of(Messages.from([{ role: 'user', content }]))).toBe(4 + tokens);
  });

  it('counts tools, formats, arguments of calls, images and files', () => {
    const base = { ...requestOf(), system: null, messages: Messages.empty(), tools: [] };
    const tools = [{ name: 't', description: 'x'.repeat(400), parameters: { type: 'object' } }];
    expect(estimateTokens({ ...base, tools })).toBeGreaterThan(100);
    const schema = { type: 'object', description: 'x'.repeat(400) };
    expect(estimateTokens({ ...base, responseFormat: { name: 'f', schema } })).toBeGreaterThan(100);
    const args = { a: 'x'.repeat(400) };
    const call = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'c', name: 't', args }],
    } as const;
    expect(of(Messages.from([call]))).toBeGreaterThan(100);
    const image = { type: 'image', data: 'eHg=', mediaType: 'image/png' } as const;
    expect(
      of(Messages.from([{ role: 'user', content: [image, { type: 'text', text: 'xxxx' }] }])),
    ).toBe(1_005);
  });

  it('reads only what was added to a conversation, and is the same as of all of it', () => {
    let messages = Messages.from([text(400)]);
    const fork = messages.append(text(800));
    const at = vi.spyOn(Messages.prototype, 'at');
    const added = { role: 'user' as const, content: 'y'.repeat(40) };
    for (let i = 0; i < 50; i++) {
      messages = messages.append(added);
      expect(of(messages)).toBe(104 + (i + 1) * 14);
    }
    const reads = at.mock.calls.length;
    at.mockRestore();
    expect(reads).toBeLessThan(60);
    expect(of(fork)).toBe(104 + 204);
    expect(of(messages)).toBe(104 + 50 * 14);
    expect(of(Messages.from([text(400), text(400)]))).toBe(208);
    // the same ends, and another middle
    const [first, middle, last] = Messages.from([text(400), text(800), text(400)]);
    expect(of(Messages.from([first!, middle!, last!]))).toBe(412);
    expect(of(Messages.from([first!, text(40), last!]))).toBe(222);
  });
});
