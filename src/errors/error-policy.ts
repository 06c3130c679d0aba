import { isRecord } from '../json.ts';
import { invalidOption } from './agent-error.ts';
import { isNoFailure, type ErrorContext } from './error-context.ts';
import { ErrorHandlingDecision, errorTypes, type ErrorType } from './error-type.ts';

export interface Backoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the wait that is random, 0 to 1: 0.5 waits between half and all of it. */
  readonly jitter: number;
}

export interface ErrorPolicyJSON {
  readonly on: Readonly<Record<ErrorType, ErrorHandlingDecision>>;
  readonly maxRetries: number;
  readonly backoff: Backoff;
}

const { Stop, Retry, Ignore } = ErrorHandlingDecision;
const defaultBackoff: Backoff = Object.freeze({
  initialMs: 500,
  factor: 2,
  maxMs: 30_000,
  jitter: 0.5,
});
const strictness: readonly ErrorHandlingDecision[] = [Stop, Retry, Ignore];

/** What to do about each kind of failure, and how often work is tried again after its first failure. */
export class ErrorPolicy implements ErrorPolicyJSON {
  readonly on: Readonly<Record<ErrorType, ErrorHandlingDecision>>;
  readonly maxRetries: number;
  readonly backoff: Backoff;

  private constructor({ on, maxRetries, backoff }: ErrorPolicyJSON) {
    this.on = Object.freeze(checkedHandling(on));
    this.maxRetries = checkedRetries(maxRetries);
    this.backoff = Object.freeze(checkedBackoff(backoff));
    Object.freeze(this);
  }

  static from(json: Partial<ErrorPolicyJSON>): ErrorPolicy {
    if (json instanceof ErrorPolicy) return json;
    if (!isRecord(json))
      throw invalidOption(
        'ErrorPolicy.from',
        json,
        'a policy such as ErrorPolicy.retryToolErrors(3)',
      );
    return new ErrorPolicy({
      on: { ...everything(Stop), ...json.on },
      maxRetries: json.maxRetries ?? 0,
      backoff: { ...defaultBackoff, ...json.backoff },
    });
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

  /** A `retry` becomes `stop` once the work has been tried again `maxRetries` times in a row; no failure is ignored. */
  evaluate(context: ErrorContext): ErrorHandlingDecision {
    if (isNoFailure(context)) return Ignore;
    const handling = this.handlingOf(context);
    const spent = context.consecutiveFailures > this.maxRetries;
    return handling === Retry && spent ? Stop : handling;
  }

  /** The decision before counting. A failed model call cannot be ignored: there is no answer to continue with. */
  handlingOf(
    failure: Pick<ErrorContext, 'type' | 'modelCall' | 'retryable'>,
  ): ErrorHandlingDecision {
    const handling = this.on[failure.type];
    if (!failure.modelCall) return handling;
    if (!failure.retryable) return Stop;
    return handling === Ignore ? Retry : handling;
  }

  withMaxRetries(maxRetries: number): ErrorPolicy {
    return new ErrorPolicy({ ...this.toJSON(), maxRetries });
  }
  withHandling(type: ErrorType, decision: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this.toJSON(), on: { ...this.on, [type]: decision } });
  }
  withToolErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.withHandling('tool', decision);
  }
  withBackoff(backoff: Partial<Backoff>): ErrorPolicy {
    return new ErrorPolicy({ ...this.toJSON(), backoff: { ...this.backoff, ...backoff } });
  }

  toJSON(): ErrorPolicyJSON {
    return { on: this.on, maxRetries: this.maxRetries, backoff: this.backoff };
  }
}

/** Of several errors of one step the strictest decision counts: stop, then retry, then ignore. */
export const stricter = (a: ErrorHandlingDecision, b: ErrorHandlingDecision): boolean =>
  strictness.indexOf(a) < strictness.indexOf(b);

/** Wait before try number `failures + 1`; `random` is between 0 and 1. */
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

const preset = (on: ErrorPolicyJSON['on'], maxRetries: number): ErrorPolicy =>
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
  return known as ErrorPolicyJSON['on']; // every type is there: each caller starts from a complete table
}

function checkedRetries(maxRetries: number): number {
  if (Number.isInteger(maxRetries) && maxRetries >= 0) return maxRetries;
  throw invalidOption('ErrorPolicy.maxRetries', maxRetries, 'a whole number of 0 or more');
}

function checkedBackoff(backoff: Backoff): Backoff {
  for (const [key, value] of Object.entries(backoff))
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw invalidOption(`ErrorPolicy.backoff.${key}`, value, 'a finite number of 0 or more');
  if (backoff.jitter > 1)
    throw invalidOption('ErrorPolicy.backoff.jitter', backoff.jitter, 'a share between 0 and 1');
  return { ...backoff };
}
