import { describe, expect, it } from 'vitest';
import { hostileSvg, largePng, pdf, png } from '../../test/setup/content-samples.ts';
import { AgentError } from '../errors/agent-error.ts';
import { bytesOf } from '../file-facts.ts';
import {
  isToolContent,
  recordedResult,
  toolContent,
  type ToolContentPart,
} from './tool-content.ts';

const refusal = (parts: unknown): string => {
  try {
    toolContent(parts as readonly ToolContentPart[]);
  } catch (error) {
    if (AgentError.is(error, 'invalid_option')) return error.message;
    throw error;
  }
  return 'accepted';
};
const stored = (part: ToolContentPart) => toolContent([part]).parts[0];
const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));

describe('toolContent', () => {
  it.each<[string, ToolContentPart, object]>([
    ['text', { type: 'text', text: 'a' }, { type: 'text', text: 'a' }],
    ['JSON as text', { type: 'json', value: { n: [1] } }, { type: 'text', text: '{"n":[1]}' }],
    ['a text as JSON without quotes', { type: 'json', value: 'a' }, { type: 'text', text: 'a' }],
    ['nothing as null', { type: 'json', value: undefined }, { type: 'text', text: 'null' }],
    [
      'base64, with the type that the bytes show',
      { type: 'image', data: png, mediaType: 'image/jpeg' },
      { type: 'image', data: png, mediaType: 'image/png' },
    ],
    [
      'base64 with line ends',
      { type: 'image', data: `${png.slice(0, 20)}\r\n${png.slice(20)}\n` },
      { type: 'image', data: png, mediaType: 'image/png' },
    ],
    [
      'base64 for addresses, without padding',
      { type: 'file', data: '-_-_-w' },
      { type: 'file', data: '+/+/+w==', mediaType: 'application/octet-stream' },
    ],
    ['bytes', { type: 'image', data: bytes }, { type: 'image', data: png, mediaType: 'image/png' }],
    [
      'a data URL as bytes',
      { type: 'image', url: `data:image/png;base64,${png}` },
      { type: 'image', data: png, mediaType: 'image/png' },
    ],
    [
      'a data URL of text',
      { type: 'file', url: 'data:text/csv,a%2Cb', filename: 'a.csv' },
      { type: 'file', data: btoa('a,b'), mediaType: 'text/csv', filename: 'a.csv' },
    ],
    [
      'a media type without its parameters',
      { type: 'file', data: btoa('hi'), mediaType: 'Text/Plain; charset=utf-8' },
      { type: 'file', data: btoa('hi'), mediaType: 'text/plain' },
    ],
    [
      'an address, which stays one',
      { type: 'image', url: 'https://example.com/a b.png' },
      { type: 'image', url: 'https://example.com/a%20b.png', mediaType: 'image/png' },
    ],
    [
      'a vector image, for wires and views to leave out',
      { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
      { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
    ],
  ])('accepts %s', (_what, part, expected) => {
    expect(stored(part)).toEqual(expected);
  });

  it('ignores fields that it does not know, and keys of prototypes', () => {
    const part = JSON.parse(
      `{"type":"image","data":"${png}","__proto__":{"url":"javascript:1"},"constructor":1,"extra":"x"}`,
    ) as ToolContentPart;
    expect(stored(part)).toEqual({ type: 'image', data: png, mediaType: 'image/png' });
    const json = JSON.parse('{"__proto__":{"admin":true},"n":1}') as unknown;
    expect(stored({ type: 'json', value: json })).toEqual({ type: 'text', text: '{"n":1}' });
  });

  it.each<[string, unknown, string]>([
    ['no list', 'text', 'it got "text", expected a list of 1 to 32 parts'],
    ['an empty list', [], 'it got an array of 0, expected a list of 1 to 32 parts'],
    [
      'too many parts',
      Array.from({ length: 33 }, () => ({ type: 'text', text: '' })),
      'it got an array of 33',
    ],
    ['no object', [null], 'part 1 is null, expected an object with a type'],
    ['an unknown type', [{ type: 'video' }], 'part 1 has type "video", expected text, json,'],
    ['no text', [{ type: 'text', text: 1 }], 'part 1 has text 1, expected a string'],
    ['neither data nor url', [{ type: 'image' }], 'part 1 (image) has no data and no url'],
    ['both', [{ type: 'image', data: png, url: 'https://a.b' }], 'has data and a url'],
    [
      'a number as data',
      [{ type: 'file', data: 5 }],
      'has data 5, expected base64 or a Uint8Array',
    ],
    ['empty data', [{ type: 'file', data: '' }], 'has data that is not base64'],
    ['no bytes', [{ type: 'file', data: new Uint8Array() }], 'has no bytes'],
    ['broken base64', [{ type: 'image', data: `${png}*` }], 'has data that is not base64'],
    ['a stray sign', [{ type: 'image', data: 'iVBO=Rw0' }], 'has data that is not base64'],
    ['a broken data URL', [{ type: 'image', url: 'data:image/png;base64' }], 'is not base64'],
    [
      'a data URL with broken base64',
      [{ type: 'image', url: 'data:image/png;base64,{}' }],
      'has data that is not base64',
    ],
    ['an unknown image', [{ type: 'image', data: btoa('hello') }], 'holds no known image format'],
    [
      'another file as image',
      [{ type: 'image', data: pdf }],
      'holds application/pdf, expected an image',
    ],
    [
      'data that is not what its type says',
      [{ type: 'image', data: btoa('<html>'), mediaType: 'image/png' }],
      'has mediaType image/png, and its data is something else',
    ],
    [
      'data that is not what its name says',
      [{ type: 'file', data: btoa('<html>'), filename: 'a.png' }],
      'has mediaType image/png, and its data is something else',
    ],
    [
      'a media type with a line end',
      [{ type: 'file', data: png, mediaType: 'image/png\r\nX-Evil: 1' }],
      'has mediaType "image/png\\r\\nX-Evil: 1", expected a type such as',
    ],
    [
      'a line end behind the media type',
      [{ type: 'file', data: png, mediaType: 'text/plain;a=b\r\nX: 1' }],
      'expected a type such as',
    ],
    [
      'a name with a line end',
      [{ type: 'file', data: png, filename: 'a\r\nb' }],
      'has filename "a\\r\\nb"',
    ],
    ['a long name', [{ type: 'file', data: png, filename: 'a'.repeat(256) }], 'has filename "aaa'],
    [
      'a script',
      [{ type: 'image', url: 'javascript:alert(1)' }],
      'begins with https:// or http://',
    ],
    [
      'a local file',
      [{ type: 'file', url: 'file:///etc/passwd' }],
      'begins with https:// or http://',
    ],
    ['no address', [{ type: 'file', url: '/a.png' }], 'begins with https:// or http://'],
    [
      'a long address',
      [{ type: 'file', url: `https://a.b/${'c'.repeat(9_000)}` }],
      'of at most 8192',
    ],
    [
      '10 MB',
      [{ type: 'image', data: largePng(10_000_000) }],
      'part 1 (image) has 10 MB, expected at most 5 MB',
    ],
    [
      '10 MB of bytes',
      [{ type: 'file', data: new Uint8Array(10_000_000) }],
      'has 10 MB, expected at',
    ],
    [
      '10 MB in a data URL',
      [{ type: 'image', url: `data:image/png;base64,${largePng(10_000_000)}` }],
      'has 10 MB, expected at most 5 MB',
    ],
    [
      '6 MB together',
      [1, 2].map(() => ({ type: 'image', data: largePng(3_000_000) })),
      'its images and files have 6 MB',
    ],
  ])('rejects %s', (_what, parts, expected) => {
    const message = refusal(parts);
    expect(message).toContain(expected);
    expect(message.length).toBeLessThan(400);
  });

  it('is known by a mark that JSON cannot have, and is a text as JSON', () => {
    const content = toolContent([
      { type: 'text', text: 'See:' },
      { type: 'image', data: png },
      { type: 'file', url: 'https://example.com/a.pdf', filename: 'a.pdf' },
    ]);
    const text =
      'See:\n[Image (image/png, 70 bytes)]\n[File "a.pdf" (application/pdf) at https://example.com/a.pdf]';
    expect(JSON.parse(JSON.stringify({ content }))).toEqual({ content: text });
    expect(isToolContent(content)).toBe(true);
    expect(isToolContent({ parts: content.parts })).toBe(false);
    expect(isToolContent(JSON.parse(JSON.stringify({ ...content })))).toBe(false);
  });
});

describe('a recorded result', () => {
  it('lists images and files without their bytes', () => {
    const recorded = recordedResult(
      toolContent([
        { type: 'text', text: 'a' },
        { type: 'image', data: png },
      ]),
      100,
    );
    expect(recorded).toMatchObject({
      value: 'a\n[Image (image/png, 70 bytes)]',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: png },
      ],
      files: [{ type: 'image', mediaType: 'image/png', bytes: bytesOf(png) }],
      cut: false,
    });
    expect(JSON.stringify(recorded.files)).not.toContain(png);
  });

  it('has one limit for all texts, and keeps images', () => {
    const { value, content, cut } = recordedResult(
      toolContent([
        { type: 'text', text: 'abcd' },
        { type: 'image', data: png },
        { type: 'text', text: 'efgh😀' },
        { type: 'text', text: 'ijkl' },
      ]),
      9,
    );
    expect(cut).toBe(true);
    expect(content?.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual([
      'abcd',
      'image',
      'efgh',
      '… [cut: 8 of 14 characters shown]',
    ]);
    expect(value).toBe(
      'abcd\n[Image (image/png, 70 bytes)]\nefgh\n… [cut: 8 of 14 characters shown]',
    );
  });

  it('is a text without images and files', () => {
    expect(recordedResult(toolContent([{ type: 'json', value: [1] }]), 100)).toEqual({
      value: '[1]',
      cut: false,
    });
    expect(recordedResult({ a: 1 }, 100)).toEqual({ value: { a: 1 }, cut: false });
  });
});
