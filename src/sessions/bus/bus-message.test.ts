import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, groupIds, type BusMessage } from './bus-message.ts';

const messages: readonly BusMessage[] = [
  { kind: 'wake', sessionId: 's', owner: 'ann', agent: 'support', isStop: true },
  { kind: 'changed', sessionIds: ['s', 't'] },
  { kind: 'watch', node: 'n', sessionIds: ['s'] },
  { kind: 'unwatch', node: 'n', sessionIds: [] },
  { kind: 'hello', node: 'n' },
  { kind: 'live' },
  { kind: 'ask', node: 'n', question: 'q', sessionId: 's', executionId: 'e', seq: 3 },
  { kind: 'text', question: 'q', isLast: false },
];

describe('a message between processes', () => {
  it.each(messages)('$kind is read as it was written, with its body', (message) => {
    expect(decodeMessage(encodeMessage(message, 'a\nb'))).toEqual({ message, body: 'a\nb' });
  });

  it.each([
    '',
    'text',
    '{}\n',
    'null\n',
    '{"kind":"later"}\n',
    '{"kind":"wake","sessionId":"../s","owner":"","agent":"","isStop":true}\n',
    '{"kind":"wake","sessionId":"s","owner":1,"agent":"","isStop":true}\n',
    '{"kind":"changed","sessionIds":"s"}\n',
    '{"kind":"changed","sessionIds":[1]}\n',
    '{"kind":"ask","node":"n","question":"q","sessionId":"s","executionId":"e","seq":"1"}\n',
    '{"kind":"text","question":"q"}\n',
    '{"kind":"live"',
  ])('%j is ignored', (text) => {
    expect(decodeMessage(text)).toBeNull();
  });

  it('has as many session ids as fit', () => {
    const ids = Array.from({ length: 500 }, (_, i) => `session-${i}-${'x'.repeat(i % 90)}`);
    const groups = groupIds(ids, 2_000);
    expect(groups.flat()).toEqual(ids);
    expect(groups.length).toBeLessThan(40);
    for (const sessionIds of groups) {
      const text = encodeMessage({ kind: 'watch', node: crypto.randomUUID(), sessionIds });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
    }
    expect(groupIds([], 2_000)).toEqual([]);
  });
});
