import type { Redactor } from '../errors/redactor.ts';
import { visibleLines } from '../visible-text.ts';
import type { PendingInput } from './agent-event.ts';

/** Returns questions for the user: without secrets and hidden characters. Ids and keys stay, because answers need them. */
export const shownInputs = (
  pending: readonly PendingInput[],
  redactor: Redactor,
): readonly PendingInput[] =>
  pending.map((one) => ({
    ...one,
    message: visibleLines(redactor.text(one.message)),
    ...(one.schema && { schema: redactor.value(one.schema) }),
  }));
