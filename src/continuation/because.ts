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
import { DEFAULT_STOP } from './stop-reason.ts';

/** Why, for a person: a clause that goes after "because", and further sentences. */
export interface Because {
  readonly because: string;
  readonly detail: string;
}

const only = (because: string): Because => ({ because, detail: '' });

/** In the words of the facts. */
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
      return only('one of the rules of this assistant does not work');
    case 'hook':
      return only('a part of this assistant does not work');
    case 'runtime':
      return runtimeBecause(facts, evaluation);
    case 'pending':
    case 'custom':
      return customBecause(facts, evaluation);
  }
}

/** The words of the one who wrote the criterion; a reason made from its name says nothing to a person. */
function customBecause(facts: EvaluationFacts, evaluation: ContinuationEvaluation): Because {
  const { criterion, decision, reason } = evaluation;
  const isDone = decision === 'stop' || evaluation.stopReason === 'completed';
  const because = isDone
    ? 'this assistant has nothing more to do'
    : 'a rule of this assistant ended it';
  if (facts.kind === 'pending') return only('there is still work to do');
  const isMade = reason === ContinuationEvaluation.fromDecision(criterion, decision).reason;
  return isMade ? only(because) : { because, detail: said('The rule says', evaluation) };
}

const said = (lead: string, { reason }: ContinuationEvaluation): string =>
  `${lead}: ${sentence(clip(reason))}`;

const finishes: Readonly<Record<string, string>> = {
  length: 'the answer reached the length limit of the model',
  content_filter: 'the content filter of the model provider cut the answer',
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
  const often = tries === undefined ? '' : ` after ${counted(tries, 'try', 'tries')}`;
  return {
    because: `the work on this conversation failed again and again, and was given up${often}`,
    detail:
      error === undefined
        ? said('The error was', evaluation)
        : `The last error was: ${sentence(clip(error))}`,
  };
}

function limitBecause(
  facts: LimitFacts,
  evaluation: ContinuationEvaluation,
  all: readonly ContinuationEvaluation[],
): Because {
  const { unit, used, limit, until, toolName } = facts;
  // a limit forbids after an answer only where its last step was kept for that
  const landed = facts.landed === true || all.some((e) => factsOf(e).kind === 'answered');
  const amount = used ?? 0;
  if (unit === 'repeats')
    return only(`${toolName ?? 'a tool'} gave the same result ${timesText(amount)} in a row`);
  if (until !== undefined)
    return only(
      `the next try has to wait until ${timeText(until)}, which is longer than the limit of ${counted(limit, 'second')} allows`,
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

/** "It also used 2 of 2 steps." of a limit that is used up beside the one that decided. */
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

/** Who has used most of it, where agents behind calls have. */
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
  const lead = code === 'refusal' ? 'The model said' : 'The error was';
  const detail = message === undefined ? '' : `${lead}: ${sentence(clip(message))}`;
  const what = whatFailed(facts);
  if (modelCall && !retryable) return { because: what, detail };
  if (policy === 'retry') {
    const row = attempts > 1 ? `, ${timesText(attempts)} in a row,` : '';
    return { because: `${what}${row} and ${retriesText(maxRetries)}`, detail };
  }
  return {
    because: `${what}, and this assistant stops on ${typeText(facts)} errors`,
    detail,
  };
}

/** Whose fault it is, by the code of the error. */
const codes: Readonly<Record<string, string>> = {
  context_length: 'the conversation is too long for the model',
  auth: 'the model provider did not accept the API key of this assistant',
  quota: 'the account of this assistant at the model provider has no quota left',
  refusal: 'the model refused to answer',
  not_found: 'the model provider does not have the model of this assistant',
  invalid_request: 'the model provider rejected the request',
  rate_limit: 'the model provider limits how often it may be called',
  overloaded: 'the model provider is overloaded',
  server: 'the model provider failed',
  connection_failed: 'the model provider could not be reached',
  response_format_mismatch: 'the answer does not have the required format',
  hook_failed: 'a part of this assistant failed',
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
  return retries === 1 ? 'its only retry is used' : `all ${countText(retries)} retries are used`;
}

/** "2026-01-16 12:00:45 UTC" of an ISO time. */
export const timeText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

const MOST = 300;

/** One line, bounded: words of others may be a page. */
function clip(text: string): string {
  const line = text
    .slice(0, 4 * MOST)
    .split(/\s+/)
    .join(' ')
    .trim();
  return line.length > MOST ? `${line.slice(0, MOST - 1)}…` : line;
}
