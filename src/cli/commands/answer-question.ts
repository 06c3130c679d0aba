import { AgentError } from '../../errors/agent-error.ts';
import type { PendingInput } from '../../events/agent-event.ts';
import type { Session } from '../../sessions/session.ts';
import type { InputAnswer } from '../../tools/input-request.ts';
import { argsFrom } from '../ask-approval.ts';
import type { CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { oneLine, questionText, shortId } from '../format.ts';
import { usageError } from '../usage-error.ts';
import { withWork, type WorkOptions } from '../with-work.ts';

export interface AnswerQuestionOptions extends WorkOptions {
  readonly content?: string;
  readonly accept?: boolean;
  readonly decline?: boolean;
  readonly cancel?: boolean;
  /** Id of the execution in which the user saw the question, or its beginning. */
  readonly execution?: string;
}

/** Answers a question of a tool, and follows the run. */
export async function answerQuestion(
  context: CliContext,
  said: string,
  input: string | undefined,
  options: AnswerQuestionOptions,
): Promise<number> {
  const answer = answerIn(options);
  return withWork(context, options, async (project) => {
    const { runtime, owner } = project;
    const session = await findSession(project, said);
    const { inputId, executionId } = questionMeant(session, input);
    const { execution = executionId } = options;
    const bound = executionId.startsWith(execution) ? executionId : execution;
    const begin = () => runtime.answer(session.id, inputId, { owner, answer, executionId: bound });
    return { sessionId: session.id, resumed: session, begin };
  });
}

/** Reads the answer: exactly one of the options. */
function answerIn({ content, accept, decline, cancel }: AnswerQuestionOptions): InputAnswer {
  const given: readonly InputAnswer[] = [
    ...(content === undefined
      ? []
      : [{ action: 'accept', content: argsFrom(content, '--content') } as const]),
    ...(accept ? [{ action: 'accept' } as const] : []),
    ...(decline ? [{ action: 'decline' } as const] : []),
    ...(cancel ? [{ action: 'cancel' } as const] : []),
  ];
  const [only, ...others] = given;
  if (only && others.length === 0) return only;
  throw usageError(
    `${given.length === 0 ? 'There is no answer' : 'There is more than one answer'}. Use one of --content '<json>', --accept, --decline and --cancel.`,
  );
}

/** Finds the question by its id or the beginning of it; without an id, the only one. */
function questionMeant(
  { id, status, pendingInputs }: Session,
  said: string | undefined,
): PendingInput {
  if (pendingInputs.length === 0)
    throw new AgentError(
      'unknown_input',
      `No tool of session ${shortId(id)} asks: it is ${status.replace('_', ' ')}.`,
      { details: { sessionId: id, pending: [] } },
    );
  const meant =
    said === undefined
      ? pendingInputs
      : pendingInputs.filter(({ inputId }) => inputId.startsWith(said));
  const exact = meant.find(({ inputId }) => inputId === said);
  const [only, ...others] = exact ? [exact] : meant;
  if (only && others.length === 0) return only;
  const list = (only ? meant : pendingInputs).map(lineOf).join('\n');
  throw usageError(
    said === undefined
      ? `${pendingInputs.length} questions wait. Name one:\n${list}`
      : `${only ? 'Several questions start with' : 'No question that waits is'} ${oneLine(said, 120)}. Waiting:\n${list}`,
  );
}

const lineOf = (question: PendingInput): string =>
  `  ${oneLine(question.inputId, 160)}  ${questionText(question, 80)}`;
