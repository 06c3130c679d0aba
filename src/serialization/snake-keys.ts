type Snake<Key extends string> = Key extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Key;

/** A record with snake_case keys at the top level and the same values. */
export type SnakeKeys<T> = {
  [Key in keyof T as Key extends string ? Snake<Key> : never]: T[Key];
};

export const snakeKeys = <T extends object>(record: T): SnakeKeys<T> =>
  renamed(record, (key) =>
    key.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
  ) as SnakeKeys<T>; // the type renames by the same rule

export const camelKeys = <T extends object>(record: SnakeKeys<T>): T =>
  renamed(record, (key) =>
    key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  ) as T; // the reverse of the above

const renamed = (record: object, rename: (key: string) => string): object =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]));
