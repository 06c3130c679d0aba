import { describe, expect, it } from 'vitest';
import { axisOf } from '../../src/console/trace/axis.ts';
import { factsOf } from '../../src/console/trace/facts.ts';
import { placeLabel } from '../../src/console/trace/label-place.ts';
import { lanesOf, type Lane } from '../../src/console/trace/lanes.ts';
import { rowHeight, rowsBetween, rowTops } from '../../src/console/trace/row-heights.ts';
import { grown, rowsOf, tagsOf } from '../../src/console/trace/trace-rows.ts';
import { traceWith } from './trace-builder.ts';
import { beforeAnyStep, designRun, runs } from './trace-fixtures.ts';

describe('rows', () => {
  it('have tags for special steps', () => {
    const { steps } = traceWith(designRun);
    expect(steps.map((step) => tagsOf(step).join(', '))).toEqual([
      '',
      '',
      'failed call',
      'attempt 2',
      '',
      '',
    ]);
    expect(tagsOf(traceWith(runs['long']!).steps[2]!)).toEqual(['soft landing']);
    expect(tagsOf(traceWith(runs['waiting']!).steps[1]!)).toEqual(['waiting']);
  });

  it('start with row 0 for an outcome before the first step, and are empty without one', () => {
    const before = beforeAnyStep();
    expect(rowsOf(before)).toMatchObject([{ number: 0, step: null, isLast: true }]);
    expect(rowsOf({ ...before, outcome: null })).toEqual([]);
  });

  it('assign an outcome without a step to the paused step', () => {
    const waiting = traceWith(runs['waiting']!);
    const { outcome } = traceWith(designRun);
    expect(rowsOf({ ...waiting, outcome, status: 'cancelled' }).at(-1)?.outcome).toBe(outcome);
    expect(rowsOf({ ...waiting, outcome }).at(-1)?.outcome).toBeNull();
  });

  it('grow only for the running step and its running bars', () => {
    const trace = traceWith(runs['running']!);
    const later = grown(trace, 1500);
    expect(later.steps[0]).toBe(trace.steps[0]);
    expect(later.steps[1]?.durationMs).toBe(trace.steps[1]!.durationMs + 1500);
    expect(later.steps[1]?.bars.map((b) => b.durationMs)).toEqual([1440, 2460]);
    expect(later.totals.seconds.used).toBeCloseTo(trace.totals.seconds.used + 1.5);
    const still = traceWith(designRun);
    expect(grown(still, 1500)).toBe(still);
  });

  it('have heights without rendering, and can be found by position', () => {
    const rows = rowsOf(traceWith(designRun));
    expect(rows.map((row) => rowHeight(row, false))).toEqual([71, 71, 53, 71, 71, 53]);
    expect(rowHeight(rows[0]!, true)).toBe(111);
    const tops = rowTops(rows, false);
    expect(tops).toEqual([0, 71, 142, 195, 266, 337, 390]);
    expect(rowsBetween(tops, 0, 71)).toEqual([0, 2]);
    expect(rowsBetween(tops, 72, 141)).toEqual([1, 2]);
    expect(rowsBetween(tops, -500, 10)).toEqual([0, 1]);
    expect(rowsBetween(tops, 380, 9999)).toEqual([5, 6]);
    expect(rowsBetween([0], 0, 100)).toEqual([0, 0]);
  });
});

describe('lanes', () => {
  const text = ({ labels }: Lane): string => labels[0]!.map((part) => part.text).join(' ');
  const of = (name: string, at: number): readonly Lane[] => {
    const trace = traceWith(runs[name]!);
    return lanesOf(trace.steps[at]!, axisOf(trace));
  };

  it('are the model and then each call, with labels', () => {
    expect(of('design', 1).map(text)).toEqual([
      'model 1.18 s',
      'enrich_company 5.00 s timeout',
      'search_entities 0.38 s',
    ]);
    expect(of('design', 2).map(text)).toEqual(['429 then waited 2.00 s']);
    expect(of('design', 3).map(text)[1]).toBe('enrich_company 1.84 s · retry 1/3');
    expect(of('design', 4).map(text)[2]).toBe('delete_program_lead 0.22 s · paused 4m 12s');
    expect(of('waiting', 1).map(text)[2]).toBe('delete_program_lead needs approval');
  });

  it('have a short label for a failure and the full text as a title', () => {
    const [model] = of('design', 2);
    expect(model!.labels.map((parts) => parts.map((p) => p.text).join(' '))).toEqual([
      '429 then waited 2.00 s',
      '429',
    ]);
    expect(model!.title).toContain('429 Too many requests');
    const call = of('retries', 0)[1]!;
    for (const label of call.labels) expect(label.map((p) => p.text)).toContain('failed');
    expect(placeLabel(call, 400, 400).title).toBe(call.title);
  });

  it('have pieces of the right kinds', () => {
    const looks = (lanes: readonly Lane[]) => lanes.map(({ pieces }) => pieces.map((p) => p.kind));
    expect(looks(of('design', 1))).toEqual([['model'], ['failed'], ['tool']]);
    expect(looks(of('design', 2))).toEqual([['failed', 'backoff']]);
    expect(looks(of('design', 4))).toEqual([['model'], ['tool'], ['paused', 'tool']]);
    expect(looks(of('running', 1))).toEqual([['model'], ['running']]);
    expect(looks(of('waiting', 1))[2]).toEqual(['paused']);
  });

  it('fill the break with the pause and continue after it', () => {
    const [paused, work] = of('design', 4)[2]!.pieces;
    expect(paused!.to - paused!.from).toBeCloseTo(0.07);
    expect(work!.from).toBeCloseTo(paused!.to);
  });

  it('mark a queued call', () => {
    const trace = traceWith({
      steps: [
        {
          modelMs: 100,
          type: 'running',
          calls: [
            { name: 'a', ms: 50, state: 'running' },
            { name: 'b', ms: 0, state: 'waiting' },
          ],
        },
      ],
      status: 'processing',
    });
    const lane = lanesOf(trace.steps[0]!, axisOf(trace))[2]!;
    expect(text(lane)).toBe('b queued');
    expect(lane.pieces.map((p) => p.kind)).toEqual(['unused']);
  });
});

describe('facts of a step', () => {
  const facts = (name: string, at: number): string[] =>
    factsOf(traceWith(runs[name]!).steps[at]!).map(({ text, code }) =>
      [text, code].filter(Boolean).join(' '),
    );

  it('contain the finish reason and errors', () => {
    expect(facts('design', 0)).toEqual(['finish_reason tool_calls', '2 calls']);
    expect(facts('design', 1)).toContain('enrich_company: timeout');
    expect(facts('design', 2)).toEqual([
      'model call failed',
      '429 Too many requests',
      'waited 2.00 s',
    ]);
    expect(facts('long', 2)).toContain('last step reserved by StepsLimit');
  });

  it('contain who answered a call and when', () => {
    const step = traceWith(designRun).steps[0]!;
    const approval = { by: 'ann', at: '2026-11-17T19:05:00.000Z', argsHash: '' };
    const bars = (decision: 'approved' | 'denied') =>
      step.bars.map((bar) =>
        bar.kind === 'tool'
          ? {
              ...bar,
              name: 'pay',
              state: decision === 'denied' ? ('denied' as const) : ('ok' as const),
              approval: { decision, ...approval },
            }
          : bar,
      );
    for (const decision of ['approved', 'denied'] as const) {
      const texts = factsOf({ ...step, bars: bars(decision) }).map(({ text }) => text);
      expect(texts).toContain(`pay: ${decision} by ann on 2026-11-17 at 19:05 UTC`);
      expect(texts).not.toContain('pay: denied');
    }
  });

  it('contain each note once as text', () => {
    const step = traceWith(designRun).steps[0]!;
    const notes = ['argsEdited:call_1', 'argsEdited:call_2', 'usageUnknown', 'somethingNew'];
    expect(factsOf({ ...step, notes }).slice(2)).toEqual([
      { text: 'arguments edited by the approver' },
      { text: 'usage unknown' },
      { text: 'note', code: 'somethingNew' },
    ]);
  });
});
