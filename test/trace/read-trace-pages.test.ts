import type { SessionRuntime } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { readTrace, type Trace } from '../../src/trace/index.ts';
import {
  ann,
  builderWith,
  codeOf,
  followingDriver,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';
import { traceOn } from './sound-trace.ts';

const { toolCall, final } = ScenarioStep;

describe.each(places)('pages and executions in %s', (_name, placed) => {
  const LONG = 130;
  const turns = (long: number) =>
    followingDriver(
      [final('one')],
      [...Array.from({ length: long - 1 }, (_, i) => toolCall('look', { i })), final('two')],
      [final('three')],
    );

  async function reported(long: number = 3): Promise<SessionRuntime> {
    const agent = builderWith(turns(long), mockTool('look', 'seen')).withMaxSteps(1_000).build();
    const runtime = runtimeOn(placed().open(), agent, { maxMessages: 1_000 });
    await runtime.create({ ...ann, id: 's' });
    for (const executionId of ['a', 'b', 'c'])
      await runtime.send('s', 'go', { ...waiting, executionId });
    return runtime;
  }

  it('shows the newest execution, lists all, and pages through an older one', async () => {
    const runtime = await reported(LONG);
    const newest = await traceOn(runtime);
    expect(newest.executionId).toBe('c');
    expect(newest.executions.map(({ id, stepCount }) => [id, stepCount])).toEqual([
      ['a', 1],
      ['b', LONG],
      ['c', 1],
    ]);
    const last = await traceOn(runtime, { executionId: 'b', limit: 50 });
    expect(last).toMatchObject({ status: 'completed', hasEarlier: true, executionId: 'b' });
    const numbers = ({ steps }: Trace) => steps.map(({ number }) => number);
    expect(numbers(last)).toEqual(Array.from({ length: 50 }, (_, i) => LONG - 49 + i));
    const pages: number[] = [];
    let before: number | undefined;
    let end = Number.POSITIVE_INFINITY;
    do {
      const page = await readTrace(runtime, 's', {
        ...ann,
        executionId: 'b',
        limit: 50,
        ...(before !== undefined && { before }),
      });
      expect(page).toMatchObject({ status: 'completed', totals: { steps: { used: LONG } } });
      const tail = page.steps.at(-1)!;
      // all pages share one time axis
      expect(tail.at + tail.durationMs).toBeLessThanOrEqual(end + 0.01);
      end = page.steps[0]!.at;
      pages.unshift(...numbers(page));
      before = page.steps[0]!.number;
      if (!page.hasEarlier) break;
    } while (pages.length < 1_000);
    expect(pages).toEqual(Array.from({ length: LONG }, (_, i) => i + 1));
    expect(end).toBeLessThan(0.01);
  });

  it('uses the log of the page: tools start after their model call', async () => {
    const runtime = await reported(60);
    const { events } = await runtime.events('s', { ...ann, executionId: 'b', limit: 500 });
    const starts = new Map(
      events.flatMap(({ event }) =>
        event.type === 'ToolCallStarted' ? [[event.toolCallId, Date.parse(event.at)]] : [],
      ),
    );
    const trace = await readTrace(runtime, 's', { ...ann, executionId: 'b', before: 40, limit: 9 });
    expect(trace.steps.map(({ number }) => number)).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39]);
    for (const { startedAt, at, durationMs, bars } of trace.steps) {
      const [model, tool] = bars;
      // the log has whole milliseconds
      const started = starts.get(tool!.callId!)! - Date.parse(startedAt);
      const expected = Math.min(started, durationMs - tool!.durationMs);
      expect(model!.durationMs).toBeCloseTo(expected, 3);
      expect(tool!.at - at).toBeCloseTo(expected, 3);
    }
  });

  it('rejects an unknown execution and an invalid page', async () => {
    const runtime = await reported();
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, executionId: 'x' }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, limit: 0 }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { ...ann, before: -1 }))).toBe(
      'invalid_option',
    );
    expect(await codeOf(() => readTrace(runtime, 's', { owner: 'bob' }))).toBe('session_not_found');
  });

  it('is built from the steps if the log was pruned', async () => {
    const runtime = await reported();
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    const trace = await traceOn(runtime);
    expect(trace).toMatchObject({ executionId: 'c', status: 'completed', steps: [{ number: 1 }] });
    expect(trace.executions.map(({ id }) => id)).toEqual(['c']);
  });
});
