import type { ErrorRecord } from '../../src/errors/error-record.ts';
import type { ExecutionView, RunView, StepView } from '../../src/continuation/run-view.ts';
import type { CriterionContext } from '../../src/continuation/criterion.ts';

/** A final answer without errors. `more` replaces fields. */
export const stepView = (more: Partial<StepView> = {}): StepView => ({
  number: 1,
  executionId: 'exec_1',
  type: 'final',
  toolCalls: [],
  results: [],
  errors: [],
  finishReason: 'stop',
  ...more,
});

/** A step in which the model called these tools, each with its result. */
export const calledView = (
  calls: readonly {
    readonly name: string;
    readonly args?: StepView['toolCalls'][number]['args'];
    readonly kind?: string;
    readonly value?: StepView['results'][number]['value'];
  }[],
  more: Partial<StepView> = {},
): StepView =>
  stepView({
    type: 'tool_calls',
    finishReason: 'tool_calls',
    toolCalls: calls.map(({ name, args = {} }, i) => ({ id: `call_${i}`, name, args })),
    results: calls.map(({ kind = 'ok', value = 'done' }, i) => ({
      callId: `call_${i}`,
      kind,
      value,
    })),
    ...more,
  });

export const errorRecord = (more: Partial<ErrorRecord> = {}): ErrorRecord => ({
  type: 'tool',
  code: 'tool_failed',
  message: 'boom',
  retryable: true,
  at: '2026-01-16T12:00:00.000Z',
  ...more,
});

export const failedCall = (more: Partial<StepView> = {}): StepView =>
  stepView({
    type: 'error',
    finishReason: null,
    errors: [errorRecord({ type: 'model' })],
    ...more,
  });

export const cutCall = (more: Partial<StepView> = {}): StepView =>
  stepView({ type: 'cut', finishReason: null, ...more });

/** A run as criteria see it, by default at the start of an execution. */
export function runView(
  more: {
    readonly steps?: readonly StepView[];
    readonly execution?: Partial<ExecutionView>;
    readonly info?: Partial<RunView['info']>;
    readonly executionStartedAt?: string | null;
    readonly outputText?: string;
  } = {},
): RunView {
  const steps = more.steps ?? [];
  return {
    stepCount: steps.length,
    currentStep: steps.at(-1) ?? null,
    steps: { length: steps.length, at: (index) => steps.at(index) },
    execution: {
      id: 'exec_1',
      answeredSteps: 0,
      usage: { total: 0 },
      cost: 0,
      consecutiveFailures: 0,
      totalFailures: 0,
      cumulativeSeconds: 0,
      grants: {},
      stopRequest: null,
      handledStep: 0,
      stretchSeconds: null,
      succeededTools: [],
      ...more.execution,
    },
    executionStartedAt: more.executionStartedAt ?? null,
    info: {
      answeredSteps: 0,
      usage: { total: 0 },
      cost: 0,
      cumulativeExecutionSeconds: 0,
      ...more.info,
    },
    outputText: more.outputText ?? '',
  };
}

export const START: string = '2026-01-16T12:00:00.000Z';
export const START_MS: number = Date.parse(START);

export const asked = (more: Partial<CriterionContext> = {}): CriterionContext => ({
  workPending: true,
  grants: {},
  now: START_MS,
  deps: {},
  ...more,
});
