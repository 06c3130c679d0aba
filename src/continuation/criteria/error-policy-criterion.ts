import { grantRemedy } from '../grant-remedy.ts';
import { isNoFailure, type ErrorContext } from '../../errors/error-context.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../../errors/error-policy.ts';
import { own } from '../../json.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { agentErrorContextResolver, type ErrorContextResolver } from '../error-context-resolver.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
import type { ErrorFacts } from '../facts.ts';
import { stepToJudge, type RunView } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';
import {
  allFailedText,
  errorOfAll,
  fallbackText,
  modelFacts,
  noModelLeft,
} from './failed-models.ts';

const name = 'ErrorPolicyCriterion';

/** Writes an option as the caller would: `errorPolicy: ErrorPolicy.production()`. Without a value, only the option. */
export type WriteOption = (option: 'errorPolicy' | 'model', value?: string) => string;

const byHand: WriteOption = (option, value = '...') =>
  option === 'model' ? option : `errorPolicyCriterion(${value})`;

/** Applies the error policy to the newest failure. No other built-in criterion handles errors. */
export function errorPolicyCriterion<S extends RunView = RunView>(
  policyOrJson: ErrorPolicy | ErrorPolicyJSON,
  resolver: ErrorContextResolver<S> = agentErrorContextResolver,
  writeOption: WriteOption = byHand,
): ContinuationCriterion<S> {
  const configured = ErrorPolicy.from(policyOrJson);
  let clean: ReturnType<typeof noError> | null = null;
  return {
    name,
    evaluate(state, { grants }): ContinuationEvaluation {
      const policy = grants.retries ? configured.withMoreRetries(grants.retries) : configured;
      const newest = resolver.resolve(state, policy);
      const step = stepToJudge(state);
      if (isNoFailure(newest) && !step?.compacts)
        return clean?.policy === policy && clean.total === newest.totalFailures
          ? clean.evaluation
          : (clean = noError(newest, policy)).evaluation;
      const fallback = step?.compacts ? SHORTER : fallbackText(step);
      const handling = isSettled(state)
        ? 'retry'
        : fallback === null
          ? policy.evaluate(newest)
          : step?.compacts
            ? 'compact'
            : 'fallback';
      const models = handling === 'stop' ? noModelLeft(step) : null;
      const error = models ? errorOfAll(newest, models) : newest;
      const context = numbers(error, handling, policy);
      const facts = { ...factsFor(error, handling, policy), ...modelFacts(step, models) };
      if (handling !== 'stop')
        return {
          criterion: name,
          decision: 'allow',
          reason: fallback ?? reasonToContinue(error, handling, policy),
          context,
          facts,
        };
      const spent = policy.handlingOf(newest) === 'retry';
      const { toolName, message } = error;
      return {
        criterion: name,
        decision: 'forbid',
        reason: models
          ? allFailedText(models)
          : `${what(error)}${message ? ` (${message})` : ''}, ${
              spent
                ? `tried again ${error.consecutiveFailures - 1} of ${policy.retriesFor(error)} times`
                : error.modelCall && !error.retryable
                  ? 'which is not retryable'
                  : policy.ruleFor(error)
                    ? `and onError of ${toolName} is stop`
                    : `and the policy stops on ${words(error.type)} errors`
            }`,
        context,
        stopReason: spent ? StopReason.RetryLimitReached : StopReason.ErrorForbade,
        remedy: remedyFor(state, error, spent, configured, writeOption),
        facts: message === undefined ? facts : { ...facts, message },
      };
    },
  };
}

/** Whether a grant reopened the execution: its last step is then retried, even if a resolver reports an error. */
const isSettled = (state: RunView): boolean =>
  state.execution.handledStep > 0 && stepToJudge(state) === null;

type Handling = ErrorFacts['handling'];

/** The evaluation of a step without an error. Reused while its numbers stay the same, because most steps need it. */
const noError = (error: ErrorContext, policy: ErrorPolicy) => ({
  policy,
  total: error.totalFailures,
  evaluation: Object.freeze<ContinuationEvaluation>({
    criterion: name,
    decision: 'allow',
    reason: 'no error',
    context: numbers(error, null, policy),
  }),
});

/** Why a run continues after a request that was too long. */
const SHORTER = 'the conversation was too long for the model, continued with a shorter request';

const words = (type: string): string => type.replace('_', ' ');

const what = ({ type, toolName }: ErrorContext): string =>
  `${words(type)} error${toolName ? ` in ${toolName}` : ''}`;

const reasonToContinue = (error: ErrorContext, handling: Handling, policy: ErrorPolicy): string =>
  handling === 'ignore'
    ? `${what(error)}, ignored`
    : `${what(error)}, retrying (${error.consecutiveFailures}/${policy.retriesFor(error)})`;

const numbers = (error: ErrorContext, handling: Handling | null, policy: ErrorPolicy) => ({
  errorType: handling === null ? null : error.type,
  handling,
  consecutiveFailures: error.consecutiveFailures,
  totalFailures: error.totalFailures,
  maxRetries: policy.retriesFor(error),
  toolName: error.toolName ?? null,
});

const factsFor = (error: ErrorContext, handling: Handling, policy: ErrorPolicy): ErrorFacts => {
  const { type, modelCall, toolName, consecutiveFailures, retryable, metadata } = error;
  const { code, until } = metadata;
  return {
    kind: 'error',
    errorType: type,
    code: typeof code === 'string' ? code : '',
    modelCall,
    ...(toolName !== undefined && { toolName }),
    attempts: consecutiveFailures,
    maxRetries: policy.retriesFor(error),
    retryable,
    handling,
    // as if it were retryable: the retry of an error that is not is a separate fact
    policy: policy.handlingOf({ ...error, retryable: true }),
    ...(policy.ruleFor(error) && { byTool: true as const }),
    ...(typeof until === 'string' && { until }),
  };
};

function remedyFor(
  state: RunView,
  error: ErrorContext,
  spent: boolean,
  policy: ErrorPolicy,
  write: WriteOption,
): Remedy {
  const retries = spent ? Math.max(1, policy.retriesFor(error)) : 1;
  const other = otherText(error, spent, policy, write);
  const before = causeText(error, write);
  const ways = other === '' ? [] : [other];
  return grantRemedy(state, { retries }, { before, ways, option: write('errorPolicy') });
}

/** What to change before a retry can succeed, by error code. */
const causes: Readonly<Record<string, string>> = {
  auth: 'set a valid API key, then ',
  quota: 'raise the quota at the model provider, then ',
  context_length: 'start a new session, or shorten the messages and ',
  refusal: 'rephrase the request in a new message, or ',
  content_filter: 'change the request in a new message, or ',
};

function causeText(
  { metadata: { code, until }, modelCall, retryable }: ErrorContext,
  write: WriteOption,
): string {
  // waiting is enough
  if (until !== undefined && (retryable || code === 'quota')) return '';
  if (!modelCall || retryable || typeof code !== 'string') return 'fix the cause, then ';
  if (code === 'not_found') return `change ${write('model')} to a model that exists, then `;
  return own(causes, code) ?? 'fix the cause, then ';
}

function otherText(
  error: ErrorContext,
  spent: boolean,
  policy: ErrorPolicy,
  write: WriteOption,
): string {
  const { type, toolName, modelCall, retryable, metadata } = error;
  const rule = policy.ruleFor(error);
  if (spent && rule?.maxRetries !== undefined) return `raise maxRetries of the tool ${toolName}`;
  if (spent) return `raise the count with ${write('errorPolicy', 'policy.withMaxRetries(...)')}`;
  if (rule) return `change onError of the tool ${toolName}`;
  if (modelCall && !retryable)
    return metadata['code'] === 'quota' && metadata['until'] !== undefined
      ? 'raise the quota at the model provider first'
      : '';
  // the preset for production stops on unknown errors too
  const preset = type === 'unknown' ? 'retryAll' : 'production';
  return `retry these errors with ${write('errorPolicy', `ErrorPolicy.${preset}()`)}`;
}
