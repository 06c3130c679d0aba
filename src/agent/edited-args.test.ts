import { describe, expect, it } from 'vitest';
import { createRedactor, defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { maskedPath } from './edited-args.ts';

const stars: Redactor = {
  text: (text) => text.replaceAll('hunter2', '***'),
  value: <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '***')) as T,
  isSecretKey: () => false,
};

describe('an edit with a redaction placeholder', () => {
  it.each<[string, object, object, string | null]>([
    ['the placeholder alone', { password: '[redacted]' }, { password: 'hunter2' }, '/password'],
    ['in a longer text', { c: 'ls # [redacted] end' }, { c: 'ls # sk-1 end' }, '/c'],
    ['twice instead of once', { c: '[redacted][redacted]' }, { c: 'a [redacted] b' }, '/c'],
    ['in a list', { keys: ['a', '[redacted]'] }, { keys: ['a', 'b'] }, '/keys/1'],
    ['deep down', { a: { b: [{ c: '[redacted]' }] } }, { a: { b: [{ c: 1 }] } }, '/a/b/0/c'],
    ['where the call has a number', { pin: '[redacted]' }, { pin: 1234 }, '/pin'],
    ['where the call has an object', { auth: '[redacted]' }, { auth: { user: 'a' } }, '/auth'],
    ['where the call has nothing', { note: '[redacted]' }, {}, '/note'],
    ['in a name', { '[redacted]': 1 }, { sk_live: 1 }, '/[redacted]'],
    ['in a longer name', { 'x [redacted]': 1 }, { 'x y': 1 }, '/x [redacted]'],
    ['in a nested name', { a: [{ '[redacted]/~': 1 }] }, { a: [{}] }, '/a/0/[redacted]~1~0'],
    ['moved to another field', { b: '[redacted]' }, { a: '[redacted]' }, '/b'],
    ['text of the call itself', { c: 'say [redacted]' }, { c: 'write [redacted] here' }, null],
    ['a name of the call itself', { '[redacted]': 2 }, { '[redacted]': 1 }, null],
    ['no mark', { password: 'other', n: 2 }, { password: 'hunter2', n: 1 }, null],
    ['other words', { c: 'redacted [REDACTED] [redact' }, { c: '' }, null],
  ])('%s', (_case, edited, recorded, path) => {
    expect(maskedPath(edited, recorded, [defaultRedactor])).toBe(path);
  });

  it.each<[string, object, object, string | null]>([
    ['left as shown', { p: '***', n: 2 }, { p: 'hunter2', n: 1 }, '/p'],
    ['inside a text left as shown', { p: 'a *** b' }, { p: 'a hunter2 b' }, '/p'],
    ['a name left as shown', { '***': 1 }, { hunter2: 1 }, '/***'],
    ['the same text elsewhere', { p: 'hunter2', q: '***' }, { p: 'hunter2', q: '***' }, null],
    ['not redacted', { p: 'plain' }, { p: 'plain' }, null],
  ])('of a redactor with a custom placeholder: %s', (_case, edited, recorded, path) => {
    expect(maskedPath(edited, recorded, [createRedactor(), stars])).toBe(path);
  });
});
