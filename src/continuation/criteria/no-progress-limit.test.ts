import { describe, expect, it } from 'vitest';
import { asked, calledView, runView, stepView } from '../../../test/setup/run-view.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { StepView } from '../run-view.ts';
import { noProgressLimit } from './no-progress-limit.ts';

const search = (
  args: StepView['toolCalls'][number]['args'] = { query: 'acme', page: 1 },
  value: StepView['results'][number]['value'] = [],
  more: Partial<StepView> = {},
): StepView => calledView([{ name: 'search', args, value }], more);

const judge = (steps: readonly StepView[], workPending = true): ContinuationEvaluation =>
  noProgressLimit(3).evaluate(runView({ steps }), asked({ workPending })) as ContinuationEvaluation;

describe('NoProgressLimit', () => {
  it.each<[string, readonly StepView[], number]>([
    ['no calls', [], 0],
    ['an answer without calls', [stepView()], 0],
    ['two identical calls', [search(), search()], 2],
    ['D14: three byte-identical calls', [search(), search(), search()], 3],
    [
      'D14: arguments with keys in another order are the same',
      [search(), search({ page: 1, query: 'acme' }), search()],
      3,
    ],
    [
      'D14: nested keys too',
      [
        search({ filter: { a: 1, b: { c: 2, d: 3 } } }),
        search({ filter: { b: { d: 3, c: 2 }, a: 1 } }),
        search({ filter: { a: 1, b: { c: 2, d: 3 } } }),
      ],
      3,
    ],
    ['the order of a list matters', [search({ ids: [1, 2] }), search({ ids: [2, 1] })], 1],
    ['other arguments are progress', [search({ page: 1 }), search({ page: 2 })], 1],
    ['another result is progress', [search({}, ['a']), search({}, ['b'])], 1],
    [
      'another tool is progress',
      [search(), calledView([{ name: 'fetch', args: { query: 'acme', page: 1 }, value: [] }])],
      1,
    ],
    [
      'the same error repeated is no progress',
      [1, 2, 3].map((number) =>
        calledView([{ name: 'search', kind: 'error', value: 'Error: 502' }], { number }),
      ),
      3,
    ],
    [
      'an error and a result with the same text differ',
      [
        calledView([{ name: 'search', kind: 'error', value: 'x' }]),
        calledView([{ name: 'search', value: 'x' }]),
      ],
      1,
    ],
    [
      'calls of one step count separately',
      [calledView([{ name: 'search' }, { name: 'search' }, { name: 'search' }])],
      3,
    ],
    [
      'a failed model call in between is no progress',
      [search(), stepView({ type: 'error', finishReason: null }), search()],
      2,
    ],
    [
      'calls of an earlier execution do not count',
      [search({}, [], { executionId: 'exec_0' }), search({}, [])],
      1,
    ],
    ['only the newest calls count', [search(), search(), search({ page: 2 }), search()], 1],
  ])('%s', (_why, steps, used) => {
    expect(judge(steps)).toMatchObject({
      decision: used >= 3 ? 'forbid' : 'allow',
      context: { used, limit: 3 },
    });
  });

  it('names the tool, the count and the remedy', () => {
    expect(judge([search(), search(), search()])).toMatchObject({
      criterion: 'NoProgressLimit',
      decision: 'forbid',
      reason:
        'search was called 3 times in a row with the same arguments and the same result, and the limit is 3',
      context: { used: 3, limit: 3, toolName: 'search' },
      stopReason: 'guard',
      remedy: {
        text: 'send a new message that says what to do instead, make search return more, or raise noProgressLimit(...).',
        option: 'noProgressLimit(...)',
      },
    });
  });

  it('allows an answer when no work is pending', () => {
    expect(judge([search(), search(), search()], false)).toMatchObject({
      decision: 'allow',
      reason: '3 of 3 identical calls in a row',
    });
  });

  it('reads only the newest calls of a long history', () => {
    const steps = Array.from({ length: 5_000 }, () => search());
    let looks = 0;
    const view = runView({ steps });
    const counting = {
      ...view,
      steps: {
        length: steps.length,
        at: (index: number) => {
          looks += 1;
          return steps.at(index);
        },
      },
    };
    noProgressLimit(3).evaluate(counting, asked());
    expect(looks).toBe(3);
  });
});
