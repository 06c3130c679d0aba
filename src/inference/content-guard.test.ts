import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeakFilter, isCallLeak, looksLikeToolCall } from './content-guard.ts';

const args = { city: 'Paris', days: [1, 2], note: 'a "quoted" {brace}' };
const json = JSON.stringify(args);
const call = { name: 'weather', args };
const other = { name: 'time', args: { zone: 'CET' } };

/** Formats in which models repeat a call as text. */
const shapes: Readonly<Record<string, string>> = {
  'bare arguments': json,
  'bare arguments, other key order': JSON.stringify({
    note: args.note,
    days: [1, 2],
    city: 'Paris',
  }),
  'bare arguments, indented': JSON.stringify(args, null, 2),
  'bare arguments with space around': `\n  ${json}\n\n`,
  'name and arguments': JSON.stringify({ name: 'weather', arguments: args }),
  'name and parameters': JSON.stringify({ name: 'weather', parameters: args }),
  'name and input': JSON.stringify({ type: 'tool_use', id: 'x', name: 'weather', input: args }),
  'tool and args': JSON.stringify({ tool: 'weather', args }),
  'arguments as a string': JSON.stringify({ name: 'weather', arguments: json }),
  'an OpenAI function object': JSON.stringify({
    id: 'call_1',
    type: 'function',
    function: { name: 'weather', arguments: json },
  }),
  'a list': JSON.stringify([{ name: 'weather', arguments: args }]),
  'a list of arguments': JSON.stringify([args]),
  'a tool_calls wrapper': JSON.stringify({ tool_calls: [{ name: 'weather', arguments: args }] }),
  'a json fence': `\`\`\`json\n${json}\n\`\`\``,
  'a bare fence': `\`\`\`\n${JSON.stringify({ name: 'weather', arguments: args })}\n\`\`\``,
  'a fence of another language': `\`\`\`tool_code\n${json}\n\`\`\``,
};

describe('isCallLeak', () => {
  it.each(Object.entries(shapes))('drops %s', (_shape, text) => {
    expect(isCallLeak(text, [call])).toBe(true);
    expect(isCallLeak(text, [other, call])).toBe(true);
  });

  it.each(Object.entries(shapes))('keeps %s without a matching call', (_shape, text) => {
    expect(isCallLeak(text, [other])).toBe(false);
    expect(isCallLeak(text, [])).toBe(false);
  });

  it.each<[string, string]>([
    ['prose', 'I will look that up.'],
    ['prose that quotes the arguments', `Calling with ${json}`],
    ['arguments followed by prose', `${json} is what I will use.`],
    ['other JSON', '{"city":"Rome"}'],
    ['a list with another item', JSON.stringify([args, { city: 'Rome' }])],
    ['nothing', ''],
    ['an empty fence', '```json\n```'],
    ['an empty list', '[]'],
    ['broken JSON', '{"city":'],
  ])('keeps %s', (_case, text) => {
    expect(isCallLeak(text, [call])).toBe(false);
  });

  it('detects a call without arguments', () => {
    const bare = [{ name: 'now', args: {} }];
    expect(isCallLeak('{}', bare)).toBe(true);
    expect(isCallLeak('{"name":"now"}', bare)).toBe(true);
    expect(isCallLeak('{"name":"then"}', bare)).toBe(false);
  });

  it('detects incomplete arguments', () => {
    const cut = [{ name: 'weather', args: {}, argsRaw: '{"city":"Par' }];
    expect(isCallLeak('{"city":"Par', cut)).toBe(true);
    expect(isCallLeak('{"city":"Pa', cut)).toBe(false);
  });

  it('keeps arguments that are not JSON, because a stream has shown them', () => {
    const odd = '{city: Paris}';
    expect(isCallLeak(odd, [{ name: 'weather', args: {}, argsRaw: odd }])).toBe(false);
  });
});

describe('looksLikeToolCall', () => {
  const tools = new Set(['weather']);
  it.each<[string, string, boolean]>([
    ['a named call', shapes['name and arguments'] ?? '', true],
    ['a function object', shapes['an OpenAI function object'] ?? '', true],
    ['a list of calls', shapes['a list'] ?? '', true],
    ['a fenced call', shapes['a bare fence'] ?? '', true],
    ['Hermes tags', `<tool_call>${shapes['name and arguments']}</tool_call>`, true],
    ['a call of an unknown tool', '{"name":"fly","arguments":{}}', false],
    ['bare JSON without a name', json, false],
    ['prose', 'weather is fine', false],
    ['broken JSON', '{"name":"weather"', false],
  ])('%s', (_case, text, expected) => {
    expect(looksLikeToolCall(text, tools)).toBe(expected);
  });
});

/** Returns what is shown while `pieces` arrive, and what is left at the end. */
function show(...pieces: readonly string[]): { readonly shown: string; readonly held: string } {
  const hold = new LeakFilter();
  const shown = pieces.map((piece) => hold.push(piece)).join('');
  return { shown, held: hold.release() };
}

const splits = (text: string): readonly (readonly string[])[] => [
  ...Array.from(text.slice(1), (_char, i) => [text.slice(0, i + 1), text.slice(i + 1)]),
  text.split(''),
];

describe('LeakFilter', () => {
  it.each(Object.entries(shapes))('shows nothing of %s for any split', (_shape, text) => {
    for (const pieces of splits(text)) expect(show(...pieces)).toEqual({ shown: '', held: text });
  });

  it.each<[string, string, string]>([
    ['plain text', 'Hello', 'H'],
    ['text after a line break', '\n Hello', '\n H'],
    ['text in braces', '{hello} there', '{h'],
    ['text in brackets', '[Note] this', '[N'],
    ['a word that starts like null', '[note] this', '[no'],
    ['a link', '[text](https://example.com)', '[tex'],
    ['a footnote', '[1] According to', '[1] A'],
    ['a task list', '[ ] buy milk', '[ ] b'],
    ['an object, then text', '{"a":1} is it', '{"a":1} i'],
    ['code in a fence', '```js\nconst x = 1;', '```js\nc'],
    ['text in a fence', '```\nhello world', '```\nh'],
    ['code after the language', '```python print(1)', '```python p'],
    ['inline code', '`npm i`', '`n'],
    ['two ticks', '``x``', '``x'],
    ['four ticks', '````md', '````'],
    ['a closed fence, then text', '```json\n{"a":1}\n``` as asked', '```json\n{"a":1}\n``` a'],
    ['an object without quotes', '{ city: "Paris" }', '{ c'],
    ['an invalid number', '[1st place]', '[1st p'],
  ])('shows %s immediately', (_case, text, until) => {
    const hold = new LeakFilter();
    let taken = '';
    let shown = '';
    for (const char of text) {
      taken += char;
      shown += hold.push(char);
      if (shown !== '') break;
    }
    expect(taken.length).toBeLessThanOrEqual(until.length);
    expect(shown).toBe(taken);
    for (const pieces of splits(text)) expect(show(...pieces)).toEqual({ shown: text, held: '' });
  });

  it('passes everything after it has shown something', () => {
    const hold = new LeakFilter();
    expect(hold.push('So: ')).toBe('So: ');
    expect(hold.push(json)).toBe(json);
  });

  it('releases once', () => {
    const hold = new LeakFilter();
    expect(hold.push('{"a":')).toBe('');
    expect(hold.release()).toBe('{"a":');
    expect(hold.release()).toBe('');
    expect(hold.push('1}')).toBe('1}');
  });

  it('holds blank text until something follows', () => {
    expect(show(' ', '\n', ' ')).toEqual({ shown: '', held: ' \n ' });
    expect(show(' ', '\n', 'Hi')).toEqual({ shown: ' \nHi', held: '' });
  });

  it('shows and holds the same for any split of a text', () => {
    const unit = fc.constantFrom(
      ...'{}[]"`\\ \n,:1tru e\ud83d\ude00a',
      '```',
      '```json\n',
      '{"a":',
    );
    fc.assert(
      fc.property(fc.string({ unit }), fc.array(fc.nat({ max: 5 })), (text, sizes) => {
        const pieces: string[] = [];
        let at = 0;
        for (const size of sizes) pieces.push(text.slice(at, (at += size)));
        pieces.push(text.slice(at));
        expect(show(...pieces)).toEqual(show(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, string]>([
    ['an open string', `{"a":"${'word '.repeat(4_000)}`],
    ['backslashes', `{"a":"${'\\'.repeat(20_000)}`],
    ['open lists', '['.repeat(20_000)],
    ['blanks', ' '.repeat(20_000)],
    ['blanks in a fence', `\`\`\`json\n${' '.repeat(20_000)}`],
    ['a long language', `\`\`\`${'a'.repeat(20_000)}`],
    ['closed JSON and blanks', `{}${' '.repeat(20_000)}`],
  ])('D92: reads each character of %s once', (_case, text) => {
    // all work on text uses these two
    let looked = 0;
    const { trimStart, charAt } = String.prototype;
    const hold = new LeakFilter();
    try {
      Object.assign(String.prototype, {
        trimStart(this: string) {
          looked += this.length;
          return trimStart.call(this);
        },
        charAt(this: string, at: number) {
          looked += 1;
          return charAt.call(this, at);
        },
      });
      for (let at = 0; at < text.length; at++) hold.push(text.slice(at, at + 1));
    } finally {
      Object.assign(String.prototype, { trimStart, charAt });
    }
    expect(hold.release()).toBe(text);
    expect(looked).toBeGreaterThanOrEqual(text.length);
    expect(looked).toBeLessThanOrEqual(2 * text.length);
  });
});
