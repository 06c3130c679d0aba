import type { InputFieldProblem } from '../ui/input-fields.ts';
import { counted, countText } from '../number-text.ts';
import { visibleText } from '../visible-text.ts';

/** Describes in English why a value does not fit its field. */
export function inputProblemText(problem: InputFieldProblem): string {
  switch (problem.kind) {
    case 'missing':
      return 'Enter a value.';
    case 'number':
      return 'This is not a number.';
    case 'integer':
      return 'Enter a whole number.';
    case 'format':
      return `This is not a valid ${visibleText(problem.format)}.`;
    case 'short':
      return `Enter at least ${counted(problem.limit, 'character')}.`;
    case 'long':
      return `Enter at most ${counted(problem.limit, 'character')}.`;
    case 'small':
      return `Enter ${countText(problem.limit)} or more.`;
    case 'large':
      return `Enter ${countText(problem.limit)} or less.`;
    case 'few':
      return `Choose at least ${countText(problem.limit)}.`;
    case 'many':
      return `Choose at most ${countText(problem.limit)}.`;
  }
}
