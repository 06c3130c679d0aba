/** Kind of a key: a password (numbers included), another secret (numbers are counts), or none. */
export type KeyKind = 'password' | 'secret' | null;

const passwords =
  /^(?:t?otp|cvv|cvc)$|(?:pass(?:word|wd|phrase|code)|pwd)s?$|^(?:\w{0,12}(?:db|user|smtp|mail|ftp|ssh|root|admin|proxy|redis|sql|pg|auth|key|store))?pass$/;

const exact = /* @__PURE__ */ (() =>
  new Set(
    'bearer jwt accesskeyid awsaccesskeyid sharedaccesssignature githubpat gitlabpat ghpat gitpat azurepat'.split(
      ' ',
    ),
  ))();

const endings = /* @__PURE__ */ (() =>
  new RegExp(
    `(?:authorization|cookies?|secrets?|credentials?|connectionstrings?|(?:${[
      'api|secret|private|priv|access|encryption|decryption|signing|signature|master|ssh|gpg|pgp|hmac|aes|rsa|tls|ssl',
      'account|storage|shared|subscription|license|deploy|webhook|auth|service|server|host|app|jwt',
    ].join('|')})keys?)$`,
  ))();

/** Tokens of text and of pages are not secrets. */
const plainToken = /* @__PURE__ */ (() =>
  new RegExp(
    `(?:${[
      'page|next|prev|previous|continuation|continue|cursor|sync|resume|resumption|offset',
      'max|min|num|total|input|output|prompt|completion|cached?|reasoning|thinking|image|audio|text|video|budget|used|left',
      'stop|pad|padding|eos|bos|unk|sep|cls|mask|special|start|end|first|last|word|sub|current|design|css|color',
    ].join('|')})token$`,
  ))();
const manyTokens =
  /(?:api|access|auth|refresh|bearer|session|id|csrf|xsrf|device|bot|git\w{0,3}|npm|slack|hf|personal|security|secret|service|app|deploy|client|jwt|push|reset)tokens$/;

/** Letters of other alphabets that look like Latin ones. */
const lookalikes = 'аеорсухіѕԁ';
const latin = 'aeopcyxisd';

/** Returns the name without case, `-`, `_`, `.` and blanks. */
export const plainKey = (key: string): string =>
  asciiKey(key)
    .toLowerCase()
    .replace(/[-_.\s]/g, '');

function asciiKey(key: string): string {
  if (!/[^\u0020-\u007e]/.test(key)) return key;
  const visible = key.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return visible.replace(
    /[аеорсухіѕԁ]/gi,
    (letter) => latin[lookalikes.indexOf(letter.toLowerCase())] ?? '',
  );
}

/** Creates a reader of key names; `more` are secret too. */
export function keyReader(more: readonly string[]): (key: string) => KeyKind {
  const own = new Set(more.map(plainKey));
  // the same few names repeat
  const known = new Map<string, KeyKind>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const kind = key.length > MAX_KEY ? null : kindOf(plainKey(key), own);
    if (known.size < 2_000) known.set(key, kind);
    return kind;
  };
}

/** Maximum characters of a name. */
export const MAX_KEY = 64;

function kindOf(plain: string, own: ReadonlySet<string>): KeyKind {
  if (passwords.test(plain)) return 'password';
  const isSecret =
    own.has(plain) ||
    exact.has(plain) ||
    endings.test(plain) ||
    manyTokens.test(plain) ||
    (plain.endsWith('token') && !plainToken.test(plain));
  return isSecret ? 'secret' : null;
}
