import { AgentBuilder, type AgentEvent, type AgentState, type InferenceDriver } from 'onward';
import { DeterministicDriver, ScenarioStep, type Clock } from 'onward/testing';

const names = ['openai:gpt-5', 'anthropic:claude', 'google:gemini'] as const;

/** Failures that a provider may report, by code. */
export const failures = {
  overloaded: { type: 'rate_limit', code: 'overloaded', message: 'Overloaded' },
  longOverload: {
    type: 'rate_limit',
    code: 'overloaded',
    message: 'Overloaded',
    retryAfterMs: 300_000,
  },
  server: { type: 'model', code: 'server', message: 'Internal error' },
  quota: { type: 'rate_limit', code: 'quota', message: 'No credits', retryable: false },
  notFound: { type: 'model', code: 'not_found', message: 'No such model', retryable: false },
  refusal: { type: 'model', code: 'refusal', message: 'I will not', retryable: false },
  contentFilter: { type: 'model', code: 'content_filter', message: 'Filtered', retryable: false },
  badRequest: { type: 'model', code: 'invalid_request', message: 'Bad field', retryable: false },
  contextLength: { type: 'model', code: 'context_length', message: 'Too long', retryable: false },
} as const;

export type Failure = keyof typeof failures;

export const fails = (
  failure: Failure,
  extras: { readonly chunks?: readonly string[] } = {},
): ScenarioStep => ScenarioStep.error(failures[failure], extras);

/** Creates scripted models, one per script, with the names of real ones. */
export const scripted = (
  scripts: readonly (readonly (ScenarioStep | string)[])[],
  clock?: Clock,
): DeterministicDriver[] =>
  scripts.map((script, i) =>
    DeterministicDriver.create(
      script.map((step) => (typeof step === 'string' ? ScenarioStep.final(step) : step)),
      { name: names[i] ?? `model-${i}`, ...(clock && { clock }) },
    ),
  );

/** Returns a builder with these models: the first, and its fallback. */
export function withModels(
  models: readonly InferenceDriver[],
): AgentBuilder<{}, string, 'agent', never> {
  const [first, ...others] = models;
  if (!first) throw new Error('A test needs a model.');
  return AgentBuilder.base()
    .withModel(first)
    .withFallback(...others);
}

/** The steps in short: `error openai:gpt-5 -> anthropic:claude`. */
export const story = (state: AgentState): string[] =>
  state.steps
    .toJSON()
    .map(({ type, model, fallback }) => `${type} ${model}${fallback ? ` -> ${fallback}` : ''}`);

export const requestsOf = (models: readonly DeterministicDriver[]): number[] =>
  models.map(({ requests }) => requests.length);

/** Keeps what a reader sees: chunks, taken back when they are discarded. */
export function reader(): {
  readonly wiretap: (event: AgentEvent) => void;
  readonly events: AgentEvent[];
  readonly text: () => string;
} {
  const events: AgentEvent[] = [];
  let text = '';
  return {
    events,
    text: () => text,
    wiretap: (event) => {
      events.push(event);
      if (event.type === 'StreamChunk') text += event.content;
      if (event.type === 'StreamDiscarded') text = '';
    },
  };
}
