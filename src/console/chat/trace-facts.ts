import type { Trace, TraceBar, TraceStep } from '../../trace/trace.ts';

/** Trace facts of one call. */
export interface CallFact {
  readonly step: number;
  readonly bar: TraceBar;
  /** The recorded result of the error policy for the step. */
  readonly policyText: string | null;
}

/** A failed model call. The run waited and retried, or ended. */
export interface ModelFailure {
  readonly step: number;
  readonly attempt: number;
  readonly error: string;
  /** Recorded type, such as `rate_limit`. */
  readonly errorType: string | null;
  readonly durationMs: number;
  readonly waitMs: number;
  /** Whether no step has followed yet. */
  readonly isLast: boolean;
  readonly willRetry: boolean;
}

/** Trace facts of one turn. */
export interface TurnFacts {
  readonly calls: ReadonlyMap<string, CallFact>;
  readonly failures: readonly ModelFailure[];
  /** Numbers of steps that ended with text only, in order. */
  readonly answers: readonly number[];
  /** Whether this is the newest run: only its steps can be opened from here. */
  readonly isNewest: boolean;
}

export const noFacts: TurnFacts = { calls: new Map(), failures: [], answers: [], isNewest: false };

export function factsOf(trace: Trace, isNewest: boolean): TurnFacts {
  const calls = new Map<string, CallFact>();
  const failures: ModelFailure[] = [];
  const answers: number[] = [];
  for (const [place, step] of trace.steps.entries()) {
    const { number, type, bars } = step;
    const policyText = policyTextOf(step);
    for (const bar of bars)
      if (bar.callId !== null) calls.set(bar.callId, { step: number, bar, policyText });
    if (type === 'error') failures.push(failureOf(step, place === trace.steps.length - 1));
    else if (!bars.some(({ kind }) => kind === 'tool')) answers.push(number);
  }
  return { calls, failures, answers, isNewest };
}

function failureOf(step: TraceStep, isLast: boolean): ModelFailure {
  const { number, attempt, bars, durationMs, waitMs, outcome } = step;
  const model = bars.find(({ kind }) => kind === 'model');
  return {
    step: number,
    attempt,
    errorType: model?.state === 'timeout' ? 'timeout' : errorTypeOf(step),
    error: model?.error ?? step.notes[0] ?? 'it did not answer',
    durationMs: model?.durationMs ?? durationMs,
    waitMs,
    isLast,
    willRetry: outcome?.shouldContinue ?? true,
  };
}

const policyEvaluation = ({ outcome }: TraceStep) =>
  outcome?.evaluations.find(({ criterion }) => criterion === 'ErrorPolicyCriterion');

/** Returns the policy result only if the run continued: the banner shows the final one. */
const policyTextOf = (step: TraceStep): string | null =>
  step.outcome?.shouldContinue ? (policyEvaluation(step)?.reason ?? null) : null;

function errorTypeOf(step: TraceStep): string | null {
  const type = policyEvaluation(step)?.context['errorType'];
  return typeof type === 'string' ? type : null;
}

/** Returns a short title such as "rate-limited", and the rest of the sentence. */
export function failureWords({ error, errorType }: ModelFailure): readonly [string, string] {
  if (errorType === 'rate_limit') return ['Model rate-limited', error];
  return [errorType === 'timeout' ? 'Model timed out' : 'Model call failed', error];
}
