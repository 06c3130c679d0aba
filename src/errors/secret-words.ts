/** Words after the name of a secret that are not a secret: statements about it, types, empty values. */
const plainWords = /* @__PURE__ */ (() =>
  new Set(
    (
      'true false null nil none undefined nan yes no on off ok string number boolean bool int integer str any unknown object ' +
      'array bytes optional required missing invalid expired empty unset hidden masked redacted incorrect wrong unauthorized ' +
      'forbidden denied valid set changed updated rotated revoked rejected mismatch needed blank include omit same-origin n/a ' +
      'tbd todo await new return function async basic bearer digest token password secret sha1 sha256 sha-256 sha512 sha-512 md5 bcrypt argon2 argon2id ' +
      'base64 base32 oauth oauth2 jwt rs256 hs256 es256 aes128 aes256 aes-256 utf8 utf-8'
    ).split(' '),
  ))();

/** Code that reads the value, and placeholders of manuals. */
const source = /* @__PURE__ */ (() =>
  new RegExp(
    [
      String.raw`^(?:process\.env|os\.environ|import\.meta|env|config|settings|secrets|vault|options|opts|this|self|req|request)[.?[]`,
      String.raw`^[A-Za-z_$.]{1,64}\([\w$.'"]{0,64}\)?[;,.)]{0,8}$`,
      String.raw`^(?:\$\{|\$\(|\{\{|\[redacted)`,
      String.raw`^\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+)\W?$`,
      String.raw`^<[A-Za-z][\w.-]{0,64}>?\W?$`,
      String.raw`^\{[\w.]{1,64}\}\W?$`,
      String.raw`^%(?:[sd]|\w{1,64}%|\(\w{1,64}\)s)\W?$`,
      String.raw`^(?:\*{2,}|\.{3}|…|x{4,}$)`,
    ].join('|'),
    'i',
  ))();

/**
 * Whether the text after the name of a secret is a word about it, or code that reads it; `isKey` detects names of
 * secrets.
 */
export function isReference(value: string, isKey: (name: string) => boolean): boolean {
  const plain = /\w$/.test(value) ? value : value.replace(/[).,;:!?\]}*_]{1,16}$/, '');
  if (plainWords.has(plain.toLowerCase())) return true;
  const isName = /^[\w$.]{1,64}$/.test(plain);
  // `password: newPassword`, `token=row.token`
  if (isName && isKey(plain.slice(plain.lastIndexOf('.') + 1))) return true;
  if (!/[A-Za-z0-9]/.test(plain)) return true;
  return !/^\w+$/.test(value) || value.startsWith('xxxx') ? source.test(value) : false;
}

/** Whether a word looks generated, or like a password: words of a sentence have no digits or symbols. */
export function looksSecret(value: string): boolean {
  const word = value.replace(/^[("'*_]{1,3}|[).,;:!?'"\]}*_]{1,16}$/g, '');
  if (word.length >= LONG_WORD) return true;
  if (word.length < 4 || /^v?\d{1,4}[.:-]?[\d.]*[a-z]*$|^\d+$/i.test(word)) return false;
  const hasDigit = /\d/.test(word);
  const hasLetter = /[A-Za-z]/.test(word);
  return (hasDigit && hasLetter) || (word.length >= 6 && /[!@#$%^&*+=~|\\]/.test(word));
}

/** Length that no ordinary word has. */
const LONG_WORD = 32;

/** Whether base64 decodes to a matching text; its last letters may be missing. */
export function decodesTo(encoded: string, fits: (text: string) => boolean): boolean {
  const plain = encoded
    .replace(/-/g, '+')
    .replace(/_/g, '/')
    .replace(/={0,2}$/, '');
  const whole = plain.slice(0, plain.length - (plain.length % 4 === 1 ? 1 : 0));
  return /^[A-Za-z0-9+/]+$/.test(whole) && fits(atob(whole));
}
