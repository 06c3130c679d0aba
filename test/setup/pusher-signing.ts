import { createHash, createHmac } from 'node:crypto';

export const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

export const md5 = (bytes: Buffer | string): string =>
  createHash('md5').update(bytes).digest('hex');

/** The text that a REST request signs: all parameters but the signature, decoded and sorted by name. */
export function signedText(
  method: string,
  path: string,
  query: URLSearchParams,
  body: Buffer,
): string {
  const fields = new Map(query);
  fields.delete('auth_signature');
  // the server computes the hash of the body itself
  if (body.length > 0) fields.set('body_md5', md5(body));
  const sorted = [...fields].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [method, path, sorted.map(([name, value]) => `${name}=${value}`).join('&')].join('\n');
}

/** JSON as PHP writes it: ASCII only, with escaped slashes. */
export const phpJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
