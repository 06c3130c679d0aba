import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { costLimit, sessionCostLimit } from '../../src/continuation/criteria/cost-limit.ts';
import { errorPolicyCriterion } from '../../src/continuation/criteria/error-policy-criterion.ts';
import { finishReasonCheck } from '../../src/continuation/criteria/finish-reason-check.ts';
import { noProgressLimit } from '../../src/continuation/criteria/no-progress-limit.ts';
import { stepsLimit } from '../../src/continuation/criteria/steps-limit.ts';
import { stopRequestCheck } from '../../src/continuation/criteria/stop-request-check.ts';
import {
  cumulativeExecutionTimeLimit,
  executionTimeLimit,
} from '../../src/continuation/criteria/time-limit.ts';
import { tokenUsageLimit } from '../../src/continuation/criteria/token-usage-limit.ts';
import { toolCallPresenceCheck } from '../../src/continuation/criteria/tool-call-presence-check.ts';
import type { ContinuationCriterion } from '../../src/continuation/criterion.ts';
import type { ContinuationEvaluation } from '../../src/continuation/evaluation.ts';
import { ContinuationOutcome } from '../../src/continuation/outcome.ts';
import type { RunView } from '../../src/continuation/run-view.ts';
import { ErrorPolicy } from '../../src/errors/error-policy.ts';
import { axisOf } from '../../src/console/trace/axis.ts';
import { builtInVoices, isCustomVoice } from '../../src/console/trace/built-in-voices.ts';
import { factsOf } from '../../src/console/trace/facts.ts';
import { precedence, rungsOf } from '../../src/console/trace/ladder.ts';
import { placeLabel } from '../../src/console/trace/label-place.ts';
import { lanesOf, type Lane } from '../../src/console/trace/lanes.ts';
import { columnsOf, matrixOf } from '../../src/console/trace/matrix.ts';
import { rowHeight, rowsBetween, rowTops } from '../../src/console/trace/row-heights.ts';
import { grown, rowsOf, tagsOf } from '../../src/console/trace/rows.ts';
import {
  durationText,
  moneyLimitText,
  moneyText,
  secondsOfText,
  shareText,
} from '../../src/console/trace/trace-format.ts';
import { meterOf, meterTexts } from '../../src/console/trace/voice-meter.ts';
import { asked, calledView, errorRecord, failedCall, runView, START } from '../setup/run-view.ts';
import { traceWith } from './trace-builder.ts';
import { beforeAnyStep, designRun, longTrace, runs } from './trace-fixtures.ts';

const says = (
  criterion: ContinuationCriterion,
  state: RunView,
  context = asked(),
): ContinuationEvaluation => criterion.evaluate(state, context) as ContinuationEvaluation;

describe('meterOf, on what the real criteria record', () => {
  const called = calledView([{ name: 'search' }]);
  const spent = runView({
    steps: [called],
    execution: { answeredSteps: 5, usage: { total: 40_212 }, cost: 0.1004, cumulativeSeconds: 120 },
    info: { cost: 2 },
    executionStartedAt: START,
  });
  const policy = errorPolicyCriterion(ErrorPolicy.retryAll(3));
  const failing = (count: number): RunView =>
    runView({
      steps: [failedCall({ errors: [errorRecord({ type: 'rate_limit' })] })],
      execution: { consecutiveFailures: count, totalFailures: count },
    });
  const modelFailed = runView({
    steps: [failedCall()],
    execution: { consecutiveFailures: 1, totalFailures: 1 },
  });
  const stopping = errorPolicyCriterion(ErrorPolicy.stopOnAnyError());

  it.each<[ContinuationEvaluation, string, string | null]>([
    [says(stepsLimit(5), spent), 'full', '5 / 5'],
    [says(stepsLimit(20), spent), 'plain', '5 / 20'],
    [says(tokenUsageLimit(40_000), spent), 'full', '40,212 / 40,000'],
    [says(costLimit(0.1), spent), 'full', '$0.1004 / $0.10'],
    [says(sessionCostLimit(50), spent), 'plain', '$2.00 / $50.00'],
    [says(cumulativeExecutionTimeLimit({ seconds: 120 }), spent), 'full', '120 / 120 s'],
    [
      says(executionTimeLimit({ seconds: 300 }), spent, asked({ now: Date.parse(START) + 17_340 })),
      'plain',
      '17.3 / 300 s',
    ],
    [says(noProgressLimit(3), spent), 'plain', '1 / 3'],
    [says(policy, runView()), 'plain', '0 / 3'],
    [says(policy, failing(2)), 'warn', '2 / 3'],
    [says(policy, failing(4)), 'full', '3 / 3'],
    // the policy stops at once: no retry was used
    [says(stopping, failing(1)), '', null],
    [says(errorPolicyCriterion(ErrorPolicy.retryToolErrors(3)), modelFailed), '', null],
    [says(finishReasonCheck(), spent), '', null],
    [says(stopRequestCheck(), spent), '', null],
    [says(toolCallPresenceCheck(), spent), '', null],
  ])('%j', (evaluation, tone, text) => {
    const meter = meterOf(evaluation);
    if (text === null) {
      expect(meter).toBeNull();
      return;
    }
    expect(meter?.tone).toBe(tone);
    expect(meter && meterTexts(meter).join(' / ')).toBe(text);
  });

  it('says that a cost without a price is unknown', () => {
    const meter = meterOf(says(costLimit(0.1), runView({ execution: { cost: null } })));
    expect(meter).toMatchObject({ used: null, tone: 'plain' });
    expect(meter && meterTexts(meter)).toEqual(['unknown', '$0.10']);
  });

  it('reads used and limit of a voice it does not know, and nothing else', () => {
    const own = { criterion: 'Mine', decision: 'allow', reason: '' } as const;
    expect(meterOf({ ...own, context: { used: 2, limit: 7 } })).toMatchObject({ unit: 'count' });
    for (const context of [
      {},
      { used: 2 },
      { limit: 'x', used: 1 },
      { limit: 0, used: 0 },
      { limit: 3, used: '1' },
    ])
      expect(meterOf({ ...own, context })).toBeNull();
  });
});

describe('custom voices', () => {
  it('are those that no criterion of Onward is named after', () => {
    const folder = 'src/continuation/criteria';
    const names = readdirSync(folder)
      .filter((file) => !file.includes('.test.'))
      .flatMap((file) => [
        ...readFileSync(`${folder}/${file}`, 'utf8').matchAll(
          /(?:name(?::| =) |time\()'([A-Z]\w+)'/g,
        ),
      ])
      .map(([, name]) => name);
    expect(names.length).toBeGreaterThan(14);
    expect(new Set([...names, 'ContinuationCriteria'])).toEqual(builtInVoices);
    expect(isCustomVoice('LeadHasOwner')).toBe(true);
  });
});

const voice = (
  criterion: string,
  decision: ContinuationEvaluation['decision'],
): ContinuationEvaluation => ({ criterion, decision, reason: criterion, context: {} });
const shown = (...voices: readonly ContinuationEvaluation[]): string[] =>
  rungsOf(ContinuationOutcome.resolve(voices).toJSON()).map(
    ({ decision, isDecisive, voices: all, rule }) =>
      `${decision}${isDecisive ? '!' : ''} ${all.map((v) => v.criterion).join('')} ${rule ?? ''}`.trim(),
  );

describe('the ladder', () => {
  it('always has its four rungs in order of precedence', () => {
    expect(precedence).toEqual(['forbid', 'request', 'stop', 'allow']);
    expect(rungsOf(ContinuationOutcome.resolve([]).toJSON()).map((r) => r.decision)).toEqual(
      precedence,
    );
  });

  it.each<[ContinuationEvaluation[], string[]]>([
    [
      [voice('A', 'allow'), voice('R', 'request'), voice('F', 'forbid'), voice('S', 'stop')],
      [
        'forbid! F one is enough to stop it',
        'request R outranked',
        'stop S outranked',
        'allow A outranked',
      ],
    ],
    [
      [voice('A', 'allow'), voice('R', 'request')],
      ['forbid', 'request! R nobody forbids, so one is enough', 'stop', 'allow A outranked'],
    ],
    [
      [voice('A', 'allow'), voice('S', 'stop')],
      ['forbid', 'request', 'stop! S nobody has more work, so it may stop', 'allow A outranked'],
    ],
    [[voice('A', 'allow')], ['forbid', 'request', 'stop', 'allow! A nobody objects']],
    [[], ['forbid', 'request', 'stop', 'allow']],
  ])('%#', (voices, rungs) => {
    expect(shown(...voices)).toEqual(rungs);
    expect(shown(...voices.toReversed())).toEqual(rungs);
  });

  it('puts the decisive voice first and the others as they were asked', () => {
    const forbids = (criterion: string, stopReason: 'guard' | 'steps_limit') => ({
      ...voice(criterion, 'forbid'),
      stopReason,
    });
    expect(
      shown(forbids('G', 'guard'), forbids('S', 'steps_limit'), forbids('H', 'guard'))[0],
    ).toBe('forbid! SGH one is enough to stop it');
  });

  it('agrees with the verdict of every step of a real run', () => {
    for (const step of traceWith(designRun).steps) {
      const rungs = rungsOf(step.outcome!);
      expect(rungs.filter((r) => r.isDecisive).map((r) => r.voices[0]?.criterion)).toEqual([
        step.outcome!.resolvedBy,
      ]);
      expect(rungs.flatMap((r) => r.voices)).toHaveLength(step.outcome!.evaluations.length);
    }
  });
});

describe('the matrix', () => {
  it('has a cell for each voice and step, one decisive in each column', () => {
    const { voices, columns } = matrixOf(rowsOf(traceWith(designRun)));
    expect(columns).toHaveLength(6);
    expect(voices).toHaveLength(10);
    for (const at of columns.keys())
      expect(voices.filter(({ cells }) => cells[at]?.isDecisive)).toHaveLength(1);
    expect(
      voices.find((v) => v.name === 'StepsLimit')?.cells.map((c) => c.evaluation?.decision),
    ).toEqual(['allow', 'allow', 'allow', 'allow', 'allow', 'forbid']);
  });

  it('leaves the cells of a step without a verdict empty', () => {
    const { voices } = matrixOf(rowsOf(traceWith(runs['running']!)));
    expect(voices.every(({ cells }) => cells[1]?.evaluation === null)).toBe(true);
  });

  it('shows the newest 24, or those around an older one that is selected', () => {
    const rows = rowsOf(longTrace(150));
    const numbers = (selected?: number): number[] =>
      columnsOf(rows, selected).map(({ number }) => number);
    expect([numbers().length, numbers()[0], numbers().at(-1)]).toEqual([24, 127, 150]);
    expect(numbers(140)).toEqual(numbers());
    expect(numbers(60)).toContain(60);
    expect(numbers(60)).toHaveLength(24);
    expect(numbers(1)[0]).toBe(1);
  });
});

describe('rows', () => {
  it('tells what is special about a step', () => {
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

  it('has a row 0 for a verdict before any step, and none before a message', () => {
    const before = beforeAnyStep();
    expect(rowsOf(before)).toMatchObject([{ number: 0, step: null, isLast: true }]);
    expect(rowsOf({ ...before, outcome: null })).toEqual([]);
  });

  it('gives a verdict beside the steps to the one that waited when it came', () => {
    const waiting = traceWith(runs['waiting']!);
    const { outcome } = traceWith(designRun);
    expect(rowsOf({ ...waiting, outcome, status: 'cancelled' }).at(-1)?.outcome).toBe(outcome);
    expect(rowsOf({ ...waiting, outcome }).at(-1)?.outcome).toBeNull();
  });

  it('grows the running step and its running bars, and leaves all else alone', () => {
    const trace = traceWith(runs['running']!);
    const later = grown(trace, 1500);
    expect(later.steps[0]).toBe(trace.steps[0]);
    expect(later.steps[1]?.durationMs).toBe(trace.steps[1]!.durationMs + 1500);
    expect(later.steps[1]?.bars.map((b) => b.durationMs)).toEqual([1440, 2460]);
    expect(later.totals.seconds.used).toBeCloseTo(trace.totals.seconds.used + 1.5);
    const still = traceWith(designRun);
    expect(grown(still, 1500)).toBe(still);
  });

  it('knows heights without drawing, and which rows are between two of them', () => {
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

  it('are the model, then each call, in words', () => {
    expect(of('design', 1).map(text)).toEqual([
      'model 1.18 s',
      'enrich_company 5.00 s timeout',
      'search_entities 0.38 s',
    ]);
    expect(of('design', 2).map(text)).toEqual(['429 then waited 2.00 s']);
    expect(of('design', 3).map(text)[1]).toBe('enrich_company 1.84 s · retry 1/3');
    expect(of('design', 4).map(text)[2]).toBe('delete_program_lead 0.22 s · paused 4m 12s');
    expect(of('waiting', 1).map(text)[2]).toBe('delete_program_lead waiting for you');
  });

  it('say in one word that something failed, and all of it on demand', () => {
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

  it('a share that is not all is never 100 %', () => {
    const shares = [997, 3, 500, 1000, 0].map((ms) => shareText(ms, 1000));
    expect(shares).toEqual(['> 99 %', '< 1 %', '50 %', '100 %', '0 %']);
    expect(shareText(0, 0)).toBe('–');
  });

  it('look like what they are', () => {
    const looks = (lanes: readonly Lane[]) => lanes.map(({ pieces }) => pieces.map((p) => p.look));
    expect(looks(of('design', 1))).toEqual([['model'], ['failed'], ['tool']]);
    expect(looks(of('design', 2))).toEqual([['failed', 'backoff']]);
    expect(looks(of('design', 4))).toEqual([['model'], ['tool'], ['paused', 'tool']]);
    expect(looks(of('running', 1))).toEqual([['model'], ['running']]);
    expect(looks(of('waiting', 1))[2]).toEqual(['paused']);
  });

  it('fill the break with the wait, and work right after it', () => {
    const [paused, work] = of('design', 4)[2]!.pieces;
    expect(paused!.to - paused!.from).toBeCloseTo(0.07);
    expect(work!.from).toBeCloseTo(paused!.to);
  });

  it('mark a call that waits its turn behind another', () => {
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
    expect(text(lane)).toBe('b waits its turn');
    expect(lane.pieces.map((p) => p.look)).toEqual(['unused']);
  });
});

describe('facts of a step', () => {
  const facts = (name: string, at: number): string[] =>
    factsOf(traceWith(runs[name]!).steps[at]!).map(({ text, code }) =>
      [text, code].filter(Boolean).join(' '),
    );

  it('say how it ended and what went wrong', () => {
    expect(facts('design', 0)).toEqual(['finish_reason tool_calls', '2 calls']);
    expect(facts('design', 1)).toContain('enrich_company: timeout');
    expect(facts('design', 2)).toEqual([
      'model call failed',
      '429 Too many requests',
      'waited 2.00 s',
    ]);
    expect(facts('long', 2)).toContain('last step kept by StepsLimit');
  });

  it('turn notes into words, each once', () => {
    const step = traceWith(designRun).steps[0]!;
    const notes = ['argsEdited:call_1', 'argsEdited:call_2', 'usageUnknown', 'somethingNew'];
    expect(factsOf({ ...step, notes }).slice(2)).toEqual([
      { text: 'arguments edited by a person' },
      { text: 'usage unknown' },
      { text: 'note', code: 'somethingNew' },
    ]);
  });
});

describe('numbers in words', () => {
  it.each([
    [0, '0 ms'],
    [3.4, '3 ms'],
    [99.4, '99 ms'],
    [99.6, '0.10 s'],
    [310, '0.31 s'],
    [9994, '9.99 s'],
    [9996, '10.0 s'],
    [59_949, '59.9 s'],
    [59_960, '1m 00s'],
    [252_000, '4m 12s'],
    [3_599_600, '1h 00m'],
    [5_000_000, '1h 23m'],
    [172_800_000, '2d 00h'],
  ])('%d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text));

  it('keeps the digits of small sums', () => {
    expect([0, 0.0031, 0.008, 0.1004, 12.4, 1234.5, 0.00001234].map(moneyText)).toEqual([
      '$0.00',
      '$0.0031',
      '$0.0080',
      '$0.1004',
      '$12.40',
      '$1,234.50',
      '$0.0000123',
    ]);
    expect([0.1, 0.005, 100].map(moneyLimitText)).toEqual(['$0.10', '$0.005', '$100.00']);
  });

  it('names the unit of time once where both can share it', () => {
    expect(secondsOfText(17.34, 120)).toEqual(['17.3', '120 s']);
    expect(secondsOfText(0.007, 120)).toEqual(['7 ms', '120 s']);
    expect(secondsOfText(5000, 7200)).toEqual(['1h 23m', '2h']);
    expect(secondsOfText(151, 600)).toEqual(['2m 31s', '10m']);
  });
});
