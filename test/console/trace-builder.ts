import { ContinuationCriteria } from '../../src/continuation/continuation-criteria.ts';
import { costLimit } from '../../src/continuation/criteria/cost-limit.ts';
import { errorPolicyCriterion } from '../../src/continuation/criteria/error-policy-criterion.ts';
import { finishReasonCheck } from '../../src/continuation/criteria/finish-reason-check.ts';
import { noProgressLimit } from '../../src/continuation/criteria/no-progress-limit.ts';
import { stepsLimit } from '../../src/continuation/criteria/steps-limit.ts';
import { stopRequestCheck } from '../../src/continuation/criteria/stop-request-check.ts';
import { cumulativeExecutionTimeLimit } from '../../src/continuation/criteria/time-limit.ts';
import { tokenUsageLimit } from '../../src/continuation/criteria/token-usage-limit.ts';
import { toolCallPresenceCheck } from '../../src/continuation/criteria/tool-call-presence-check.ts';
import type { ContinuationCriterion } from '../../src/continuation/criterion.ts';
import type { ContinuationOutcomeJSON } from '../../src/continuation/outcome.ts';
import type { StepView } from '../../src/continuation/run-view.ts';
import { ErrorPolicy } from '../../src/errors/error-policy.ts';
import { stopSentence } from '../../src/trace/stop-sentence.ts';
import type { Trace, TraceBar, TracePause, TraceStep } from '../../src/trace/trace.ts';
import {
  calledView,
  errorRecord,
  failedCall,
  runView,
  START_MS,
  stepView,
} from '../setup/run-view.ts';

export interface CallSpec {
  readonly name: string;
  readonly ms: number;
  readonly state?: TraceBar['state'];
  readonly error?: string;
  readonly pausedMs?: number;
  readonly retry?: TraceBar['retry'];
  readonly answer?: TraceBar['answer'];
}

export interface StepSpec {
  readonly modelMs: number;
  readonly calls?: readonly CallSpec[];
  readonly tokens?: readonly [number, number];
  readonly cost?: number | null;
  /** A failed model call, with the wait after it. */
  readonly failed?: string;
  readonly waitMs?: number;
  readonly type?: TraceStep['type'];
  readonly softLanding?: string;
}

export interface RunSpec {
  readonly steps: readonly StepSpec[];
  readonly status?: Trace['status'];
  readonly maxSteps?: number | null;
  readonly maxTokens?: number | null;
  readonly maxCost?: number | null;
  readonly maxSeconds?: number | null;
  readonly maxRetries?: number;
  readonly more?: readonly ContinuationCriterion[];
  readonly hasEarlier?: boolean;
  readonly firstNumber?: number;
}

/** A custom criterion. */
export const leadHasOwner: ContinuationCriterion = {
  name: 'LeadHasOwner',
  evaluate: (state) =>
    state.stepCount >= 5
      ? { decision: 'stop', reason: 'lead_2231 has an owner, so stopping is fine' }
      : { decision: 'allow', reason: 'no lead created yet' },
};

/** Creates a trace with outcomes of the real criteria and fake times. */
export function traceWith(spec: RunSpec): Trace {
  const {
    maxSteps = 5,
    maxTokens = 40_000,
    maxCost = 0.1,
    maxSeconds = 120,
    maxRetries = 3,
  } = spec;
  const criteria = ContinuationCriteria.from(
    ...(maxSteps === null ? [] : [stepsLimit(maxSteps)]),
    ...(maxTokens === null ? [] : [tokenUsageLimit(maxTokens)]),
    ...(maxCost === null ? [] : [costLimit(maxCost)]),
    ...(maxSeconds === null ? [] : [cumulativeExecutionTimeLimit({ seconds: maxSeconds })]),
    finishReasonCheck(),
    errorPolicyCriterion(ErrorPolicy.retryAll(maxRetries)),
    stopRequestCheck(),
    toolCallPresenceCheck(),
    noProgressLimit(3),
    ...(spec.more ?? []),
  );
  const views: StepView[] = [];
  const steps: TraceStep[] = [];
  const pauses: TracePause[] = [];
  const sum = {
    at: 0,
    input: 0,
    output: 0,
    cost: 0 as number | null,
    answered: 0,
    failures: 0,
    failed: 0,
  };
  const totals = { model: 0, tool: 0, backoff: 0, paused: 0 };
  for (const [i, step] of spec.steps.entries()) {
    const number = (spec.firstNumber ?? 1) + i;
    const [input, output] = step.failed ? [0, 0] : (step.tokens ?? [1200 + i * 310, 86]);
    const cost = step.failed
      ? 0
      : step.cost === undefined
        ? (input * 2 + output * 8) / 1e6
        : step.cost;
    const { bars, end } = barsOf(step, sum.at, number, pauses);
    const durationMs = end - sum.at;
    const attempt = views.at(-1)?.type === 'error' ? 2 : 1;
    const calls = step.calls ?? [];
    const bad = calls.filter(({ state }) => state === 'error' || state === 'timeout');
    const view = step.failed
      ? failedCall({
          number,
          errors: [errorRecord({ type: 'rate_limit', message: step.failed })],
          waitMs: step.waitMs ?? 0,
        })
      : calls.length > 0
        ? calledView(
            calls.map((call, j) => ({
              name: call.name,
              args: { j, number },
              kind: call.state ?? 'ok',
            })),
            {
              number,
              errors: bad.map((call) =>
                errorRecord({
                  type: call.state === 'timeout' ? 'timeout' : 'tool',
                  toolName: call.name,
                  message: call.error ?? 'boom',
                }),
              ),
            },
          )
        : stepView({ number });
    const isOpen = step.type === 'running' || step.type === 'waiting';
    if (!isOpen) views.push(view);
    sum.input += input;
    sum.output += output;
    sum.cost = sum.cost === null || cost === null ? null : sum.cost + cost;
    if (step.failed) sum.failed += 1;
    else if (!isOpen) sum.answered += 1;
    sum.failures = step.failed || bad.length > 0 ? sum.failures + 1 : 0;
    const waitMs = step.waitMs ?? 0;
    const outcome = isOpen
      ? null
      : criteria
          .evaluate(
            runView({
              steps: views,
              execution: {
                answeredSteps: sum.answered,
                usage: { total: sum.input + sum.output },
                cost: sum.cost,
                consecutiveFailures: sum.failures,
                totalFailures: sum.failures,
                cumulativeSeconds: end / 1000,
              },
            }),
            { now: START_MS },
          )
          .toJSON();
    steps.push({
      number,
      attempt,
      type: step.type ?? (step.failed ? 'error' : calls.length > 0 ? 'tool_calls' : 'final'),
      startedAt: new Date(START_MS + sum.at).toISOString(),
      at: sum.at,
      durationMs,
      bars,
      waitMs,
      inputTokens: input,
      outputTokens: output,
      modelUsage: null,
      cost,
      costSoFar: sum.cost,
      finishReason: step.failed || isOpen ? null : calls.length > 0 ? 'tool_calls' : 'stop',
      softLanding: step.softLanding ?? null,
      notes: [],
      outcome,
    });
    totals.model += bars[0]?.durationMs ?? 0;
    totals.tool += Math.max(0, ...calls.map(({ ms }) => ms));
    totals.backoff += waitMs;
    totals.paused += calls.reduce((ms, { pausedMs = 0 }) => ms + pausedMs, 0);
    sum.at = end + waitMs;
  }
  const outcome = steps.at(-1)?.outcome ?? null;
  const status = spec.status ?? statusOf(outcome);
  return {
    sessionId: 'ses_01',
    agent: 'partner-assistant',
    executionId: 'exec_1',
    status,
    executions: [
      { id: 'exec_1', startedAt: new Date(START_MS).toISOString(), stepCount: steps.length },
    ],
    startedAt: new Date(START_MS).toISOString(),
    totals: {
      steps: { used: sum.answered, limit: maxSteps },
      seconds: { used: sum.at / 1000, limit: maxSeconds },
      tokens: { used: sum.input + sum.output, limit: maxTokens },
      cost: { used: sum.cost, limit: maxCost },
      inputTokens: sum.input,
      outputTokens: sum.output,
      failedCalls: sum.failed,
      modelMs: totals.model,
      toolMs: totals.tool,
      backoffMs: totals.backoff,
      pausedMs: totals.paused,
    },
    steps,
    hasEarlier: spec.hasEarlier ?? false,
    pauses,
    outcome,
    stop: stopSentence({
      status,
      outcome,
      pendingApprovals:
        steps.at(-1)?.type === 'waiting' ? [{ tool: 'delete_program_lead', callId: 'c1' }] : [],
    }),
    grants: {},
  };
}

function statusOf(outcome: ContinuationOutcomeJSON | null): Trace['status'] {
  if (!outcome || outcome.shouldContinue) return 'processing';
  if (outcome.stopReason === 'completed') return 'completed';
  return outcome.stopReason === 'retry_limit' || outcome.stopReason === 'error'
    ? 'failed'
    : 'stopped';
}

function barsOf(
  step: StepSpec,
  at: number,
  number: number,
  pauses: TracePause[],
): { bars: TraceBar[]; end: number } {
  const none = { error: null, retry: null, pausedMs: 0, answer: null };
  const isRunning = step.type === 'running' && (step.calls ?? []).length === 0;
  const bars: TraceBar[] = [
    {
      ...none,
      kind: 'model',
      name: 'model',
      callId: null,
      at,
      durationMs: step.modelMs,
      state: step.failed ? 'error' : isRunning ? 'running' : 'ok',
      error: step.failed ?? null,
    },
  ];
  const begun = at + step.modelMs;
  let end = begun;
  const calls = step.calls ?? [];
  const free = Math.max(0, ...calls.filter((c) => !c.pausedMs).map(({ ms }) => ms));
  for (const [i, call] of calls.entries()) {
    const isPaused =
      (call.pausedMs ?? 0) > 0 || (call.state === 'waiting' && step.type === 'waiting');
    const from = isPaused ? begun + free : begun;
    if (isPaused)
      pauses.push({
        at: from,
        step: number,
        durationMs: call.state === 'waiting' ? null : (call.pausedMs ?? 0),
        kind: 'approval',
        reason: null,
      });
    bars.push({
      kind: 'tool',
      name: call.name,
      callId: `call_${number}_${i}`,
      at: from,
      durationMs: call.ms,
      state: call.state ?? 'ok',
      error: call.error ?? null,
      retry: call.retry ?? null,
      pausedMs: call.pausedMs ?? 0,
      answer: call.answer ?? null,
    });
    end = Math.max(end, from + call.ms);
  }
  return { bars, end };
}
