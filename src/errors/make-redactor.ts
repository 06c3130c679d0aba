import { isRecord, parseJson } from '../json.ts';

/** Hides secrets in anything that leaves the run: events, logs, errors, UI reads. Never changes its input. */
export interface Redactor {
  text(text: string): string;
  value<T>(value: T): T;
  isSecretKey(key: string): boolean;
}

export const REDACTED = '[redacted]';

/** Deeper than data is, and far from what the stack can take. */
const MOST_DEPTH = 200;

interface KnownKey {
  /** As it is shown. */
  readonly name: string;
  readonly isSecret: boolean;
}

const secretKeys =
  'authorization proxyauthorization token idtoken cookie setcookie credential connectionstring';

/** Also behind a prefix, as in `dbPassword` or `OPENAI_API_KEY`; a bare `token` is not, for pages have tokens too. */
const secretEndings =
  /(?:password|passwd|passphrase|secret|credentials|(?:api|secret|private|access)key|(?:access|refresh|auth|bearer|session)token)$/;

/** None may look through a long text again from each of its places: what could is bounded. */
const secretPatterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:basic|digest|token)\s{1,4})[^\s"']+/gi,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=:\/\/[^\s/:@]*:)[^\s/]+(?=@)/g,
];

/** Its first part alone is no secret; it is taken too, so that a long one is not looked through again from each place. */
const jwt = /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,})?/g;
/** `"password": "` inside a text, at any depth of escaping: bodies often travel as JSON in a string. */
const quotedKey = /(\\{0,31}["'])([\w.-]{2,64})\1\s*:\s*(\\{0,31}["'])/g;
/** `api_key=…` in an address or a dump of the environment. */
const assignment = /(?<![\w.-])([\w.-]{2,64})=([^\s&;,"']+)/g;

/** With the built-in keys and patterns and these besides; patterns are global. */
export function makeRedactor(
  moreKeys: readonly string[] = [],
  morePatterns: readonly RegExp[] = [],
): Redactor {
  const keys = new Set([...secretKeys.split(' '), ...moreKeys.map(plainKey)]);
  const patterns = [...secretPatterns, ...morePatterns];
  const isSecretKey = (key: string): boolean => {
    const plain = plainKey(key);
    return keys.has(plain) || secretEndings.test(plain);
  };

  const text = (input: string): string => {
    let output = /^\s*[[{]/.test(input) ? jsonText(input) : input;
    for (const pattern of patterns) output = output.replace(pattern, REDACTED);
    if (output.includes('eyJ'))
      output = output.replace(jwt, (found) => (found.includes('.') ? REDACTED : found));
    if (output.includes('='))
      output = output.replace(assignment, (whole, key: string) =>
        isSecretKey(key) ? `${key}=${REDACTED}` : whole,
      );
    return output.includes(':') ? withoutQuotedSecrets(output, isSecretKey) : output;
  };

  const jsonText = (input: string): string => {
    const parsed = parseJson(input);
    // what is nested too deep is read as plain text
    if (!parsed.ok || isTooDeep(parsed.value)) return input;
    const redacted = walk(parsed.value);
    return redacted === parsed.value ? input : JSON.stringify(redacted);
  };

  // the same few keys come again and again
  const known = new Map<string, KnownKey>();
  const keyOf = (key: string): KnownKey => {
    const found = known.get(key);
    if (found) return found;
    const made = { name: text(key), isSecret: isSecretKey(key) };
    if (known.size < 2_000 && key.length <= 64) known.set(key, made);
    return made;
  };

  const walk = (value: unknown, depth: number = 0): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MOST_DEPTH) return REDACTED;
    if (Array.isArray(value)) return mapped(value, (item) => walk(item, depth + 1));
    if (isRecord(value) && typeof value['toJSON'] === 'function')
      return walk((value as { toJSON(): unknown }).toJSON(), depth + 1);
    let changed = false;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      const { name, isSecret } = keyOf(key);
      const next = isSecret && isHideable(inner) ? REDACTED : walk(inner, depth + 1);
      changed ||= next !== inner || name !== key;
      return [name, next];
    });
    return changed ? Object.fromEntries(entries) : value;
  };

  return { text, value: <T>(value: T): T => walk(value) as T, isSecretKey };
}

/** Hides what either of the two hides. */
export const bothRedactors = (a: Redactor, b: Redactor): Redactor =>
  a === b
    ? a
    : {
        text: (text) => b.text(a.text(text)),
        value: (value) => b.value(a.value(value)),
        isSecretKey: (key) => a.isSecretKey(key) || b.isSecretKey(key),
      };

/** For JSON that is cut off or stands between other words; what is whole was read as JSON before. */
function withoutQuotedSecrets(text: string, isSecretKey: (key: string) => boolean): string {
  let output = '';
  let done = 0;
  for (const { 0: opening, 2: key = '', 3: quote = '', index } of text.matchAll(quotedKey)) {
    const start = index + opening.length;
    if (start < done || !isSecretKey(key)) continue;
    const end = endOfString(text, start, quote);
    output += text.slice(done, start) + (end > start ? REDACTED : '');
    done = end;
  }
  return done === 0 ? text : output + text.slice(done);
}

/** A quote inside is escaped once more than the quote that opened the string, and so are backslashes. */
function endOfString(text: string, start: number, quote: string): number {
  const own = quote.length - 1;
  for (let i = start; i < text.length; i++) {
    if (text[i] !== quote[own]) continue;
    let slashes = 0;
    while (slashes < i - start && text[i - 1 - slashes] === '\\') slashes += 1;
    if (slashes >= own && (slashes - own) % (2 * (own + 1)) === 0) return i - own;
  }
  return text.length;
}

/** Looked at level by level, for the stack cannot take what is too deep. */
function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

const plainKey = (key: string): string => key.toLowerCase().replace(/[-_.\s]/g, '');

/** Numbers under `token` are counts, not secrets. */
const isHideable = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);

function mapped(list: readonly unknown[], fn: (item: unknown) => unknown): readonly unknown[] {
  const next = list.map((item) => fn(item));
  return next.some((item, i) => item !== list[i]) ? next : list;
}

export const defaultRedactor: Redactor = makeRedactor();
