/** Ids of calls as a careless or hostile provider may choose them. */
export const hostileIds: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  'args',
  'approve',
  'deny',
  '0',
  '-1',
  'Call_1',
  'cal_0123456789abcdef',
  '.',
  '..',
  'a/b',
  '../stop',
  'a\\b',
  '%2f',
  'a b',
  'a\nb',
  'functions.pay:0',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(100_000),
  '',
  'é',
  '🙂',
  '\ud800',
  'a\u0000b',
  '\u202e',
];

/** As a title of a test may show it. */
export const shownId = (id: string): string =>
  JSON.stringify(id.length > 40 ? `${id.length} x` : id);

/** What every id of a new record looks like. */
export const usableId: RegExp = /^[A-Za-z0-9_-]{1,64}$/;
