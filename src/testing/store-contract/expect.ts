import { AgentError, type ErrorCode } from '../../errors/agent-error.ts';

/** Fails unless both are the same plain data; the order of keys does not matter. */
export function same(seen: unknown, expected: unknown, what: string): void {
  if (!isSame(seen, expected))
    throw new Error(`${what}: expected ${text(expected)}, saw ${text(seen)}.`);
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`Expected that ${what}.`);
}

/** Returns the value, or fails with what is missing. */
export function found<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what}: expected one, saw none.`);
  return value;
}

/** Fails unless the promise rejects with an `AgentError` of one of these codes. */
export async function refused(
  promise: Promise<unknown>,
  codes: ErrorCode | readonly ErrorCode[],
  what: string,
): Promise<void> {
  const allowed = [codes].flat();
  const thrown = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in thrown)
    throw new Error(`${what}: expected ${allowed.join(' or ')}, but it resolved.`);
  if (allowed.some((code) => AgentError.is(thrown.error, code))) return;
  throw new Error(`${what}: expected ${allowed.join(' or ')}, saw ${String(thrown.error)}.`, {
    cause: thrown.error,
  });
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}

function text(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 600 ? `${json.slice(0, 599)}…` : json;
}
