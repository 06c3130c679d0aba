import { isRecord } from '../json.ts';
import { invalidOption } from './agent-error.ts';
import { isNoFailure, type ErrorContext } from './error-context.ts';
import { ErrorHandlingDecision, errorTypes, type ErrorType } from './error-type.ts';
import {
  checkedRetries,
  mergedRetries,
  moreRetries,
  retriesIn,
  type MaxRetries,
  type RetryLimits,
  type ToolErrorRule,
} from './retry-limits.ts';

export interface Backoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Random share of the wait, 0 to 1: 0.5 waits between half and all of it. */
  readonly jitter: number;
}

export interface ErrorPolicyJSON {
  readonly on: Readonly<Record<ErrorType, ErrorHandlingDecision>>;
  /** Retries after the first failure: one number, or one for model calls and one for answered steps with errors. */
  readonly maxRetries: MaxRetries;
  readonly backoff: Backoff;
}

/** The parts of a failure that decide how it is handled. */
export type HandledFailure = Pick<ErrorContext, 'type' | 'modelCall' | 'retryable'> &
  Partial<Pick<ErrorContext, 'toolName' | 'countedAs'>>;

const { Stop, Retry, Ignore } = ErrorHandlingDecision;
const defaultBackoff: Backoff = Object.freeze({
  initialMs: 500,
  factor: 2,
  maxMs: 30_000,
  jitter: 0.5,
});
const strictness: readonly ErrorHandlingDecision[] = [Stop, Retry, Ignore];

/** Decides what to do about each kind of failure, and how often work is retried after its first failure. */
export class ErrorPolicy implements ErrorPolicyJSON {
  readonly on: Readonly<Record<ErrorType, ErrorHandlingDecision>>;
  readonly maxRetries: MaxRetries;
  readonly backoff: Backoff;
  /** Rules of tools, by name. They belong to the tools, so the JSON omits them. */
  readonly #tools: ReadonlyMap<string, ToolErrorRule>;

  private constructor(
    { on, maxRetries, backoff }: ErrorPolicyJSON,
    tools: ReadonlyMap<string, ToolErrorRule> = noRules,
  ) {
    this.on = Object.freeze(checkedHandling(on));
    this.maxRetries = checkedRetries('ErrorPolicy.maxRetries', maxRetries);
    this.backoff = Object.freeze(checkedBackoff(backoff));
    this.#tools = tools;
    Object.freeze(this);
  }

  static from(json: Partial<ErrorPolicyJSON>): ErrorPolicy {
    if (json instanceof ErrorPolicy) return json;
    if (!isRecord(json))
      throw invalidOption('ErrorPolicy.from', json, 'a policy such as ErrorPolicy.production()');
    return new ErrorPolicy({
      on: { ...everything(Stop), ...json.on },
      maxRetries: mergedRetries(0, json.maxRetries ?? 0),
      backoff: { ...defaultBackoff, ...json.backoff },
    });
  }

  /**
   * Retries every error except those of type `unknown`: 4 times for a failed model call, 5 times for answered steps
   * with errors. Model errors that are not retryable still stop.
   */
  static production(): ErrorPolicy {
    return preset({ ...everything(Retry), unknown: Stop }, { model: 4, tool: 5 });
  }
  static stopOnAnyError(): ErrorPolicy {
    return preset(everything(Stop), 0);
  }
  static retryToolErrors(maxRetries: number = 3): ErrorPolicy {
    return preset({ ...everything(Retry), model: Stop, unknown: Stop }, maxRetries);
  }
  static ignoreToolErrors(): ErrorPolicy {
    const on = { ...everything(Stop), tool: Ignore, validation: Ignore };
    return preset({ ...on, rate_limit: Retry, timeout: Retry }, 3);
  }
  static retryAll(maxRetries: number = 5): ErrorPolicy {
    return preset(everything(Retry), maxRetries);
  }

  /**
   * Returns the decision. A `retry` becomes `stop` after {@link retriesFor} retries in a row. Without a failure the
   * decision is `ignore`.
   */
  evaluate(context: ErrorContext): ErrorHandlingDecision {
    if (isNoFailure(context)) return Ignore;
    const handling = this.handlingOf(context);
    const spent = context.consecutiveFailures > this.retriesFor(context);
    return handling === Retry && spent ? Stop : handling;
  }

  /**
   * Returns the decision before counting. A failed model call cannot be ignored: there is no answer to continue with.
   */
  handlingOf(failure: HandledFailure): ErrorHandlingDecision {
    const handling = this.ruleFor(failure)?.onError ?? this.on[failure.type];
    if (!failure.modelCall) return handling;
    if (!failure.retryable) return Stop;
    return handling === Ignore ? Retry : handling;
  }

  /** Returns the retries allowed for a failure: those of its tool, else those of the policy. */
  retriesFor(failure: HandledFailure): number {
    const { countedAs = failure.modelCall ? 'model' : 'tool' } = failure;
    return this.ruleFor(failure)?.maxRetries ?? retriesIn(this.maxRetries, countedAs);
  }

  /**
   * Returns the rule of the failed tool; undefined if the policy applies. Only the policy may continue after a call
   * whose effect is unknown, because a repeated call may act twice.
   */
  ruleFor({ toolName, modelCall, type }: HandledFailure): ToolErrorRule | undefined {
    if (modelCall || toolName === undefined) return undefined;
    const rule = this.#tools.get(toolName);
    return type === 'unknown' && rule?.onError !== Stop ? undefined : rule;
  }

  /** Returns the policy with the rules of these tools, which apply first. */
  forTools(tools: Iterable<ToolErrorRule & { readonly name: string }>): ErrorPolicy {
    const rules = new Map<string, ToolErrorRule>();
    for (const { name, onError, maxRetries } of tools) {
      if (onError === undefined && maxRetries === undefined) continue;
      const handling = onError ?? Retry;
      rules.set(
        name,
        maxRetries === undefined ? { onError: handling } : { onError: handling, maxRetries },
      );
    }
    return rules.size === 0 && this.#tools.size === 0
      ? this
      : new ErrorPolicy(this.toJSON(), rules);
  }

  /** Returns the policy with more retries everywhere, as a grant gives them. */
  withMoreRetries(retries: number): ErrorPolicy {
    const more = Math.floor(retries);
    if (more === 0) return this;
    const rules = Array.from(this.#tools, ([name, rule]) => {
      const { maxRetries } = rule;
      return [
        name,
        maxRetries === undefined ? rule : { ...rule, maxRetries: maxRetries + more },
      ] as const;
    });
    const maxRetries = moreRetries(this.maxRetries, more);
    return new ErrorPolicy({ ...this.toJSON(), maxRetries }, new Map(rules));
  }

  /** Sets the retries: one number for all, or `model` and `tool` apart. The one that you omit stays. */
  withMaxRetries(maxRetries: number | Partial<RetryLimits>): ErrorPolicy {
    return this.#with({ maxRetries: mergedRetries(this.maxRetries, maxRetries) });
  }
  withHandling(type: ErrorType, decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#with({ on: { ...this.on, [type]: decision } });
  }
  withToolErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.withHandling('tool', decision);
  }
  withBackoff(backoff: Partial<Backoff>): ErrorPolicy {
    return this.#with({ backoff: { ...this.backoff, ...backoff } });
  }

  #with(change: Partial<ErrorPolicyJSON>): ErrorPolicy {
    return new ErrorPolicy({ ...this.toJSON(), ...change }, this.#tools);
  }

  toJSON(): ErrorPolicyJSON {
    return { on: this.on, maxRetries: this.maxRetries, backoff: this.backoff };
  }
}

/** Whether decision `a` is stricter than `b`: stop, then retry, then ignore. */
export const stricter = (a: ErrorHandlingDecision, b: ErrorHandlingDecision): boolean =>
  strictness.indexOf(a) < strictness.indexOf(b);

/** Returns the wait before attempt `failures + 1`; `random` is between 0 and 1. */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  const full = Math.min(
    backoff.maxMs,
    backoff.initialMs * backoff.factor ** Math.max(0, failures - 1),
  );
  return Math.round(full * (1 - backoff.jitter * random));
}

const everything = (decision: ErrorHandlingDecision): Record<ErrorType, ErrorHandlingDecision> => ({
  tool: decision,
  model: decision,
  validation: decision,
  rate_limit: decision,
  timeout: decision,
  unknown: decision,
});

const noRules: ReadonlyMap<string, ToolErrorRule> = /* @__PURE__ */ new Map();

const preset = (on: ErrorPolicyJSON['on'], maxRetries: MaxRetries): ErrorPolicy =>
  ErrorPolicy.from({ on, maxRetries });

function checkedHandling(on: ErrorPolicyJSON['on']): ErrorPolicyJSON['on'] {
  const known: Partial<Record<ErrorType, ErrorHandlingDecision>> = {};
  for (const type of Object.keys(on) as ErrorType[]) {
    if (!errorTypes.includes(type))
      throw invalidOption('ErrorPolicy.on', type, `one of ${errorTypes.join(', ')}`);
    if (!strictness.includes(on[type]))
      throw invalidOption(`ErrorPolicy.on.${type}`, on[type], `one of ${strictness.join(', ')}`);
    known[type] = on[type];
  }
  return known as ErrorPolicyJSON['on']; // complete: each caller starts from a complete table
}

function checkedBackoff(backoff: Backoff): Backoff {
  for (const [key, value] of Object.entries(backoff))
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw invalidOption(`ErrorPolicy.backoff.${key}`, value, 'a finite number of 0 or more');
  if (backoff.jitter > 1)
    throw invalidOption('ErrorPolicy.backoff.jitter', backoff.jitter, 'a share between 0 and 1');
  return { ...backoff };
}
