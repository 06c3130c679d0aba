/** Characters of JSON on one page of a list, a history or a log: behind that it is short, and its cursor leads on. */
export const PAGE_CHARACTERS = 1_000_000;

/** Rows that are read from the store in one go: few at first, for they may be large. */
export const ROWS_AT_ONCE = { first: 16, next: 64 } as const;
