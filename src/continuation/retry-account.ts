import { isoTime, msOf } from '../clock.ts';
import type { ErrorContext } from '../errors/error-context.ts';
import { stricter, type ErrorPolicy } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { ExecutionView, StepView } from './run-view.ts';

/** Failures in a row of one tool that has its own `maxRetries`. */
export interface ToolFailures {
  readonly tool: string;
  readonly failures: number;
}

/** Failures of an execution. Each error belongs to one count: model calls, tools, or a tool with its own limit. */
export interface Failures {
  /** Failed model calls in a row. An answer resets it. */
  readonly modelFailures: number;
  /** Answered steps with errors in a row. An answered step without errors resets it. */
  readonly toolFailures: number;
  /** Failures in a row of tools with their own limit; absent if none failed. A success of the tool resets its count. */
  readonly failingTools?: readonly ToolFailures[];
  /** The count of the newest error: 0 after a step without errors. */
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
}

/** The parts of a step that count. */
export interface CountedStep extends Pick<StepView, 'type' | 'errors'> {
  readonly toolCalls: readonly { readonly name: string }[];
  /** At the index of the call; undefined while a call is open. */
  readonly results: readonly ({ readonly kind: string } | undefined)[];
}

/** Returns the counts after a step. Ignored errors neither raise nor reset a count; interrupted steps change nothing. */
export function countFailures(before: Failures, step: CountedStep, policy: ErrorPolicy): Failures {
  if (step.type === 'cut') return before;
  const { errors } = step;
  const { totalFailures } = before;
  if (errors.length === 0 && before.failingTools === undefined)
    return { modelFailures: 0, toolFailures: 0, consecutiveFailures: 0, totalFailures };
  const isModel = step.type === 'error';
  const modelCall = failedAnswer(step);
  const failed = errors.filter((e) => policy.handlingOf({ ...e, modelCall }) !== 'ignore');
  const own = failed.filter((error) => hasOwnLimit(error, modelCall, policy));
  const isShared = failed.length > own.length;
  const failingTools = failingAfter(before.failingTools, step, own);
  const counts = {
    modelFailures: isModel ? before.modelFailures + 1 : 0,
    toolFailures: toolFailuresAfter(before.toolFailures, step, isShared),
    ...(failingTools.length > 0 && { failingTools }),
  };
  const worst = worstError(step, counts, policy);
  return {
    ...counts,
    consecutiveFailures: worst ? failuresOf(worst, step, counts, policy) : 0,
    totalFailures: totalFailures + (failed.length > 0 ? 1 : 0),
  };
}

/** Reads the counts of a run. Earlier releases stored one count, which belongs to the type of the last step. */
export function countsIn(
  { consecutiveFailures, modelFailures, toolFailures, failingTools }: CountedExecution,
  lastType: StepView['type'] | undefined,
): Counts {
  const isModel = lastType === 'error';
  return {
    modelFailures: modelFailures ?? (isModel ? consecutiveFailures : 0),
    toolFailures: toolFailures ?? (isModel ? 0 : consecutiveFailures),
    ...(failingTools && { failingTools }),
  };
}

type CountedExecution = Pick<
  ExecutionView,
  'consecutiveFailures' | 'modelFailures' | 'toolFailures' | 'failingTools'
>;
type Counts = Pick<Failures, 'modelFailures' | 'toolFailures' | 'failingTools'>;

/** Whether the counts cannot be derived from one count and the last step, as earlier releases read them. */
export const needsCounts = ({ modelFailures, toolFailures, failingTools }: Counts): boolean =>
  failingTools !== undefined || (modelFailures > 0 && toolFailures > 0);

/** Returns the error of a step that is handled most strictly, the first of equals. */
export function worstError(
  step: Pick<StepView, 'type' | 'errors'>,
  counts: Counts,
  policy: ErrorPolicy,
): ErrorRecord | undefined {
  let [worst] = step.errors;
  for (const record of step.errors) {
    if (worst === undefined || record === worst) continue;
    const [a, b] = [record, worst].map((e) => contextOf(e, step, counts, 0, policy)) as [
      ErrorContext,
      ErrorContext,
    ];
    const [decided, before] = [policy.evaluate(a), policy.evaluate(b)];
    // of two stops, one that the policy demands comes before used retries
    const isStricter =
      decided === before
        ? stricter(policy.handlingOf(a), policy.handlingOf(b))
        : stricter(decided, before);
    if (isStricter) worst = record;
  }
  return worst;
}

/** Describes an error of a step for the policy. */
export function contextOf(
  record: ErrorRecord,
  step: Pick<StepView, 'type'>,
  counts: Counts,
  totalFailures: number,
  policy: ErrorPolicy,
): ErrorContext {
  const { type, message, toolName, retryable, code } = record;
  return {
    type,
    modelCall: failedAnswer(step),
    countedAs: countOf(step),
    consecutiveFailures: failuresOf(record, step, counts, policy),
    totalFailures,
    message,
    ...(toolName !== undefined && { toolName }),
    retryable,
    metadata: { code, ...untilIn(record) },
  };
}

/** Whether the step has no usable answer: the call failed, or the answer has the wrong format. */
const failedAnswer = ({ type }: Pick<StepView, 'type'>): boolean =>
  type === 'error' || type === 'final';

const countOf = ({ type }: Pick<StepView, 'type'>): 'model' | 'tool' =>
  type === 'error' ? 'model' : 'tool';

function failuresOf(
  record: ErrorRecord,
  step: Pick<StepView, 'type'>,
  { modelFailures, toolFailures, failingTools = [] }: Counts,
  policy: ErrorPolicy,
): number {
  if (step.type === 'error') return modelFailures;
  if (!hasOwnLimit(record, failedAnswer(step), policy)) return toolFailures;
  return failingTools.find(({ tool }) => tool === record.toolName)?.failures ?? 0;
}

const hasOwnLimit = (record: ErrorRecord, modelCall: boolean, policy: ErrorPolicy): boolean =>
  policy.ruleFor({ ...record, modelCall })?.maxRetries !== undefined;

function toolFailuresAfter(
  before: number,
  { type, errors }: CountedStep,
  isShared: boolean,
): number {
  if (type === 'error') return before;
  if (errors.length === 0) return 0;
  return isShared ? before + 1 : before;
}

function failingAfter(
  before: readonly ToolFailures[] = [],
  { toolCalls, results, errors }: CountedStep,
  own: readonly ErrorRecord[],
): readonly ToolFailures[] {
  if (before.length === 0 && own.length === 0) return before;
  const failed = new Set(own.map(({ toolName = '' }) => toolName));
  const isReset = (tool: string): boolean =>
    toolCalls.some(({ name }, i) => name === tool && results[i]?.kind === 'ok') &&
    !errors.some(({ toolName }) => toolName === tool);
  const kept = before.filter(({ tool }) => !failed.has(tool) && !isReset(tool));
  const more = Array.from(failed, (tool) => ({
    tool,
    failures: (before.find((one) => one.tool === tool)?.failures ?? 0) + 1,
  }));
  return [...kept, ...more];
}

/** Longest wait that is taken from a provider; a longer one is a provider error. */
const LONGEST_WAIT_MS = 366 * 86_400_000;

/** The time from which the provider accepts the next call, if it sent one. */
function untilIn({ at, retryAfterMs = 0 }: ErrorRecord): { readonly until?: string } {
  const until = msOf(at) + retryAfterMs;
  const isGiven = retryAfterMs > 0 && retryAfterMs <= LONGEST_WAIT_MS && Number.isFinite(until);
  return isGiven ? { until: isoTime(until) } : {};
}
