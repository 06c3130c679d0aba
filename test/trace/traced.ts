import { expect } from 'vitest';
import { traceOf, type TraceRecords } from '../../src/trace/trace-of.ts';
import type { Trace, TraceStep } from '../../src/trace/trace.ts';
import { records } from './records.ts';

/** Bars as name, position in the step, duration and state. */
export const bars = ({ at, bars: all }: TraceStep): unknown[] =>
  all.map((bar) => [bar.name, bar.at - at, bar.durationMs, bar.state]);

/** Checks that steps follow each other and that no bar exceeds its step. */
function isSound(trace: Trace): Trace {
  let end = 0;
  for (const { at, durationMs, waitMs, bars: all } of trace.steps) {
    expect(at).toBeGreaterThanOrEqual(end - 0.001);
    for (const bar of all) {
      expect(bar.at).toBeGreaterThanOrEqual(at);
      expect(bar.durationMs).toBeGreaterThanOrEqual(0);
      expect(bar.at + bar.durationMs).toBeLessThanOrEqual(at + durationMs + 0.001);
    }
    end = at + durationMs + waitMs;
  }
  return trace;
}

export const traced = (more: Partial<TraceRecords>): Trace => isSound(traceOf(records(more)));
