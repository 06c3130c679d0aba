/** How long a provider keeps what a cache mark covers: 5 minutes or an hour since it was last read. */
export type CacheTtl = '5m' | '1h';

/**
 * Marks the end of a part of the prompt, up to which the provider caches it. `true` is `'5m'`, `false` no mark. Providers
 * without marks get none.
 */
export type CacheMark = boolean | CacheTtl;

/** The values of {@link CacheMark}, for errors. */
export const CACHE_MARKS = "true, false, '5m' or '1h'";

/** Returns how long a mark lasts; false for none, and for any other value, which may come from storage. */
export const ttlOf = (mark: unknown): CacheTtl | false => {
  if (mark === true) return '5m';
  return mark === '5m' || mark === '1h' ? mark : false;
};

export const isCacheMark = (mark: unknown): mark is CacheMark =>
  mark === false || ttlOf(mark) !== false;
