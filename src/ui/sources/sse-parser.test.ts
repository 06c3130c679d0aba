import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../test/setup/cpu-time.ts';
import { MAX_EVENT, sseParser, type SseMessage } from './sse-parser.ts';

interface Read {
  readonly messages: readonly SseMessage[];
  readonly retries: readonly number[];
}

function read(...pieces: readonly string[]): Read {
  const messages: SseMessage[] = [];
  const retries: number[] = [];
  const parser = sseParser(
    (message) => messages.push(message),
    (ms) => retries.push(ms),
  );
  for (const piece of pieces) parser.feed(piece);
  return { messages, retries };
}

describe('sseParser', () => {
  it.each<[string, string, readonly SseMessage[]]>([
    ['one line of data', 'data: a\n\n', [{ event: 'message', data: 'a', id: null }]],
    ['no space after the colon', 'data:a\n\n', [{ event: 'message', data: 'a', id: null }]],
    ['only one space is dropped', 'data:  a\n\n', [{ event: 'message', data: ' a', id: null }]],
    ['several lines', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb', id: null }]],
    ['empty data is data', 'data\n\n', [{ event: 'message', data: '', id: null }]],
    ['a name and an id', 'event: e\nid: 7\ndata: a\n\n', [{ event: 'e', data: 'a', id: '7' }]],
    [
      'an id stays, a name does not',
      'event: e\nid: 7\ndata: a\n\ndata: b\n\n',
      [
        { event: 'e', data: 'a', id: '7' },
        { event: 'message', data: 'b', id: '7' },
      ],
    ],
    [
      'an empty id resets the last one',
      'id: 7\n\nid\ndata: a\n\n',
      [{ event: 'message', data: 'a', id: null }],
    ],
    [
      'an id with NUL is ignored',
      'id: 7\nid: 8\0\ndata: a\n\n',
      [{ event: 'message', data: 'a', id: '7' }],
    ],
    [
      'comments are heartbeats',
      ': still here\n\n:\n\ndata: a\n\n',
      [{ event: 'message', data: 'a', id: null }],
    ],
    ['a name without data is nothing', 'event: e\n\n', []],
    [
      'unknown fields are skipped',
      'foo: bar\ndata: a\n\n',
      [{ event: 'message', data: 'a', id: null }],
    ],
    ['an incomplete event is dropped', 'data: a\n', []],
    [
      'CR without LF ends a line immediately',
      'data: a\r\r',
      [{ event: 'message', data: 'a', id: null }],
    ],
    ['CRLF', 'data: a\r\n\r\n', [{ event: 'message', data: 'a', id: null }]],
    [
      'colons in data',
      'data: {"a":"b:c"}\n\n',
      [{ event: 'message', data: '{"a":"b:c"}', id: null }],
    ],
  ])('%s', (_case, text, messages) => {
    expect(read(text).messages).toEqual(messages);
    expect(read(...text).messages, 'character by character').toEqual(messages);
  });

  it('reads the retry time only if it has digits only', () => {
    expect(read('retry: 1500\nretry: soon\nretry: -1\n\n').retries).toEqual([1500]);
  });

  it('gives the same for any split of the bytes and any line ends', () => {
    const word = fc
      .string({ unit: 'grapheme', maxLength: 8 })
      .map((s) => s.replaceAll(/[\r\n\0]/g, ''));
    const message = fc.record({
      event: fc.option(word, { nil: undefined }),
      id: fc.option(fc.stringMatching(/^[0-9]{1,4}@[a-z]{3}$/), { nil: undefined }),
      data: fc.array(word, { minLength: 1, maxLength: 3 }),
      comment: fc.option(word, { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.constantFrom('\n', '\r', '\r\n'), { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (messages, ends, cuts) => {
          let turn = 0;
          const end = (): string => ends[turn++ % ends.length]!;
          const text = messages
            .map(({ event, id, data, comment }) =>
              [
                comment === undefined ? '' : `:${comment}${end()}`,
                event === undefined ? '' : `event: ${event}${end()}`,
                id === undefined ? '' : `id: ${id}${end()}`,
                ...data.map((part) => `data: ${part}${end()}`),
                end(),
              ].join(''),
            )
            .join('');
          // CR before LF is one line end, so a mix could swallow a blank line: both parsers read
          // the same text
          const bytes = new TextEncoder().encode(text);
          const places = [...new Set(cuts.map((n) => n % (bytes.length + 1)))].toSorted(
            (a, b) => a - b,
          );
          const decoder = new TextDecoder();
          const pieces = [0, ...places].map((from, i) =>
            decoder.decode(bytes.slice(from, places[i] ?? bytes.length), { stream: true }),
          );
          expect(read(...pieces)).toEqual(read(text));
          if (ends.length === 1) {
            let id: string | null = null;
            expect(read(text).messages).toEqual(
              messages.map((m) => ({
                event: m.event === undefined || m.event === '' ? 'message' : m.event,
                data: m.data.join('\n'),
                id: (id = m.id ?? id),
              })),
            );
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a long line in small pieces costs the same per piece', () => {
    const line = 'x'.repeat(2_000_000);
    const messages: SseMessage[] = [];
    const ms = cpuMs(() => {
      const parser = sseParser((message) => messages.push(message));
      parser.feed('data: ');
      for (let at = 0; at < line.length; at += 100) parser.feed(line.slice(at, at + 100));
      parser.feed('\n\n');
    });
    expect(messages[0]?.data).toHaveLength(line.length);
    expect(ms).toBeLessThan(2_000);
  });

  it('many lines before a CR cost the same per line', () => {
    const text = `${'data: a\n\n'.repeat(200_000)}data: b\r\r`;
    const ms = cpuMs(() => expect(read(text).messages).toHaveLength(200_001));
    expect(ms).toBeLessThan(5_000);
  });

  it.each([
    ['a line', 'x'],
    ['an event', `${'x'.repeat(1_000)}\ndata: `],
  ])('refuses %s without an end', (_what, text) => {
    const piece = text.repeat(1_000_000 / text.length);
    const parser = sseParser(() => {});
    parser.feed('data: ');
    const feedAll = (): void => {
      for (let fed = 0; fed <= MAX_EVENT * 1.1; fed += piece.length) parser.feed(piece);
    };
    expect(feedAll).toThrow(
      expect.objectContaining({ code: 'unreadable', message: expect.stringContaining('33554432') }),
    );
  });
});
