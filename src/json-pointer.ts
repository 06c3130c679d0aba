import { isRecord } from './json.ts';

/** Returns the JSON pointer (RFC 6901) to a key below `parent`; `''` is the whole value. */
export const pointerTo = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns the keys of a pointer; null if it is invalid. */
export function pointerKeys(pointer: string): readonly string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null;
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value of a key or index; undefined if there is none. */
export function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value))
    return /^(?:0|[1-9]\d{0,9})$/.test(key) ? value[Number(key)] : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Sets the value of a key in place, or deletes it (`undefined`). Returns false if that is not possible: items of a list
 * can only be replaced.
 */
export function setChild(parent: unknown, key: string, value: unknown): boolean {
  if (Array.isArray(parent)) {
    if (value === undefined || childOf(parent, key) === undefined) return false;
    parent[Number(key)] = value;
    return true;
  }
  if (!isRecord(parent)) return false;
  if (value === undefined) return Object.hasOwn(parent, key) && delete parent[key];
  // a plain assignment to `__proto__` would set the prototype
  Object.defineProperty(parent, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return true;
}
