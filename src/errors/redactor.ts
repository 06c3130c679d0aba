import { invalidOption } from './agent-error.ts';

/** Hides secrets in anything that leaves the run: events, logs, errors, UI reads. Never changes its input. */
export interface Redactor {
  text(text: string): string;
  value<T>(value: T): T;
  isSecretKey(key: string): boolean;
}

export interface RedactorOptions {
  /** Further key names whose values are hidden, compared without case, `-` and `_`. */
  readonly keys?: readonly string[];
  /** Further patterns hidden inside any text. */
  readonly patterns?: readonly RegExp[];
}

export const REDACTED = '[redacted]';

const secretKeys =
  'apikey authorization proxyauthorization password passwd passphrase secret clientsecret secretkey token ' +
  'accesstoken refreshtoken idtoken authtoken bearertoken sessiontoken privatekey accesskey secretaccesskey ' +
  'cookie setcookie credential credentials connectionstring xapikey';

const secretPatterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
];

/** Hides values under secret-looking keys, and secret-looking text anywhere, JSON inside strings included. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const keys = new Set([...secretKeys.split(' '), ...(options.keys ?? []).map(plainKey)]);
  const patterns = [...secretPatterns, ...(options.patterns ?? []).map(globalPattern)];
  const isSecretKey = (key: string): boolean => keys.has(plainKey(key));
  /** `"password": "…"` inside a text: arguments and bodies often travel as JSON in a string. */
  const quoted = /(\\*["'])([\w.-]{3,40})\1(\s*:\s*)\1((?:(?!\1)[^\\]|\\.)*)\1/g;

  const text = (input: string): string => {
    let output = input;
    for (const pattern of patterns) output = output.replace(pattern, REDACTED);
    if (!output.includes(':')) return output;
    return output.replace(quoted, (whole, quote: string, key: string, colon: string) =>
      isSecretKey(key) ? `${quote}${key}${quote}${colon}${quote}${REDACTED}${quote}` : whole,
    );
  };

  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return mapped(value, walk);
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
      return walk((value as { toJSON(): unknown }).toJSON());
    let changed = false;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      const next = isSecretKey(key) && isHideable(inner) ? REDACTED : walk(inner);
      changed ||= next !== inner;
      return [key, next];
    });
    return changed ? Object.fromEntries(entries) : value;
  };

  return { text, value: <T>(value: T): T => walk(value) as T, isSecretKey };
}

const plainKey = (key: string): string => key.toLowerCase().replace(/[-_.\s]/g, '');

/** Numbers under `token` are counts, not secrets. */
const isHideable = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);

function mapped(list: readonly unknown[], fn: (item: unknown) => unknown): readonly unknown[] {
  const next = list.map(fn);
  return next.some((item, i) => item !== list[i]) ? next : list;
}

function globalPattern(pattern: RegExp): RegExp {
  if (!(pattern instanceof RegExp))
    throw invalidOption('createRedactor patterns', pattern, 'regular expressions');
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

export const defaultRedactor: Redactor = createRedactor();
