import { Host, Run } from './hiding.ts';
import { PemBody } from './pem-body.ts';
import { found, matchEnd, type Reading, type ScanResult } from './reading.ts';
import { tokenShape } from './secret-tokens.ts';
import { decodesTo, looksSecret } from './secret-words.ts';

/** Maximum length of undecided text; beyond that it counts as a secret. */
const MAX_OPEN = 256;

/** Characters that identify any token. */
const MAX_UNNAMED = 64;

const tokenRun = /[\w.+/=-]{0,65}/y;
const tokenBody = /[\w+/=-]+/y;
const dot = /\.+/y;
const segment = /[\w-]{0,257}/y;
const segmentBody = /[\w-]+/y;
const credentials = /[\w.~+/=-]{0,257}/y;
const base64 = /[A-Za-z0-9+/=]{0,257}/y;
const space = /\s{0,9}/y;
const authority = /[^\s"'`<>\\]{0,257}/y;
const path = /[\w/@%-]+/y;
const nothing = /(?!)/y;

/** Detects a token by the prefix of a service. */
export function judgeToken({ text, isEnd }: Reading, at: number): ScanResult {
  const end = matchEnd(tokenShape, text, at);
  if (end > at) return found(at, new Run(tokenBody, dot));
  const runEnd = matchEnd(tokenRun, text, at);
  return isEnd || runEnd < text.length || runEnd - at > MAX_UNNAMED ? at + 1 : null;
}

/** Detects a JWT; also JSON in base64 that contains a secret. Its first part only is not one. */
export function judgeJwt({ text, isEnd, kindOf }: Reading, at: number): ScanResult {
  const secret = found(at, new Run(segmentBody, dot));
  const isOpen = (end: number): boolean => end === text.length && !isEnd;
  const first = matchEnd(segment, text, at);
  if (first - at > MAX_OPEN) return secret;
  if (isOpen(first)) return null;
  const payload = first + 1;
  const second = text[first] === '.' ? matchEnd(segment, text, payload) : first;
  if (first - at >= 11 && second > payload) {
    if (text.startsWith('eyJ', payload) || second - payload > MAX_OPEN) return secret;
    if (isOpen(second)) return null;
    const third = text[second] === '.' ? matchEnd(segment, text, second + 1) : second;
    if (second - payload >= 8 && third - second > 4) return secret;
    if (isOpen(third)) return null;
  } else if (isOpen(second)) return null;
  const hasSecret = (json: string): boolean =>
    Array.from(json.matchAll(/"([^"\\]{1,64})"\s{0,8}:/g)).some(
      ([, key = '']) => kindOf(key) !== null,
    );
  return first - at >= 16 && decodesTo(text.slice(at, first), hasSecret) ? secret : first;
}

/** Detects `Bearer …` if no word of a sentence follows. */
export function judgeBearer({ text, isEnd }: Reading, at: number): ScanResult {
  const start = matchEnd(space, text, at + 'bearer'.length);
  const end = matchEnd(credentials, text, start);
  const value = text.slice(start, end);
  if (end === text.length && !isEnd && value.length <= MAX_OPEN) return null;
  const isSecret = value.length >= 8 && (looksSecret(value) || /[a-z][A-Z]|[._~+/=]\w/.test(value));
  return isSecret ? found(at, new Run(/[\w~+/=-]+/y, dot), start) : start;
}

/** Detects `Basic …` if it is a name and a password in base64. */
export function judgeBasic({ text, isEnd }: Reading, at: number): ScanResult {
  const start = matchEnd(space, text, at + 'basic'.length);
  const end = matchEnd(base64, text, start);
  if (end - start > MAX_OPEN) return found(start, new Run(/[A-Za-z0-9+/=]+/y, nothing));
  if (end === text.length && !isEnd) return null;
  const isPair = (pair: string): boolean =>
    /^[\u0020-\u007e]{1,128}$/.test(pair) && pair.includes(':');
  return end - start >= 6 && decodesTo(text.slice(start, end), isPair)
    ? found(start, null, end)
    : start;
}

/** Detects a private key; other blocks are public. */
export function judgePem({ text, isEnd }: Reading, at: number): ScanResult {
  const start = at + '-----BEGIN '.length;
  const end = matchEnd(/[A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----/y, text, start);
  if (end > start) return found(at, new PemBody(), end);
  const open = text.slice(start, start + 80);
  return !isEnd && open.length < 80 && /^[A-Z0-9 ]*-{0,4}$/.test(open) ? null : start;
}

/** Detects the path of a webhook, which is enough to use it. */
export function judgeWebhook({ text, isEnd }: Reading, at: number): ScanResult {
  if (at + 1 === text.length && !isEnd) return null;
  return matchEnd(path, text, at + 1) > at + 1 ? found(at + 1, new Run(path, dot)) : at + 1;
}

/** Detects the password of a URL, and a token as its user. */
export function judgeAddress({ text, isEnd }: Reading, at: number): ScanResult {
  const start = at + '://'.length;
  const end = matchEnd(authority, text, start);
  const isOpen = end === text.length && !isEnd;
  const span = text.slice(start, end);
  const userEnd = span.search(/[:@/?#[]/);
  if (userEnd < 0) {
    if (span.length > MAX_OPEN) return found(start, new Run(/[^\s"'`<>\\@/?#]+/y, nothing));
    return isOpen ? null : end;
  }
  const mark = span.charAt(userEnd);
  if (mark === '@') {
    const isName = /(?:ssh|ftp|sql|postgres|mongodb|srv|redis|amqps?|ldaps?)$/.test(
      text.slice(Math.max(0, at - 8), at),
    );
    return !isName && userEnd >= 8 && looksSecret(span.slice(0, userEnd))
      ? found(start, new Host(), start + userEnd)
      : start + userEnd;
  }
  if (mark !== ':') return start + userEnd;
  const from = start + userEnd + 1;
  const behind = span.slice(userEnd + 1);
  // a port
  if (/^\d{0,5}(?:[/?#]|$)/.test(behind)) return isOpen && !/[/?#]/.test(behind) ? null : from;
  const passwordEnd = behind.indexOf('@');
  if (passwordEnd > 0) return found(from, new Host(), from + passwordEnd);
  if (span.length > MAX_OPEN) return found(from, new Run(/[^\s"'`<>\\@]+/y, nothing));
  return isOpen ? null : from;
}
