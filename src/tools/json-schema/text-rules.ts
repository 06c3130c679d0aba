import { formats, type Format } from './formats.ts';
import type { Pattern } from './pattern.ts';
import type { Program } from './pattern-program.ts';
import { programPattern } from './pattern-run.ts';

/** Checks of texts beyond a plain regular expression. */
export interface TextRules {
  /** Returns the format; undefined if unknown, which every text matches. */
  formatOf(name: string): Format | undefined;
  patternOf(program: Program): Pattern;
}

/** The rules for formats and patterns. Imported on demand, because few schemas need them. */
export const textRules: TextRules = {
  formatOf: (name) => formats.get(name),
  patternOf: programPattern,
};
