import { expect } from 'vitest';
import { evalMatchers } from '../eval-matchers.ts';
import type { ArgsMatch } from '../scorers/call-scorers.ts';
import type { EndReason } from '../scorers/stop-scorer.ts';

/** The matchers of `onward/evals`, on runs of a harness and on states. */
export interface EvalMatchers<R = unknown> {
  /** Whether the run called a tool, with these arguments among others. Calls of nested agents count too. */
  toHaveCalledTool(tool: string, args?: ArgsMatch, options?: { readonly times?: number }): R;
  /** Whether the run stopped for this reason; `paused` if it waits. */
  toHaveStoppedBecause(reason: EndReason): R;
  /** Whether the run cost less than this many dollars. Fails if the price of a model is unknown. */
  toCostLessThan(dollars: number): R;
}

declare module 'vitest' {
  // eslint-disable-next-line
  interface Matchers<T = any> extends EvalMatchers<T> {}
}

// importing this module is how a test or a setup file adds the matchers
expect.extend(evalMatchers);
