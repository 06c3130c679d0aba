import { AgentError, show } from '../errors/agent-error.ts';
import { forbidOrder, type StopReason } from '../continuation/stop-reason.ts';
import { isRecord, type JsonObject, type JsonValue } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { isPart, textOf } from '../messages/content-part.ts';
import type { MessageInput } from '../messages/message.ts';
import { sentence } from '../sentence.ts';
import type { Scorer } from './score.ts';

/** A call that a case expects. */
export interface ExpectedCall {
  readonly tool: string;
  /** Arguments that the call has, among others. Default: any. */
  readonly args?: JsonObject;
}

/** What a case expects. Scorers without an argument of their own read it. */
export interface EvalExpectation {
  /** The answer: a text, or the value of a response format. */
  readonly output?: JsonValue;
  /** The tool calls, in order. */
  readonly calls?: readonly ExpectedCall[];
  readonly stopReason?: StopReason;
}

/** One case of an eval: what the agent gets, and what is expected. */
export interface EvalCase {
  /** Name in reports, unique in its suite. */
  readonly name: string;
  /** The user's message. */
  readonly input?: MessageContent;
  /** The conversation so far, with the user's message at its end, in place of `input`. */
  readonly messages?: readonly MessageInput[];
  readonly expected?: EvalExpectation;
  /** Words that `onward eval --filter` finds. */
  readonly tags?: readonly string[];
  /** Further data for agents, dependencies and scorers. */
  readonly metadata?: JsonObject;
  /** Scorers of this case, in addition to those of its suite. */
  readonly scorers?: readonly Scorer[];
}

/** A case as it is written: the name may be absent, and a plain `expected` is the expected output. */
export type EvalCaseInput = Omit<EvalCase, 'name' | 'expected'> & {
  /** Default: `case-` and its number. */
  readonly name?: string;
  readonly expected?: EvalExpectation | JsonValue;
};

/** Maximum cases of a suite. */
const MAX_CASES = 10_000;
const expectationKeys = new Set(['output', 'calls', 'stopReason']);

/** Checks cases and gives each a name. `what` names their source in errors. */
export function readCases(what: string, given: unknown): readonly EvalCase[] {
  if (!Array.isArray(given)) throw wrongCase(`${what} is ${show(given)}, expected a list of cases`);
  if (given.length > MAX_CASES)
    throw wrongCase(`${what} has ${given.length} cases, expected at most ${MAX_CASES}`);
  const names = new Set<string>();
  return given.map((one: unknown, index) => {
    const read = readCase(`${what}, case ${index + 1},`, one, `case-${index + 1}`);
    if (names.has(read.name))
      throw wrongCase(`${what} has two cases with the name ${show(read.name)}, expected one`);
    names.add(read.name);
    return read;
  });
}

function readCase(what: string, given: unknown, defaultName: string): EvalCase {
  if (!isRecord(given))
    throw wrongCase(`${what} is ${show(given)}, expected an object with input or messages`);
  const { name = defaultName, input, messages, expected, tags, metadata, scorers } = given;
  if (typeof name !== 'string' || name.trim() === '')
    throw wrongCase(`${what} has the name ${show(name)}, expected a text`);
  const hasInput = typeof input === 'string' || (Array.isArray(input) && input.every(isPart));
  if (hasInput === Array.isArray(messages))
    throw wrongCase(
      `${what} needs input (a text, or parts of a message) or messages (a list), and not both`,
    );
  if (tags !== undefined && !isListOf(tags, 'string'))
    throw wrongCase(`${what} has tags ${show(tags)}, expected a list of texts`);
  if (metadata !== undefined && !isRecord(metadata))
    throw wrongCase(`${what} has metadata ${show(metadata)}, expected an object`);
  // checked above; messages are checked when the conversation is made from them
  return {
    name,
    ...(hasInput ? { input } : { messages }),
    ...(expected !== undefined && { expected: readExpectation(what, expected) }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
    ...(scorers !== undefined && { scorers }),
  } as EvalCase;
}

function readExpectation(what: string, given: unknown): EvalExpectation {
  if (!isRecord(given)) return { output: given as JsonValue };
  const unknown = Object.keys(given).find((key) => !expectationKeys.has(key));
  if (unknown !== undefined)
    throw wrongCase(
      `${what} expects ${show(unknown)}, known are output, calls and stopReason. Write a structured answer as expected.output`,
    );
  const { calls, stopReason } = given;
  if (calls !== undefined && !(Array.isArray(calls) && calls.every(isExpectedCall)))
    throw wrongCase(`${what} has expected.calls ${show(calls)}, expected a list of { tool, args }`);
  if (stopReason !== undefined && !forbidOrder.includes(stopReason as StopReason))
    throw wrongCase(
      `${what} has expected.stopReason ${show(stopReason)}, expected one of ${forbidOrder.join(', ')}`,
    );
  return given;
}

const isExpectedCall = (call: unknown): boolean =>
  isRecord(call) &&
  typeof call['tool'] === 'string' &&
  (call['args'] === undefined || isRecord(call['args']));

const isListOf = (list: unknown, type: 'string'): boolean =>
  Array.isArray(list) && list.every((item) => typeof item === type);

const wrongCase = (message: string): AgentError =>
  new AgentError('invalid_option', sentence(message));

/** Returns the text of what the user asks. */
export function questionOf({ input, messages }: EvalCase): string {
  if (input !== undefined) return textOf(input);
  const last = messages?.findLast(({ role }) => role === 'user');
  return last ? textOf(last.content) : '';
}
