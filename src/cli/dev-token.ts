import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDotFolder } from './dot-folder.ts';
import { usageError } from './usage-error.ts';

/** What fits into an address and a header as it is. */
const TOKEN = /^[A-Za-z0-9._~-]{8,200}$/;

export function checkedToken(token: string, from: string): string {
  if (TOKEN.test(token)) return token;
  throw usageError(
    `The token of ${from} has ${token.length} characters and cannot be used. Expected 8 to 200 letters, digits and ._~-`,
  );
}

/** The token of this folder, made once: a tab that is open survives a restart. */
export function keptToken(folder: string): string {
  const file = join(makeDotFolder(folder), 'token');
  const kept = tokenIn(file);
  if (kept !== null) return kept;
  const token = randomBytes(16).toString('hex');
  rmSync(file, { force: true });
  try {
    // anew: no moment in which others may read it, and no link that leads elsewhere
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // another process has made one in the meantime
    const theirs = tokenIn(file);
    if (theirs === null) throw error;
    return theirs;
  }
  return token;
}

/** Null where there is none that could be used; what is a link was not made here. */
function tokenIn(file: string): string | null {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return null;
  const kept = readFileSync(file, 'utf8').trim();
  if (!TOKEN.test(kept)) return null;
  chmodSync(file, 0o600);
  return kept;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Who comes with which token. Every token is compared, each in constant time. */
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

/** The bearer token of a request; '' where there is none. */
export const bearerOf = ({ headers }: Request): string =>
  /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
