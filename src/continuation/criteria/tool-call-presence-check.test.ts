import { describe, expect, it } from 'vitest';
import {
  asked,
  calledView,
  cutCall,
  errorRecord,
  failedCall,
  runView,
  stepView,
} from '../../../test/setup/run-view.ts';
import type { RunView } from '../run-view.ts';
import { toolCallPresenceCheck } from './tool-call-presence-check.ts';

describe('ToolCallPresenceCheck', () => {
  const judge = (view: RunView) => toolCallPresenceCheck().evaluate(view, asked());

  it.each<[string, RunView, 'request' | 'stop', string]>([
    ['the start of an execution', runView(), 'request', 'a new request waits for an answer'],
    [
      'a last step of an earlier execution',
      runView({ steps: [stepView({ executionId: 'exec_0' })] }),
      'request',
      'a new request waits for an answer',
    ],
    [
      'one tool call',
      runView({ steps: [calledView([{ name: 'search' }])] }),
      'request',
      'the model called search',
    ],
    [
      'several tool calls, each name once',
      runView({ steps: [calledView([{ name: 'a' }, { name: 'b' }, { name: 'a' }])] }),
      'request',
      'the model called a, b',
    ],
    [
      'a failed model call',
      runView({ steps: [failedCall()] }),
      'request',
      'the model call failed, so there is no answer yet',
    ],
    [
      'an interrupted model call',
      runView({ steps: [cutCall()] }),
      'request',
      'the model call was cut off before it ended',
    ],
    [
      'an answer in the wrong format',
      runView({ steps: [stepView({ errors: [errorRecord({ type: 'validation' })] })] }),
      'request',
      'the answer does not match the response format',
    ],
    [
      'a reopened execution',
      runView({ steps: [stepView({ number: 3 })], execution: { handledStep: 3 } }),
      'request',
      'more budget was granted, continue where you left off',
    ],
    [
      'an answer without calls',
      runView({ steps: [stepView()] }),
      'stop',
      'the answer asks for no tools',
    ],
    [
      'an answer after a reopening',
      runView({ steps: [stepView({ number: 4 })], execution: { handledStep: 3 } }),
      'stop',
      'the answer asks for no tools',
    ],
  ])('%s', (_when, view, decision, reason) => {
    expect(judge(view)).toMatchObject({ criterion: 'ToolCallPresenceCheck', decision, reason });
  });

  it('D07: tool calls are pending work, regardless of the finish reason', () => {
    for (const finishReason of ['stop', 'length', 'content_filter', 'unknown'])
      expect(
        judge(runView({ steps: [calledView([{ name: 'search' }], { finishReason })] })),
      ).toMatchObject({ decision: 'request', context: { toolCalls: 1 } });
  });
});
