import { describe, expect, it } from 'vitest';
import {
  asked,
  calledView,
  cutCall,
  failedCall,
  runView,
  stepView,
} from '../../../test/setup/run-view.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { RunView, StepView } from '../run-view.ts';
import { finishReasonCheck } from './finish-reason-check.ts';

describe('FinishReasonCheck', () => {
  const judge = (view: RunView, reasons?: readonly string[]) =>
    finishReasonCheck(reasons).evaluate(view, asked()) as ContinuationEvaluation;

  it.each<[string, StepView | null, 'allow' | 'forbid', string]>([
    ['allows before the first step', null, 'allow', 'no answer to judge'],
    ['allows an ordinary answer', stepView(), 'allow', 'finish reason stop'],
    [
      'forbids after a truncated answer',
      stepView({ finishReason: 'length' }),
      'forbid',
      'the answer was cut off at the output limit (finish reason length)',
    ],
    [
      'forbids after a filtered answer',
      stepView({ finishReason: 'content_filter' }),
      'forbid',
      'the provider filtered the answer (finish reason content_filter)',
    ],
    [
      'allows a truncated answer with tool calls: the model learns that they did not run',
      calledView([{ name: 'search' }], { finishReason: 'length' }),
      'allow',
      'finish reason length',
    ],
    ['allows a failed model call', failedCall(), 'allow', 'no answer to judge'],
    ['allows an interrupted model call', cutCall(), 'allow', 'no answer to judge'],
  ])('%s', (_when, step, decision, reason) => {
    expect(judge(runView({ steps: step ? [step] : [] }))).toMatchObject({
      criterion: 'FinishReasonCheck',
      decision,
      reason,
    });
  });

  it('has facts and a remedy that continues the answer', () => {
    expect(judge(runView({ steps: [stepView({ finishReason: 'length' })] }))).toMatchObject({
      stopReason: 'finish_reason',
      context: { finishReason: 'length', reasons: ['length', 'content_filter'] },
      remedy: { option: 'finishReasonCheck(...)', grant: { steps: 1 } },
    });
  });

  it('replaces the default list with a custom one', () => {
    const steps = (finishReason: string) => runView({ steps: [stepView({ finishReason })] });
    expect(judge(steps('length'), ['stop']).decision).toBe('allow');
    expect(judge(steps('stop'), ['stop'])).toMatchObject({
      decision: 'forbid',
      reason: 'the answer ended in a way that is listed as a reason to stop (finish reason stop)',
    });
    expect(judge(steps('length'), []).decision).toBe('allow');
  });

  it('allows a truncated step after a grant reopened the execution', () => {
    const view = runView({
      steps: [stepView({ number: 2, finishReason: 'length' })],
      execution: { handledStep: 2 },
    });
    expect(judge(view).decision).toBe('allow');
  });
});
