/** Texts that hurt readers which look twice, by their length in characters. */
export type TextOf = (size: number) => string;

const repeat =
  (piece: string, head: string = '', tail: string = ''): TextOf =>
  (size) =>
    head + piece.repeat(Math.ceil(size / piece.length)) + tail;

/** What a model, a tool or a person may write. */
export const hostileTexts: Readonly<Record<string, TextOf>> = {
  prose: repeat('hello world, '),
  blanks: repeat(' ', '', 'x'),
  lines: repeat('\n'),
  backslashes: repeat('\\', '', '"'),
  quotes: repeat('"ab":"'),
  'open braces': repeat('{'),
  'open lists': repeat('['),
  'an open fence': repeat('a', '```'),
  fences: repeat('```\n'),
  'open JSON': repeat('word ', '{"a":"'),
  'nested JSON': repeat('{"a":'),
  'JSON of keys': repeat('"token":"x",', '{', '"b":1}'),
  'sk-': repeat('sk-', '', ' x'),
  'a long key': repeat('a', 'sk-'),
  schemes: repeat('a://', '', ' x'),
  'a long URL': repeat('a', 'https://user:'),
  'tokens in parts': repeat('.eyJ', '', ' x'),
  'PEM begins': repeat('-----BEGIN ', '', '-----END A-----'),
  bearer: repeat('bearer ', '', ' x'),
  'bearer and blanks': repeat(' ', 'bearer ', 'x y'),
  authorization: repeat('authorization:', '', ' x y'),
  'password lines': repeat('password:\n  - a\n'),
  'escaped keys': repeat('\\', 'pass', 'u0077ord":"x"'),
  tags: repeat('<'),
  titles: repeat('<title'),
  emphasis: repeat('*a **b '),
  brackets: repeat('[a](', '', ')'),
  'open links': repeat('[', '', ']('),
  images: repeat('!['),
  tables: repeat('|a|b\n'),
  'quoted lines': repeat('> - '),
  ticks: repeat('`a'),
  underscores: repeat('_a_b'),
  'joined emoji': repeat('\u{1f468}\u200d', '', '\u0007'),
  invisible: repeat('\u202e'),
  'halves of pairs': repeat('\ud83d'),
  marks: repeat('\u0301', 'a'),
  'data lines': repeat('data: x\n'),
  'line ends of both kinds': repeat('\n', '', '\r'),
  numbers: repeat('1', 'retry after '),
  waits: repeat('wait 1s, '),
};

/** One character each, or words of four. */
export const pieces = (text: string, size: number = 4): readonly string[] => {
  const all: string[] = [];
  for (let at = 0; at < text.length; at += size) all.push(text.slice(at, at + size));
  return all;
};
