import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDotFolder } from './dot-folder.ts';
import { usageError } from './usage-error.ts';

/** Characters that need no escaping in a URL and a header. */
const TOKEN = /^[A-Za-z0-9._~-]{8,200}$/;

export function checkedToken(token: string, from: string): string {
  if (TOKEN.test(token)) return token;
  throw usageError(
    `The token of ${from} has ${token.length} characters, expected 8 to 200 letters, digits and ._~-`,
  );
}

/** Returns the token of this folder, created once: an open tab survives a restart. */
export function storedToken(folder: string): string {
  const file = join(makeDotFolder(folder), 'token');
  const kept = tokenIn(file);
  if (kept !== null) return kept;
  const token = randomBytes(16).toString('hex');
  rmSync(file, { force: true });
  try {
    // write a new file: at no time can others read it, and no link redirects it
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // another process has created one in the meantime
    const existing = tokenIn(file);
    if (existing === null) throw error;
    return existing;
  }
  return token;
}

/** Reads a valid token, else null; a link was not created here. */
function tokenIn(file: string): string | null {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return null;
  const kept = readFileSync(file, 'utf8').trim();
  if (!TOKEN.test(kept)) return null;
  chmodSync(file, 0o600);
  return kept;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Finds the owner of a token. Compares every token, each in constant time. */
export function ownerByToken(
  tokens: Readonly<Record<string, string>>,
): (token: string) => string | null {
  const known = Object.entries(tokens).map(([token, owner]) => ({ digest: digest(token), owner }));
  return (token) => {
    const given = digest(token);
    let found: string | null = null;
    for (const { digest, owner } of known) if (timingSafeEqual(digest, given)) found ??= owner;
    return found;
  };
}

/** Returns the bearer token of a request; '' if there is none. */
export const bearerOf = ({ headers }: Request): string =>
  /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
