import { isNoFailure, type ErrorContext } from '../../errors/error-context.ts';
import { ErrorPolicy, type ErrorPolicyJSON } from '../../errors/error-policy.ts';
import type { ErrorHandlingDecision } from '../../errors/error-type.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { agentErrorContextResolver, type ErrorContextResolver } from '../error-context-resolver.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
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
      if (handling !== 'stop')
        return {
          criterion: name,
          decision: 'allow',
          reason: goesOn(error, handling, policy),
          context,
        };
      const spent = policy.handlingOf(error) === 'retry';
      return {
        criterion: name,
        decision: 'forbid',
        reason: `${what(error)}${error.message ? ` (${error.message})` : ''}, ${
          spent
            ? `tried again ${error.consecutiveFailures - 1} of ${policy.maxRetries} times`
            : error.modelCall && !error.retryable
              ? 'which trying again cannot mend'
              : `and the policy stops on ${words(error.type)} errors`
        }`,
        context,
        stopReason: spent ? StopReason.RetryLimitReached : StopReason.ErrorForbade,
        remedy: remedyFor(error, spent, configured),
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

const goesOn = (
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

function remedyFor(error: ErrorContext, spent: boolean, policy: ErrorPolicy): Remedy {
  const retries = spent ? Math.max(1, policy.maxRetries) : 1;
  const retryOnce = `mend the cause and resume(state, { grant: { retries: ${retries} } })`;
  const forGood = spent
    ? 'raise the count with withErrorPolicy(policy.withMaxRetries(...))'
    : error.modelCall && !error.retryable
      ? 'send a new message'
      : error.type === 'model' || error.type === 'unknown'
        ? 'let such errors be retried with withErrorPolicy(ErrorPolicy.retryAll()), or all but these with ErrorPolicy.retryToolErrors(3)'
        : 'let such errors be retried with withErrorPolicy(ErrorPolicy.retryToolErrors(3))';
  return {
    text: `${retryOnce}, or ${forGood}.`,
    option: 'withErrorPolicy(...)',
    grant: { retries },
  };
}
