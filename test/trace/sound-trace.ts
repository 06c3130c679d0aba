import type { SessionRuntime } from 'onward';
import { expect } from 'vitest';
import { readTrace, type Trace } from '../../src/trace/index.ts';
import { ann } from '../setup/sessions.ts';

/** Checks the invariants of every trace. */
function isSound(trace: Trace): Trace {
  let end = trace.steps[0]?.at ?? 0;
  let number = trace.steps[0]?.number ?? 1;
  for (const step of trace.steps) {
    expect(step.number).toBe(number++);
    expect(step.at).toBeGreaterThanOrEqual(end - 0.01);
    end = step.at + step.durationMs;
    for (const bar of step.bars) {
      expect(bar.at).toBeGreaterThanOrEqual(step.at - 0.01);
      expect(bar.at + bar.durationMs).toBeLessThanOrEqual(end + 0.01);
    }
  }
  const { seconds } = trace.totals;
  expect(Math.abs(end / 1000 - seconds.used)).toBeLessThan(0.02);
  return trace;
}

/** Reads the trace of session `s` and checks it. */
export const traceOn = async (runtime: SessionRuntime, options = {}): Promise<Trace> =>
  isSound(await readTrace(runtime, 's', { ...ann, ...options }));
