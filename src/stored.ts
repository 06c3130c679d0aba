import type { JsonValue } from './json.ts';

/** The type of a value after it was stored as JSON: dates are strings, functions are absent. */
export type Stored<T> = [T] extends [JsonValue] ? T : unknown extends T ? unknown : StoredPart<T>;

type StoredPart<T> = T extends string | number | boolean | null
  ? T
  : T extends undefined | void | Unstorable
    ? null
    : T extends { toJSON(): infer J }
      ? StoredPart<J>
      : T extends readonly (infer E)[]
        ? readonly StoredPart<E>[]
        : T extends object
          ? {
              readonly [K in keyof T as T[K] extends Unstorable ? never : K]: StoredPart<T[K]>;
            }
          : JsonValue;

type Unstorable = ((...args: never) => unknown) | symbol;
