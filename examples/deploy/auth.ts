import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Example of an auth hook: the owner is `sub` of a JSON Web Token (HS256) that your sign-in service makes with the same
 * secret. Any other token, and one that has expired, belongs to no owner: the API answers 401.
 */
export function ownerByToken(secret: string): (request: Request) => string | null {
  if (secret.length < 32)
    throw new Error(`AUTH_SECRET has ${secret.length} characters. Use at least 32 random ones.`);
  return ({ headers }) => {
    const [, token = ''] = /^Bearer ([\w.-]+)$/.exec(headers.get('authorization') ?? '') ?? [];
    const [header = '', claims = '', signature = ''] = token.split('.');
    const expected = createHmac('sha256', secret).update(`${header}.${claims}`).digest();
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    // signed by us, so it is what we wrote
    if (read(header)['alg'] !== 'HS256') return null;
    const { sub, exp } = read(claims);
    if (typeof exp !== 'number' || exp * 1000 <= Date.now()) return null;
    return typeof sub === 'string' && sub !== '' ? sub : null;
  };
}

const read = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
