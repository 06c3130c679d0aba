import { invalidOption } from './agent-error.ts';
import { makeRedactor, type Redactor } from './make-redactor.ts';

export {
  bothRedactors,
  defaultRedactor,
  hidesUnder,
  REDACTED,
  streamOf,
  type Redactor,
  type TextStream,
} from './make-redactor.ts';

export interface RedactorOptions {
  /** Additional key names with hidden values, compared without case, `-`, `_` and `.`. */
  readonly keys?: readonly string[];
  /** Additional patterns to hide in any text. */
  readonly patterns?: readonly RegExp[];
}

/**
 * Creates a redactor that hides values under secret-looking keys, and secret-looking text anywhere, including JSON
 * inside strings.
 */
export const createRedactor = ({ keys = [], patterns = [] }: RedactorOptions = {}): Redactor =>
  makeRedactor(keys.map(checkedKey), patterns.map(globalPattern));

function checkedKey(key: string): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalidOption('createRedactor keys', key, 'names of keys');
}

function globalPattern(pattern: RegExp): RegExp {
  if (!(pattern instanceof RegExp))
    throw invalidOption('createRedactor patterns', pattern, 'regular expressions');
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}
