import { describe, expect, it } from 'vitest';
import { asked, cutCall, failedCall, runView, stepView } from '../../../test/setup/run-view.ts';
import type { RunView, StepView } from '../run-view.ts';
import { responseContentCheck } from './response-content-check.ts';

describe('ResponseContentCheck', () => {
  const judge = (view: RunView, wantsMore: (text: string) => boolean) =>
    responseContentCheck(wantsMore).evaluate(view, asked());

  it.each<[string, StepView[]]>([
    ['at the start', []],
    ['after a failed model call', [failedCall()]],
    ['after an interrupted model call', [cutCall()]],
    ['after the answer of an earlier execution', [stepView({ executionId: 'exec_0' })]],
  ])('%s it allows without calling the predicate', (_when, steps) => {
    const never = (): boolean => {
      throw new Error('asked');
    };
    expect(judge(runView({ steps }), never)).toMatchObject({
      decision: 'allow',
      reason: 'no response yet',
    });
  });

  it('requests another step on true and allows the stop on false', () => {
    const view = runView({ steps: [stepView()], outputText: 'TODO: sources' });
    const wantsMore = (text: string): boolean => text.includes('TODO');
    expect(judge(view, wantsMore)).toMatchObject({
      decision: 'request',
      reason: 'the response asks for more work',
    });
    expect(judge({ ...view, outputText: 'done' }, wantsMore)).toMatchObject({
      decision: 'stop',
      reason: 'the response needs no more work',
    });
  });
});
