import type { GuardContext } from '../agent/ask-guards.ts';
import type { AgentGuard, GuardPoint } from '../agent/guard.ts';
import type { Capability } from '../agent/hooks.ts';
import { invalidOption, positive } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import type { Message } from '../messages/message.ts';
import { guardCriterion } from './guard-criterion.ts';

/** Blocks what a guard has checked. */
export interface GuardBlock {
  /** Why, for the record. */
  readonly block: string;
  /** What the user reads. Default: the reason. */
  readonly message?: string;
}

/** What a guard returns: nothing if it has no objection. */
export type GuardDecision = GuardBlock | null | undefined;

/** A message before it is answered. */
export interface MessageToGuard<Deps = {}> extends GuardContext<Deps> {
  readonly text: string;
  /** The messages that the run answers. Usually one. */
  readonly messages: readonly Message[];
}

/** An answer before it is shown and recorded. */
export interface AnswerToGuard<Deps = {}> extends GuardContext<Deps> {
  readonly text: string;
  readonly reasoning: string | null;
  /** Whether the answer calls no tools. */
  readonly isFinal: boolean;
}

/** The calls of one answer before any of them runs. */
export interface CallsToGuard<Deps = {}> extends GuardContext<Deps> {
  readonly calls: readonly {
    readonly callId: string;
    readonly tool: string;
    readonly args: JsonObject;
  }[];
}

/** Options that all guards have. */
export interface GuardOptions {
  /** Name in the explanation, the trace and the list of criteria. */
  readonly name: string;
  /** Timeout of one check in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Whether a check that throws or times out blocks, or is recorded and passes. Default `block`. */
  readonly onError?: 'block' | 'pass';
}

export interface GuardInputOptions<Deps = {}> extends GuardOptions {
  check(message: MessageToGuard<Deps>): GuardDecision | Promise<GuardDecision>;
  /** Whether the model is called while the check runs. Nothing is shown and no tool runs before it passes. Default: true. */
  readonly parallel?: boolean;
}

export interface GuardOutputOptions<Deps = {}> extends GuardOptions {
  check(answer: AnswerToGuard<Deps>): GuardDecision | Promise<GuardDecision>;
  /** Whether text is held back until it passes; else it is streamed, and discarded if it is blocked. Default: true. */
  readonly hold?: boolean;
  /** Whether only answers without tool calls are checked. Default: false. */
  readonly finalOnly?: boolean;
}

export interface GuardToolsOptions<Deps = {}> extends GuardOptions {
  check(calls: CallsToGuard<Deps>): GuardDecision | Promise<GuardDecision>;
}

/** Checks each message of the user before anything is shown and before any tool runs. */
export const guardInput = <Deps = {}>(
  options: GuardInputOptions<Deps>,
): Capability<NoInfer<Deps>, never> =>
  guard('input', 'guardInput', options, { isParallel: options.parallel ?? true });

/** Checks the text of each answer before it is shown and recorded. */
export const guardOutput = <Deps = {}>(
  options: GuardOutputOptions<Deps>,
): Capability<NoInfer<Deps>, never> =>
  guard('output', 'guardOutput', options, {
    isHeld: options.hold ?? true,
    isFinalOnly: options.finalOnly ?? false,
  });

/** Checks the calls of each answer before any of them runs or waits for approval. */
export const guardTools = <Deps = {}>(
  options: GuardToolsOptions<Deps>,
): Capability<NoInfer<Deps>, never> => guard('tools', 'guardTools', options, {});

const DEFAULT_TIMEOUT_MS = 10_000;

function guard(
  at: GuardPoint,
  option: string,
  given: GuardOptions & { check(input: never): unknown },
  more: Partial<AgentGuard>,
): Capability<unknown, never> {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS, onError = 'block' } = given;
  if (typeof name !== 'string' || name.trim() === '')
    throw invalidOption(`${option} name`, name, 'a name');
  if (typeof given.check !== 'function')
    throw invalidOption(`${option} check`, given.check, 'a function');
  if (onError !== 'block' && onError !== 'pass')
    throw invalidOption(`${option} onError`, onError, `'block' or 'pass'`);
  const made: AgentGuard = {
    isParallel: false,
    isHeld: false,
    isFinalOnly: false,
    ...more,
    name,
    at,
    check: (input) => given.check(input),
    timeoutMs: positive(`${option} timeoutMs`, timeoutMs),
    onError,
  };
  return { name, guards: [made], criteria: [guardCriterion(made)] };
}
