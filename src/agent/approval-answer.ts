import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, type JsonObject } from '../json.ts';

/** The call that an answer is for: fields of the pending approval that the approver saw. */
export interface ApprovalBinding {
  readonly executionId?: string | undefined;
  readonly argsHash?: string | undefined;
}

/** An approver's answer to one call: approve it, optionally with edited arguments, or deny it. */
export type ApprovalAnswer = ApprovalBinding &
  (
    | {
        readonly approve: true;
        readonly args?: JsonObject;
        /** Also approves later calls of this tool by this agent, in this session, until it is revoked. */
        readonly remember?: 'session' | undefined;
      }
    | { readonly deny: string }
  );

/** Answers by call id; calls of nested agents are addressed by their own id. */
export type Approvals = Readonly<Record<string, ApprovalAnswer>>;

/** An answer with who gave it and when. Both are absent in records of earlier releases. */
export type GivenAnswer = ApprovalAnswer & {
  readonly by?: string | null;
  readonly at?: string;
  /** Trace context of the process that took the answer, in a session; absent without one. */
  readonly traceparent?: string;
};

/** Answers as a map, so that a call id such as `__proto__` does not match an inherited property. */
export type Answers = ReadonlyMap<string, GivenAnswer>;

export const noAnswers: Answers = new Map();

/** Reads answers into a map by call id. */
export function readAnswers(
  approvals: Approvals | undefined,
  given: Required<Pick<GivenAnswer, 'by' | 'at'>>,
): Answers {
  if (approvals === undefined) return noAnswers;
  const prototype: unknown = isRecord(approvals) && Object.getPrototypeOf(approvals);
  if (prototype !== null && prototype !== Object.prototype && !isOfOtherRealm(prototype))
    throw new AgentError(
      'invalid_approval',
      `approvals is ${show(approvals)} with a prototype, expected a plain object { [callId]: answer }. ` +
        'Write the id in brackets: { ["__proto__"]: answer } names a call, { __proto__: answer } does not.',
    );
  return new Map(
    Object.entries(approvals).map(([callId, answer]) => {
      checkAnswer(callId, answer);
      return [callId, { ...answer, ...given }];
    }),
  );
}

const isOfOtherRealm = (prototype: unknown): boolean =>
  isRecord(prototype) && Object.getPrototypeOf(prototype) === null;

export function checkAnswer(callId: string, answer: unknown): void {
  if (isAnswer(answer)) return;
  throw new AgentError(
    'invalid_approval',
    `The answer for ${show(callId)} is ${show(answer)}, expected { approve: true, args?, remember?: 'session' } or { deny: reason }, ` +
      'with executionId and argsHash as strings if present.',
    { details: { callId } },
  );
}

const isAnswer = (answer: unknown): answer is ApprovalAnswer =>
  isRecord(answer) &&
  isTextOrAbsent(answer['executionId']) &&
  isTextOrAbsent(answer['argsHash']) &&
  ((answer['approve'] === true &&
    (answer['args'] === undefined || isRecord(answer['args'])) &&
    (answer['remember'] === undefined || answer['remember'] === 'session') &&
    !('deny' in answer)) ||
    (typeof answer['deny'] === 'string' && !('approve' in answer) && !('remember' in answer)));

const isTextOrAbsent = (value: unknown): boolean =>
  value === undefined || typeof value === 'string';
