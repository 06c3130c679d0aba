import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bearerOf, checkedToken, storedToken, ownerByToken } from './dev-token.ts';
import { removeFolder } from '../../test/setup/folders.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'onward-token-'));
  onTestFinished(() => removeFolder(path));
  return path;
}

const isWindows = process.platform === 'win32';
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe.skipIf(isWindows)('the stored token', () => {
  it('is created once, of 128 random bits, in a folder and a file that only this user can read', () => {
    const here = folder();
    const token = storedToken(here);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(storedToken(here)).toBe(token);
    expect(storedToken(folder())).not.toBe(token);
    expect(modeOf(join(here, '.onward'))).toBe(0o700);
    expect(modeOf(join(here, '.onward', 'token'))).toBe(0o600);
    expect(readFileSync(join(here, '.onward', '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('restricts a folder and a file that others could read', () => {
    const here = folder();
    const dot = join(here, '.onward');
    mkdirSync(dot);
    writeFileSync(join(dot, 'token'), 'a-token-of-mine\n');
    chmodSync(dot, 0o755);
    chmodSync(join(dot, 'token'), 0o644);
    expect(storedToken(here)).toBe('a-token-of-mine');
    expect([modeOf(dot), modeOf(join(dot, 'token'))]).toEqual([0o700, 0o600]);
  });

  it('an invalid token is replaced by a new file', () => {
    const here = folder();
    mkdirSync(join(here, '.onward'));
    const file = join(here, '.onward', 'token');
    writeFileSync(file, 'short', { mode: 0o644 });
    const held = openSync(file, 'r');
    onTestFinished(() => closeSync(held));
    expect(storedToken(here)).toMatch(/^[0-9a-f]{32}$/);
    expect(modeOf(file)).toBe(0o600);
    expect(readFileSync(held, 'utf8'), 'a process that had it open reads no more').toBe('short');
  });

  it.each([
    ['to a file of another user', 'precious words of mine'],
    ['to a known token', 'known-to-another-user'],
    ['to a missing file', null],
  ])('a link %s is neither followed nor changed', (_what, content) => {
    const here = folder();
    mkdirSync(join(here, '.onward'));
    const target = join(here, 'target');
    if (content !== null) writeFileSync(target, content, { mode: 0o644 });
    symlinkSync(target, join(here, '.onward', 'token'));
    const token = storedToken(here);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(existsSync(target)).toBe(content !== null);
    if (content === null) return;
    expect([readFileSync(target, 'utf8'), modeOf(target)]).toEqual([content, 0o644]);
  });
});

describe('a token of a request', () => {
  const asked = (authorization: string): string =>
    bearerOf(new Request('http://localhost/?token=in-the-address', { headers: { authorization } }));

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Basic abc', ''],
    ['Bearer', ''],
    ['Bearer a b', ''],
    ['Bearer a, Bearer b', ''],
    ['', ''],
  ])('%j is %j; a token in the URL is ignored', (header, token) => {
    expect(asked(header)).toBe(token);
  });

  it('identifies its owner; names of object properties are not tokens', () => {
    const ownerOf = ownerByToken({ 'token-of-ann': 'ann', 'token-of-bob': 'bob' });
    expect(ownerOf('token-of-ann')).toBe('ann');
    expect(ownerOf('token-of-bob')).toBe('bob');
    for (const wrong of ['', 'ann', 'token-of-an', 'token-of-ann ', '__proto__', 'constructor'])
      expect(ownerOf(wrong)).toBeNull();
  });

  it.each(['', 'short', 'with space', 'line\nbreak', 'a'.repeat(201), 'quote"quote"'])(
    'D43: %j is refused, and the message does not contain it',
    (token) => {
      const words = () => checkedToken(token, '--token');
      expect(words).toThrow(`has ${token.length} characters`);
      if (token.length > 2) expect(words).not.toThrow(token);
    },
  );
});
