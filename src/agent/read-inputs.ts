import { isoTime } from '../clock.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import type { PendingInput } from '../events/agent-event.ts';
import { isRecord } from '../json.ts';
import { sentence } from '../sentence.ts';
import { inputAnswerIn, inputProblem, type InputAnswer } from '../tools/input-request.ts';
import type { AgentState } from './agent-state.ts';
import {
  noInputs,
  pendingInputsIn,
  type InputGiven,
  type InputRecord,
  type Inputs,
  type InputsGiven,
} from './open-inputs.ts';

/** Reads answers to questions that wait. Throws for other ids, malformed answers, and content that does not fit. */
export async function readInputs(
  state: AgentState,
  inputs: Inputs | undefined,
  given: Pick<InputRecord, 'by'> & { readonly now: number },
): Promise<InputsGiven> {
  if (inputs === undefined) return noInputs;
  if (!isRecord(inputs))
    throw new AgentError(
      'invalid_input',
      `inputs is ${show(inputs)}, expected { [inputId]: answer }.`,
    );
  const pending = pendingInputsIn(state);
  const read = new Map<string, InputGiven>();
  for (const [id, value] of Object.entries(inputs)) {
    const answer = await checkedInput(pending, id, value);
    read.set(id, { answer, by: given.by, at: isoTime(given.now) });
  }
  return read;
}

/** Checks one answer against its question. */
export async function checkedInput(
  pendingInputs: readonly PendingInput[],
  id: string,
  value: unknown,
): Promise<InputAnswer> {
  const question = pendingInputs.find((one) => one.inputId === id);
  if (!question) {
    const waiting = pendingInputs.map((one) => one.inputId);
    throw new AgentError(
      'unknown_input',
      `No question ${show(id)} waits for an answer. Waiting: ${waiting.join(', ') || 'none'}.`,
      { details: { inputId: id, pending: waiting } },
    );
  }
  const answer = inputAnswerIn(value);
  if (!answer)
    throw invalidAnswer(
      id,
      `is ${show(value)}, expected { action: 'accept', content? }, { action: 'decline' } or { action: 'cancel' }`,
    );
  const problem = await inputProblem(question, answer);
  if (problem !== null) throw invalidAnswer(id, `does not fit: ${problem}`);
  return answer;
}

const invalidAnswer = (id: string, what: string): AgentError =>
  new AgentError(
    'invalid_input',
    `The answer for ${show(id)} ${sentence(what)} The question still waits.`,
    { details: { inputId: id } },
  );
