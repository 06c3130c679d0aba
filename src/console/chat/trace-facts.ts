import type { Trace, TraceBar, TraceStep } from '../../trace/trace.ts';

/** What the trace knows of one call. */
export interface CallFact {
  readonly step: number;
  readonly bar: TraceBar;
  /** How the policy for errors has judged the step, as it was recorded. */
  readonly judgement: string | null;
}

/** A call of the model that failed; the run waited and tried again, or gave up. */
export interface ModelFailure {
  readonly step: number;
  readonly attempt: number;
  readonly error: string;
  /** As it was recorded, such as `rate_limit`. */
  readonly errorType: string | null;
  readonly durationMs: number;
  readonly waitMs: number;
  /** Nothing has followed yet. */
  readonly isLast: boolean;
  readonly willRetry: boolean;
}

/** The trace of one turn, ready to be asked. */
export interface TurnFacts {
  readonly calls: ReadonlyMap<string, CallFact>;
  readonly failures: readonly ModelFailure[];
  /** Numbers of steps that ended with words alone, in order. */
  readonly answers: readonly number[];
  /** Only steps of the newest run can be opened from here. */
  readonly isNewest: boolean;
}

export const noFacts: TurnFacts = { calls: new Map(), failures: [], answers: [], isNewest: false };

export function factsOf(trace: Trace, isNewest: boolean): TurnFacts {
  const calls = new Map<string, CallFact>();
  const failures: ModelFailure[] = [];
  const answers: number[] = [];
  for (const [place, step] of trace.steps.entries()) {
    const { number, type, bars } = step;
    const judgement = judgementOf(step);
    for (const bar of bars)
      if (bar.callId !== null) calls.set(bar.callId, { step: number, bar, judgement });
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
    error: model?.error ?? step.notes[0] ?? 'it gave no answer',
    durationMs: model?.durationMs ?? durationMs,
    waitMs,
    isLast,
    willRetry: outcome?.shouldContinue ?? true,
  };
}

const policyEvaluation = ({ outcome }: TraceStep) =>
  outcome?.evaluations.find(({ criterion }) => criterion === 'ErrorPolicyCriterion');

/** Only while it led on: what it led to in the end is said by the banner. */
const judgementOf = (step: TraceStep): string | null =>
  step.outcome?.shouldContinue ? (policyEvaluation(step)?.reason ?? null) : null;

function errorTypeOf(step: TraceStep): string | null {
  const type = policyEvaluation(step)?.context['errorType'];
  return typeof type === 'string' ? type : null;
}

/** "rate-limited": what went wrong with the model, in two words, and the rest of the sentence. */
export function failureWords({ error, errorType }: ModelFailure): readonly [string, string] {
  if (errorType === 'rate_limit' || /\b429\b/.test(error)) return ['Model rate-limited', error];
  return [errorType === 'timeout' ? 'Model timed out' : 'Model call failed', error];
}
