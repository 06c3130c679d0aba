import { systemClock, type Clock } from '../clock.ts';
import { AgentError, invalidOption, isWhole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { InferenceDriver } from './inference-driver.ts';
import { LimitQueue } from './limit-queue.ts';
import { limitedDriver, type TokenEstimate } from './limited-driver.ts';
import { driverOf, type ModelInput, type ModelRegistry } from './model-registry.ts';

/** Limits of the requests that this process sends. At least one of the first three is required. */
export interface ModelLimiterOptions {
  /** Most requests in any 60 seconds. */
  readonly requestsPerMinute?: number;
  /** Most tokens in any 60 seconds, input and output. A larger request goes alone. */
  readonly tokensPerMinute?: number;
  /** Most requests in flight. */
  readonly concurrency?: number;
  /** Estimates the tokens of a request before it is sent. Default: one per 4 characters, 1,000 per image or file. */
  readonly estimateTokens?: TokenEstimate;
  readonly clock?: Clock;
}

/** Limits the requests of all models that it wraps, together. */
export interface ModelLimiter {
  /** Returns the model with its requests limited. A model that it has wrapped before is the same one again. */
  wrap(model: ModelInput, options?: { readonly registry?: ModelRegistry }): InferenceDriver;
  /** Number of requests in flight. */
  readonly inFlight: number;
  /** Number of requests that wait for their turn. */
  readonly waiting: number;
}

/** Creates a limiter that agents of a process share: `createAgent({ model: limiter.wrap('openai:gpt-5') })`. */
export function modelLimiter(options: ModelLimiterOptions): ModelLimiter {
  const given: unknown = options;
  if (!isRecord(given)) throw invalidOption('modelLimiter()', options, 'an object with limits');
  const {
    requestsPerMinute: requests,
    tokensPerMinute: tokens,
    concurrency,
    estimateTokens: estimate = estimateTokens,
    clock = systemClock,
  } = options;
  for (const [name, value] of Object.entries({
    requestsPerMinute: requests,
    tokensPerMinute: tokens,
    concurrency,
  }))
    if (value !== undefined && !(isWhole(value) && value > 0))
      throw invalidOption(name, value, 'a whole number above 0');
  if (requests === undefined && tokens === undefined && concurrency === undefined)
    throw new AgentError(
      'invalid_option',
      'modelLimiter() got no limit. Set requestsPerMinute, tokensPerMinute or concurrency.',
    );
  if (typeof estimate !== 'function')
    throw invalidOption('estimateTokens', estimate, 'a function of the request');
  const limits = {
    requests: requests ?? Infinity,
    tokens: tokens ?? Infinity,
    concurrency: concurrency ?? Infinity,
  };
  const queue = new LimitQueue(limits, clock);
  // without a limit of tokens the estimate has no use
  const count: TokenEstimate =
    tokens === undefined ? () => 0 : (request) => checked(estimate(request));
  const wrapped = new WeakMap<InferenceDriver, InferenceDriver>();
  return {
    wrap(model, { registry } = {}): InferenceDriver {
      const driver = driverOf(model, registry);
      const known = wrapped.get(driver);
      if (known) return known;
      const limited = limitedDriver(driver, queue, count);
      wrapped.set(driver, limited);
      // wrapped twice, a call would wait for itself
      wrapped.set(limited, limited);
      return limited;
    },
    get inFlight() {
      return queue.inFlight;
    },
    get waiting() {
      return queue.waiting;
    },
  };
}

function checked(tokens: number): number {
  if (Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw invalidOption('estimateTokens()', tokens, 'a finite number of tokens, 0 or more');
}
