import { isNoFailure, type ErrorContext } from '../../errors/error-context.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../../errors/error-policy.ts';
import type { ErrorHandlingDecision } from '../../errors/error-type.ts';
import { own } from '../../json.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { agentErrorContextResolver, type ErrorContextResolver } from '../error-context-resolver.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
import type { ErrorFacts } from '../facts.ts';
import { stepToJudge, type RunView } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'ErrorPolicyCriterion';

/** The one guard against errors: what the policy says about the newest failure. */
export function errorPolicyCriterion<S extends RunView = RunView>(
  policyOrJson: ErrorPolicy | ErrorPolicyJSON,
  resolver: ErrorContextResolver<S> = agentErrorContextResolver,
): ContinuationCriterion<S> {
  const configured = ErrorPolicy.from(policyOrJson);
  let clean: ReturnType<typeof noError> | null = null;
  return {
    name,
    evaluate(state, { grants }): ContinuationEvaluation {
      const policy = grants.retries
        ? configured.withMaxRetries(configured.maxRetries + Math.floor(grants.retries))
        : configured;
      const error = resolver.resolve(state, policy);
      if (isNoFailure(error))
        return clean?.policy === policy && clean.total === error.totalFailures
          ? clean.evaluation
          : (clean = noError(error, policy)).evaluation;
      const handling = isSettled(state) ? 'retry' : policy.evaluate(error);
      const context = numbers(error, handling, policy);
      const facts = factsFor(error, handling, policy);
      if (handling !== 'stop')
        return {
          criterion: name,
          decision: 'allow',
          reason: reasonToContinue(error, handling, policy),
          context,
          facts,
        };
      const spent = policy.handlingOf(error) === 'retry';
      return {
        criterion: name,
        decision: 'forbid',
        reason: `${what(error)}${error.message ? ` (${error.message})` : ''}, ${
          spent
            ? `tried again ${error.consecutiveFailures - 1} of ${policy.maxRetries} times`
            : error.modelCall && !error.retryable
              ? 'which is not retryable'
              : `and the policy stops on ${words(error.type)} errors`
        }`,
        context,
        stopReason: spent ? StopReason.RetryLimitReached : StopReason.ErrorForbade,
        remedy: remedyFor(error, spent, configured),
        facts: error.message === undefined ? facts : { ...facts, message: error.message },
      };
    },
  };
}

/** A grant reopened the execution: whatever a resolver makes of the step that ended it, it is tried again. */
const isSettled = (state: RunView): boolean =>
  state.execution.handledStep > 0 && stepToJudge(state) === null;

/** The answer for most steps, made once for as long as its numbers stay. */
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

const words = (type: string): string => type.replace('_', ' ');

const what = ({ type, toolName }: ErrorContext): string =>
  `${words(type)} error${toolName ? ` in ${toolName}` : ''}`;

const reasonToContinue = (
  error: ErrorContext,
  handling: ErrorHandlingDecision,
  policy: ErrorPolicy,
): string =>
  handling === 'ignore'
    ? `${what(error)}, ignored`
    : `${what(error)}, retrying (${error.consecutiveFailures}/${policy.maxRetries})`;

const numbers = (
  error: ErrorContext,
  handling: ErrorHandlingDecision | null,
  { maxRetries }: ErrorPolicy,
) => ({
  errorType: handling === null ? null : error.type,
  handling,
  consecutiveFailures: error.consecutiveFailures,
  totalFailures: error.totalFailures,
  maxRetries,
  toolName: error.toolName ?? null,
});

const factsFor = (
  error: ErrorContext,
  handling: ErrorHandlingDecision,
  { maxRetries, on }: ErrorPolicy,
): ErrorFacts => {
  const { type, modelCall, toolName, consecutiveFailures, retryable, metadata } = error;
  const { code } = metadata;
  return {
    kind: 'error',
    errorType: type,
    code: typeof code === 'string' ? code : '',
    modelCall,
    ...(toolName !== undefined && { toolName }),
    attempts: consecutiveFailures,
    maxRetries,
    retryable,
    handling,
    policy: on[type],
  };
};

function remedyFor(error: ErrorContext, spent: boolean, policy: ErrorPolicy): Remedy {
  const retries = spent ? Math.max(1, policy.maxRetries) : 1;
  return {
    text: `${causeText(error)}call resume(state, { grant: { retries: ${retries} } })${otherText(error, spent)}.`,
    option: 'withErrorPolicy(...)',
    grant: { retries },
  };
}

/** What to change before the same request can have another end. */
const causes: Readonly<Record<string, string>> = {
  auth: 'set a valid API key, then ',
  quota: 'raise the quota at the model provider, then ',
  context_length: 'start a new session, or shorten the messages and ',
  not_found: 'choose a model that exists with withModel(...), then ',
  refusal: 'send a new message in other words, or ',
};

const causeText = ({ metadata: { code }, modelCall, retryable }: ErrorContext): string =>
  (modelCall && !retryable && typeof code === 'string' ? own(causes, code) : undefined) ??
  'fix the cause, then ';

function otherText({ type, modelCall, retryable }: ErrorContext, spent: boolean): string {
  if (spent) return ', or raise the count with withErrorPolicy(policy.withMaxRetries(...))';
  if (modelCall && !retryable) return '';
  return type === 'model' || type === 'unknown'
    ? ', or retry these errors with withErrorPolicy(ErrorPolicy.retryAll())'
    : ', or retry these errors with withErrorPolicy(ErrorPolicy.retryToolErrors(3))';
}
