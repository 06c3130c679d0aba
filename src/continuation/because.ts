import { countText, exactMoneyText, counted, secondsText, timesText } from '../number-text.ts';
import { isRecord, own } from '../json.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import { ContinuationEvaluation } from './evaluation.ts';
import type {
  ErrorFacts,
  EvaluationFacts,
  LimitFacts,
  RuntimeFacts,
  StopRequestFacts,
} from './facts.ts';
import { factsOf } from './facts-of.ts';
import { spentBy, type Spender } from './family-share.ts';
import { guardBecause } from './guard-because.ts';
import { failureText } from './model-failure.ts';
import { DEFAULT_STOP } from './stop-reason.ts';
import { timeText } from './time-text.ts';

/** The reason for a user: a clause that follows "because", and further sentences. */
export interface Because {
  readonly because: string;
  readonly detail: string;
}

const only = (because: string): Because => ({ because, detail: '' });

/** Writes the reason from the facts of an evaluation. */
export function becauseOf(
  evaluation: ContinuationEvaluation,
  all: readonly ContinuationEvaluation[],
): Because {
  const facts = factsOf(evaluation);
  switch (facts.kind) {
    case 'limit':
      return limitBecause(facts, evaluation, all);
    case 'error':
      return errorBecause(facts);
    case 'finish':
      return only(
        own(finishes, facts.finishReason) ??
          `the answer ended in a way that this assistant stops on (${facts.finishReason})`,
      );
    case 'stop_request':
      return stopBecause(facts);
    case 'answered':
      return only('the model answered and called no more tools');
    case 'tool_called':
      return only(`${facts.toolName} has run`);
    case 'broken':
      return only("one of this assistant's rules does not work");
    case 'hook':
      return only('part of this assistant does not work');
    case 'guard':
      return guardBecause(facts);
    case 'runtime':
      return runtimeBecause(facts, evaluation);
    case 'pending':
    case 'custom':
      return customBecause(facts, evaluation);
  }
}

/** Quotes the reason that a custom criterion gave. A generated reason only repeats its name, so users do not see it. */
function customBecause(facts: EvaluationFacts, evaluation: ContinuationEvaluation): Because {
  const { criterion, decision, reason } = evaluation;
  const isDone = decision === 'stop' || evaluation.stopReason === 'completed';
  const because = isDone
    ? 'this assistant has nothing more to do'
    : "one of this assistant's rules ended it";
  if (facts.kind === 'pending') return only('there is still work to do');
  const isMade = reason === ContinuationEvaluation.fromDecision(criterion, decision).reason;
  return isMade ? only(because) : { because, detail: said('The rule says', evaluation) };
}

const said = (lead: string, { reason }: ContinuationEvaluation): string =>
  `${lead}: ${sentence(clip(reason))}`;

const finishes: Readonly<Record<string, string>> = {
  length: "the answer reached the model's length limit",
  content_filter: "the model provider's content filter blocked the answer",
};

function stopBecause({ source, toolName, reason }: StopRequestFacts): Because {
  const why = withoutFullStop(clip(reason));
  if (source === 'deadline') return only('the run that started it was out of time');
  if (source === 'tool') return only(`${toolName ?? 'a tool'} asked to stop: ${why}`);
  return only(why === DEFAULT_STOP ? why : `a stop was requested: ${why}`);
}

function runtimeBecause(
  { what, tries, error }: RuntimeFacts,
  evaluation: ContinuationEvaluation,
): Because {
  if (what === 'shortened')
    return only('this conversation was stored without what it needs to continue here');
  if (what === 'failed')
    return {
      because: 'the work on this conversation failed',
      detail: said('The error was', evaluation),
    };
  const often =
    tries === undefined ? 'repeated failures' : counted(tries, 'failed try', 'failed tries');
  // earlier releases kept the error in the reason only
  const old = tries === undefined ? said('The error was', evaluation) : '';
  const lastError = error === undefined ? old : `The last error was: ${sentence(clip(error))}`;
  return {
    because: `the work on this conversation was given up after ${often}`,
    detail: lastError,
  };
}

function limitBecause(
  facts: LimitFacts,
  evaluation: ContinuationEvaluation,
  all: readonly ContinuationEvaluation[],
): Because {
  const { unit, used, limit, until, toolName } = facts;
  // a limit forbids after an answer only if it reserved its last step for that answer
  const landed = facts.landed === true || all.some((e) => factsOf(e).kind === 'answered');
  const amount = used ?? 0;
  if (unit === 'repeats')
    return only(`${toolName ?? 'a tool'} gave the same result ${timesText(amount)} in a row`);
  if (until !== undefined)
    return only(
      `the next try cannot begin before ${timeText(until)}, and the limit of ${counted(limit, 'second')} ends first`,
    );
  const parts = spentBy(
    spendersIn(evaluation),
    amounts[unit],
    unit === 'cost' ? 'of it' : 'of them',
  );
  const before = unit === 'steps' && !landed ? unreadWork(all) : '';
  return {
    because: `${subjectOf(facts)} ${usedText(facts)}${parts}${parts && before ? ',' : ''}${before}`,
    detail: landed ? 'It answered with what it had.' : '',
  };
}

const amounts: Readonly<Record<LimitFacts['unit'], (value: number) => string>> = {
  steps: countText,
  tokens: countText,
  repeats: countText,
  cost: exactMoneyText,
  seconds: secondsText,
};

/** Describes a used-up limit that did not decide: "It also used 2 of 2 steps." */
export function alsoText(facts: LimitFacts): string {
  const subject = subjectOf(facts);
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)} also ${usedText(facts)}.`;
}

/** "used 5 of 5 steps (2 + 3 granted)", "spent $0.06 of $0.05". */
function usedText({ unit, used, base, granted, limit, counts }: LimitFacts): string {
  const show = amounts[unit];
  const verb = unit === 'cost' ? 'spent' : unit === 'seconds' ? 'worked for' : 'used';
  const of = `${verb} ${show(used ?? 0)} of ${show(limit)}`;
  const what = counts ?? (limit === 1 ? unit.slice(0, -1) : unit);
  const more = granted > 0 && base + granted === limit;
  return `${of}${unit === 'cost' ? '' : ` ${what}`}${more ? ` (${show(base)} + ${show(granted)} granted)` : ''}`;
}

function subjectOf({ scope, agent }: LimitFacts): string {
  if (scope === 'session') return 'this conversation';
  if (scope !== 'family') return 'it';
  return agent === undefined ? 'it and its agents' : `${agent} and its agents`;
}

/** The nested agents that used the most, as stored in the evaluation's context. */
function spendersIn({ context }: ContinuationEvaluation): readonly Spender[] {
  const spenders: unknown = isRecord(context) ? context['spenders'] : null;
  if (!Array.isArray(spenders)) return [];
  return spenders.filter(
    (spender: unknown): spender is Spender =>
      isRecord(spender) &&
      typeof spender['agent'] === 'string' &&
      typeof spender['amount'] === 'number',
  );
}

function unreadWork(all: readonly ContinuationEvaluation[]): string {
  for (const evaluation of all) {
    const facts = factsOf(evaluation);
    if (facts.kind !== 'pending' || facts.what !== 'tools') continue;
    return facts.tools === 1
      ? ' before the model read a tool result'
      : ` before the model read ${countText(facts.tools)} tool results`;
  }
  return ' before it was done';
}

function errorBecause(facts: ErrorFacts): Because {
  const { message, code, attempts, maxRetries, policy, retryable, modelCall } = facts;
  if (facts.failedModels && facts.failedModels.length > 1)
    return {
      because: `all ${countText(facts.failedModels.length)} of its models failed`,
      detail: `The failures were: ${sentence(facts.failedModels.map(failureText).join('; '))}`,
    };
  const lead = code === 'refusal' ? 'The model said' : 'The error was';
  const detail = message === undefined ? '' : `${lead}: ${sentence(clip(message))}`;
  const what = whatFailed(facts);
  if (modelCall && !retryable) return { because: what, detail };
  if (policy === 'retry') {
    const row = attempts > 1 && code !== 'effect_unknown' ? ` ${timesText(attempts)} in a row` : '';
    return { because: `${what}${row}, and ${retriesText(maxRetries)}`, detail };
  }
  const stops = facts.byTool
    ? `this assistant stops if ${facts.toolName ?? 'this tool'} fails`
    : `this assistant stops on ${typeText(facts)} errors`;
  return { because: `${what}, and ${stops}`, detail };
}

/** The cause for a user, by error code. */
const codes: Readonly<Record<string, string>> = {
  context_length: 'the conversation is too long for the model',
  auth: "the model provider rejected this assistant's API key",
  quota: "this assistant's account at the model provider has no quota left",
  refusal: 'the model refused to answer',
  content_filter: "the model provider's content filter blocked the request",
  not_found: "the model provider does not have this assistant's model",
  invalid_request: 'the model provider rejected the request',
  rate_limit: 'the model provider received too many requests',
  overloaded: 'the model provider was overloaded',
  server: 'the model provider had a server error',
  connection_failed: 'the model provider could not be reached',
  response_format_mismatch: 'the answer did not have the required format',
  hook_failed: 'part of this assistant failed',
  prepare_failed: 'part of this assistant failed',
};

function whatFailed({ code, toolName, errorType, modelCall }: ErrorFacts): string {
  if (toolName !== undefined) {
    if (code === 'effect_unknown') return `it is unknown whether ${toolName} took effect`;
    return code === 'tool_timeout' || errorType === 'timeout'
      ? `${toolName} did not finish in time`
      : `${toolName} failed`;
  }
  const known = own(codes, code);
  if (known !== undefined) return known;
  if (!modelCall) return 'a tool failed';
  return errorType === 'timeout'
    ? 'the model provider did not answer in time'
    : 'the model call failed';
}

const typeText = ({ errorType }: ErrorFacts): string =>
  errorType === 'rate_limit' ? 'rate limit' : errorType;

function retriesText(retries: number): string {
  if (retries === 0) return 'no retries are allowed';
  if (retries === 1) return 'its only retry is used';
  return retries === 2 ? 'both retries are used' : `all ${countText(retries)} retries are used`;
}

const MOST = 300;

/** Shortens text from a tool, a provider or a criterion to one line of at most 300 characters. */
function clip(text: string): string {
  const line = text
    .slice(0, 4 * MOST)
    .split(/\s+/)
    .join(' ')
    .trim();
  return line.length > MOST ? `${line.slice(0, MOST - 1)}…` : line;
}
