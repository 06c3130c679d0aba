import { fields, listProblem, recordProblem, within, type Problem } from '../agent/check-record.ts';
import { isRecord } from '../json.ts';

const messageFields = fields({ metadata: 'object?' });
const stepFields = fields({ policy: 'object?', outcome: 'object??' });
const policyFields = fields({ hash: 'string', limits: 'object', errorPolicy: 'object' });
const stateFields = fields({
  lastContinuationOutcome: 'object??',
  unfinishedStep: 'object??',
  pause: 'object??',
});
const pauseFields = fields({ pendingApprovals: 'list?', pendingInputs: 'list?' });
const evaluationFields = fields({ context: 'object?', facts: 'object?' });
const factFields = fields({ message: 'string?' });

/** Finds what a stored session always has, and reports therefore read without a question. */
export const messageContentProblem = (message: unknown): Problem | null =>
  recordProblem(message, messageFields);

export const stepContentProblem = (step: unknown): Problem | null =>
  recordProblem(step, stepFields) ??
  countProblem(step as Record<string, unknown>, 'number') ??
  ifThere(step, 'policy', (policy) => recordProblem(policy, policyFields)) ??
  ifThere(step, 'outcome', outcomeProblem);

export const stateContentProblem = (state: unknown): Problem | null =>
  recordProblem(state, stateFields) ??
  ifThere(state, 'lastContinuationOutcome', outcomeProblem) ??
  ifThere(state, 'unfinishedStep', stepContentProblem) ??
  ifThere(state, 'pause', (pause) => recordProblem(pause, pauseFields));

const outcomeProblem = (outcome: unknown): Problem | null =>
  // records of earlier releases have no time
  ((outcome as { readonly at?: unknown }).at === undefined
    ? null
    : timeProblem(outcome as Record<string, unknown>, 'at')) ??
  ifThere(outcome, 'evaluations', (all) => listProblem(all, evaluationProblem));

const evaluationProblem = (evaluation: unknown): Problem | null =>
  recordProblem(evaluation, evaluationFields) ??
  ifThere(evaluation, 'facts', (facts) => recordProblem(facts, factFields));

function ifThere(
  record: unknown,
  key: string,
  problemOf: (value: unknown) => Problem | null,
): Problem | null {
  const value = isRecord(record) ? record[key] : undefined;
  return value === undefined || value === null ? null : within(`.${key}`, problemOf(value));
}

/** Positions fit into the integers of every store. */
const MOST_COUNT = 2 ** 31;

export function countProblem(value: Record<string, unknown>, key: string): Problem | null {
  const count = value[key];
  return Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) < MOST_COUNT
    ? null
    : { at: `.${key}`, seen: count, expected: 'a whole number from 0' };
}

/** A time as this library writes it. Other texts that a date can be read from may hold anything. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

export function timeProblem(value: Record<string, unknown>, key: string): Problem | null {
  const time = value[key];
  return typeof time === 'string' && TIME.test(time) && !Number.isNaN(Date.parse(time))
    ? null
    : { at: `.${key}`, seen: time, expected: 'a time such as 2026-01-31T12:00:00.000Z' };
}
