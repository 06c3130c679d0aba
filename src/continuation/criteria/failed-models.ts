import type { ErrorContext } from '../../errors/error-context.ts';
import type { ErrorFacts } from '../facts.ts';
import { failureText, type ModelFailure } from '../model-failure.ts';
import type { StepView } from '../run-view.ts';

/** Returns the failures of all models, if a failed call left no model to continue with; else null. */
export function noModelLeft(step: StepView | null): readonly ModelFailure[] | null {
  if (step?.failedModels === undefined || step.fallback !== undefined) return null;
  const { model, failedModels } = step;
  return failedModels.some((one) => one.model === model) ? failedModels : null;
}

/** Returns the error of a run without a model left: a retry helps if it may help one of the models. */
export function errorOfAll(error: ErrorContext, models: readonly ModelFailure[]): ErrorContext {
  const retried = models.filter(({ retryable }) => retryable);
  if (retried.length === 0) return error;
  const waits = retried.map(({ until = '' }) => until).toSorted();
  const { until: _, ...metadata } = error.metadata;
  const [earliest] = waits;
  return {
    ...error,
    retryable: true,
    metadata: earliest ? { ...metadata, until: earliest } : metadata,
  };
}

/** The models of a failed call. */
export function modelFacts(
  step: StepView | null,
  models: readonly ModelFailure[] | null,
): Pick<ErrorFacts, 'model' | 'fallback' | 'failedModels' | 'message'> {
  if (step?.model === undefined || step.type !== 'error') return {};
  const { model, fallback, errors } = step;
  const [error] = errors;
  return {
    model,
    ...(fallback !== undefined && { fallback, message: error?.message ?? '' }),
    ...(models && { failedModels: models }),
  };
}

/** Returns "openai:gpt-5 was overloaded, continued with anthropic:claude"; null without a fallback. */
export function fallbackText(step: StepView | null): string | null {
  const failed = step?.failedModels?.find(({ model }) => model === step.model);
  if (failed === undefined || step?.fallback === undefined) return null;
  return `${failureText(failed)}, continued with ${step.fallback}`;
}

export const allFailedText = (models: readonly ModelFailure[]): string =>
  `all ${models.length} models failed: ${models.map(failureText).join('; ')}`;
