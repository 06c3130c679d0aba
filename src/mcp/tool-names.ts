import { sha256 } from '../sha256.ts';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Returns the names under which the model sees the tools of a server, by their names there: `github__create_issue`, or
 * `create_issue` without a prefix. A name that is too long, or that equals another one after its characters were replaced,
 * ends with a hash. The result does not depend on the order of the names.
 */
export function toolNames(
  prefix: string | null,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const unique = [...new Set(names)];
  const plain = new Map(unique.map((name) => [name, plainName(prefix, name)]));
  const counts = new Map<string, number>();
  for (const name of plain.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    unique.map((name) => {
      const made = plain.get(name) ?? '';
      const isOwn = made === `${startOf(prefix)}${name}`;
      const isAlone = isOwn || counts.get(made) === 1;
      return [name, made.length <= MAX_LENGTH && isAlone ? made : hashed(made, name)];
    }),
  );
}

const startOf = (prefix: string | null): string => (prefix === null ? '' : `${prefix}__`);

const plainName = (prefix: string | null, name: string): string =>
  `${startOf(prefix)}${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;

const hashed = (made: string, name: string): string =>
  `${made.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${sha256(name).slice(0, HASH_LENGTH)}`;
