import type { InputRecord, OpenInput } from '../agent/open-inputs.ts';
import type { PendingInput } from '../events/agent-event.ts';
import type { KeyedQuestion } from '../tools/input-request.ts';
import type { ApprovalRecord } from '../tools/tool-result.ts';
import type { Writing } from './slim-message.ts';
import { camelKeys, snakeKeys, type SnakeKeys } from './snake-keys.ts';
import { truncateText } from './truncate-text.ts';

/** A call that asked the user, with what it needs to run again. */
export type SlimOpenInput = Omit<SnakeKeys<OpenInput>, 'answers' | 'approval' | 'questions'> & {
  readonly questions: readonly KeyedQuestion[];
  readonly answers: readonly SnakeKeys<InputRecord>[];
  readonly approval?: SnakeKeys<ApprovalRecord>;
};

/** A question that waits, for display. Without tool arguments it has no schema, and `schema_omitted` instead. */
export type SlimPendingInput = Omit<SnakeKeys<PendingInput>, 'schema'> &
  Pick<PendingInput, 'schema'> & { readonly schema_omitted?: true };

/** Most characters of JSON of what the calls of a step asked, in a document. */
const MAX_CHARACTERS = 64_000;

/** Writes what calls asked, whole or not at all: a form, a state or an answer without its end is of no use. */
export function slimInputs(
  inputs: readonly OpenInput[] | undefined,
  { limits, redactor, report }: Writing,
): readonly SlimOpenInput[] | null {
  if (!inputs) return null;
  const { value, hidden } = redactor.free(inputs);
  const written = value.map(({ answers, approval, ...open }): SlimOpenInput => ({
    ...snakeKeys(open),
    answers: answers.map((answer) => snakeKeys(answer)),
    ...(approval ? { approval: snakeKeys(approval) } : null),
  }));
  if (!limits.includeToolArgs || JSON.stringify(written).length > MAX_CHARACTERS) {
    report.missing('the inputs that a tool asked for');
    return null;
  }
  report.secretsHidden(hidden, true);
  return written;
}

export const readSlimInputs = (inputs: readonly SlimOpenInput[]): readonly OpenInput[] =>
  inputs.map(({ answers, approval, ...open }) => ({
    ...camelKeys<Omit<OpenInput, 'answers' | 'approval'>>(open),
    answers: answers.map((answer) => camelKeys<InputRecord>(answer)),
    ...(approval ? { approval: camelKeys<ApprovalRecord>(approval) } : null),
  }));

/** Writes the questions that wait, for display: their texts are truncated, and their schemas left out if they are too large. */
export function slimPending(
  pending: readonly PendingInput[],
  { limits, redactor, report }: Writing,
): readonly SlimPendingInput[] {
  const { value, hidden } = redactor.free(pending);
  // what a resume needs is counted with the step
  report.secretsHidden(hidden, false);
  let space = limits.includeToolArgs ? MAX_CHARACTERS : 0;
  return value.map(({ schema, message, ...question }): SlimPendingInput => {
    const cut = truncateText(message, limits.maxContentLength);
    if (cut !== message) report.contents += 1;
    const shown = { ...snakeKeys(question), message: cut };
    if (schema === undefined) return shown;
    space -= JSON.stringify(schema).length;
    return space >= 0 ? { ...shown, schema } : { ...shown, schema_omitted: true };
  });
}
