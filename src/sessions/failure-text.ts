import { messageOf } from '../errors/error-record.ts';
import { safeEnd } from '../errors/excerpt.ts';
import type { Redactor } from '../errors/redactor.ts';
import { visibleText } from '../visible-text.ts';

const MOST_CHARACTERS = 1_000;

/**
 * Returns a thrown value as text for a row: one line of at most 1,000 characters, without secrets or control
 * characters.
 */
export function failureText(thrown: unknown, redactor: Redactor): string {
  const whole = textOf(thrown);
  const read = whole.slice(0, safeEnd(whole, 4 * MOST_CHARACTERS));
  const text = visibleText(redactor.text(read));
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

function textOf(thrown: unknown): string {
  try {
    return messageOf(thrown) || 'no reason was given';
  } catch {
    return 'something was thrown that cannot be shown';
  }
}
