import { parsePattern } from './parse-pattern.ts';
import { isPlain, programOf, type Program } from './pattern-program.ts';

/** A regular expression that reads each character once: linear time for any pattern and text. */
export interface Pattern {
  /** Whether the text matches; `undefined` if the text is too long for a pattern with too many open states. */
  test(text: string): boolean | undefined;
}

/** Maximum characters of a pattern: the engine's own parser is not always linear. */
export const MAX_PATTERN = 4_096;

/**
 * Prepares a JSON Schema `pattern`. Returns a string with the reason if it cannot be used. `ofProgram` creates patterns
 * that the engine's own matcher would not match in linear time.
 */
export function patternOf(
  source: string,
  ofProgram: (program: Program) => Pattern,
): Pattern | string {
  if (source.length > MAX_PATTERN)
    return `it has ${source.length} characters, at most ${MAX_PATTERN} are allowed`;
  let native: RegExp;
  try {
    native = new RegExp(source, 'u');
    native.test(''); // some are too large to compile
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  }
  const tree = parsePattern(source);
  if (typeof tree === 'string') return tree;
  if (isPlain(tree)) return native;
  const program = programOf(tree, false);
  return program === null ? 'it repeats too much' : ofProgram(program);
}
