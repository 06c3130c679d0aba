import { describe, expect, it } from 'vitest';
import type { FilePart, ImagePart } from './content-part.ts';
import { leftOut, sourceOf } from './media-type.ts';

const bytes = (...values: readonly (number | string)[]): string =>
  btoa(
    values
      .map((value) => (typeof value === 'string' ? value : String.fromCharCode(value)))
      .join('')
      .padEnd(24, '\0'),
  );
const jpeg = bytes(0xff, 0xd8, 0xff, 0xe0);

describe('the media type of a part', () => {
  it.each<[string, ImagePart | FilePart, string]>([
    ['PNG bytes', { type: 'image', data: bytes(0x89, 'PNG\r\n') }, 'image/png'],
    ['JPEG bytes', { type: 'file', data: jpeg }, 'image/jpeg'],
    ['the bytes of a short sample', { type: 'image', data: '/9j/4AAQ' }, 'image/jpeg'],
    ['WebP bytes', { type: 'image', data: bytes('RIFF', 'abcd', 'WEBP') }, 'image/webp'],
    ['WAV bytes, not WebP', { type: 'file', data: bytes('RIFF', 'abcd', 'WAVE') }, 'audio/wav'],
    ['MP3 bytes', { type: 'file', data: bytes('ID3') }, 'audio/mpeg'],
    ['PDF bytes', { type: 'file', data: bytes('%PDF-1.7') }, 'application/pdf'],
    [
      'bytes over a wrong field',
      { type: 'image', data: jpeg, mediaType: 'image/png' },
      'image/jpeg',
    ],
    [
      'bytes over a wrong name',
      { type: 'file', data: bytes('%PDF-1.7'), filename: 'a.png' },
      'application/pdf',
    ],
    ['a field', { type: 'file', data: 'aGk=', mediaType: 'Text/Plain' }, 'text/plain'],
    [
      'bytes over a field that names any image',
      { type: 'image', data: jpeg, mediaType: 'image/*' },
      'image/jpeg',
    ],
    [
      'the header of a data URL',
      { type: 'image', url: 'data:image/webp;base64,AAAA' },
      'image/webp',
    ],
    [
      'a header with parameters',
      { type: 'file', url: 'data:text/csv;charset=utf-8;base64,YSxi' },
      'text/csv',
    ],
    [
      'bytes over a wrong header',
      { type: 'image', url: `data:image/png;base64,${jpeg}` },
      'image/jpeg',
    ],
    ['a file name', { type: 'file', data: 'aGk=', filename: 'Notes.TXT' }, 'text/plain'],
    [
      'the path of an address',
      { type: 'file', url: 'https://example.org/a/report.pdf?v=2' },
      'application/pdf',
    ],
    ['no sign: a file', { type: 'file', url: 'https://example.org/1' }, 'application/octet-stream'],
    ['no sign: an image by address', { type: 'image', url: 'https://example.org/1' }, 'image/*'],
    ['no sign: an image', { type: 'image', data: 'AAAA' }, 'image/png'],
    [
      'a name like an object key',
      { type: 'file', data: 'aGk=', filename: 'a.constructor' },
      'application/octet-stream',
    ],
  ])('comes from %s', (_what, part, expected) => {
    expect(sourceOf(part).mediaType).toBe(expected);
  });

  it('reads a data URL without base64', () => {
    expect(sourceOf({ type: 'file', url: 'data:text/plain,caf%C3%A9' })).toEqual({
      data: btoa('caf\xc3\xa9'),
      mediaType: 'text/plain',
    });
  });

  it('reads a long data URL without base64', () => {
    const text = 'a'.repeat(1_000_000);
    expect(sourceOf({ type: 'file', url: `data:text/plain,${text}` }).data).toBe(btoa(text));
  });

  it('describes a part that was left out', () => {
    const pdf: FilePart = { type: 'file', url: 'https://example.org/a.pdf', filename: 'a.pdf' };
    expect(leftOut(pdf, 'this API accepts no file by address')).toBe(
      '[File "a.pdf" (application/pdf) at https://example.org/a.pdf left out: this API accepts no file by address.]',
    );
  });
});
