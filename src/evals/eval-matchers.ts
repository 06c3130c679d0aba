import { AgentState } from '../agent/agent-state.ts';
import { AgentError, positive, show } from '../errors/agent-error.ts';
import { exactMoneyText, moneyText, timesText } from '../number-text.ts';
import { isRecord } from '../json.ts';
import { visibleLines } from '../visible-text.ts';
import { excerpt } from '../errors/excerpt.ts';
import { callLines } from './call-text.ts';
import type { EvalRun } from './eval-run.ts';
import { evalRunOf } from './eval-run-of.ts';
import { matchingCalls, wantedText, type ArgsMatch } from './scorers/call-scorers.ts';
import { costMeasure } from './scorers/limit-scorers.ts';
import { endOf, type EndReason } from './scorers/stop-scorer.ts';

/** Result of a matcher, as vitest and jest read it. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

const linked = new WeakMap<object, EvalRun>();

/** Lets matchers and judges find the run behind an object that an adapter made from it. */
export function linkRun<T extends object>(object: T, run: EvalRun): T {
  linked.set(object, run);
  return object;
}

/** Returns the run behind an object of an adapter; undefined if it has none. */
export const linkedRun = (object: unknown): EvalRun | undefined =>
  typeof object === 'object' && object !== null ? linked.get(object) : undefined;

function runOf(matcher: string, received: unknown): EvalRun {
  const run = linkedRun(received);
  if (run) return run;
  if (isRecord(received) && received['trace'] && Array.isArray(received['calls']))
    return received as unknown as EvalRun; // the fields of a run
  if (received instanceof AgentState || (isRecord(received) && isRecord(received['execution'])))
    return evalRunOf(received as AgentState); // checked by AgentState.from
  throw new AgentError(
    'invalid_option',
    `${matcher} got ${show(received)}, expected a state, such as that of agent.run(...), or a run of a harness.`,
  );
}

/**
 * Matchers for `expect.extend`. Import `onward/evals/vitest` to add them to vitest, with their types.
 */
export const evalMatchers: {
  toHaveCalledTool(
    received: unknown,
    tool: string,
    args?: ArgsMatch,
    options?: { readonly times?: number },
  ): MatcherResult;
  toHaveStoppedBecause(received: unknown, reason: EndReason): MatcherResult;
  toCostLessThan(received: unknown, dollars: number): MatcherResult;
} = {
  toHaveCalledTool(received, tool, args, { times } = {}) {
    const { calls } = runOf('toHaveCalledTool', received);
    const found = matchingCalls(calls, tool, args);
    const isRight = times === undefined ? found.length > 0 : found.length === times;
    const wanted = `${wantedText(tool, args)}${times === undefined ? '' : ` ${timesText(times)}`}`;
    return {
      pass: isRight,
      message: () =>
        [
          isRight
            ? `expected the run not to call ${wanted}`
            : `expected the run to call ${wanted}, and it was called ${found.length === 0 ? 'never' : timesText(found.length)}`,
          'calls:',
          ...callLines(calls),
        ].join('\n'),
    };
  },
  toHaveStoppedBecause(received, reason) {
    const run = runOf('toHaveStoppedBecause', received);
    const seen = endOf(run);
    const isRight = seen === reason;
    return {
      pass: isRight,
      message: () =>
        [
          isRight
            ? `expected the run not to stop because of ${reason}`
            : `expected the run to stop because of ${reason}, and it was ${seen}`,
          visibleLines(excerpt(run.explanation, 2_000)),
        ].join('\n'),
    };
  },
  toCostLessThan(received, dollars) {
    positive('toCostLessThan', dollars);
    const run = runOf('toCostLessThan', received);
    const { cost, stepCount, usage } = run;
    const isRight = cost !== null && cost < dollars;
    const used = `${stepCount} steps, ${usage.input} input and ${usage.output} output tokens`;
    return {
      pass: isRight,
      message: () =>
        cost === null
          ? `expected the run to cost less than ${exactMoneyText(dollars)}. ${costMeasure.unknown}`
          : `expected the run ${isRight ? 'not ' : ''}to cost less than ${exactMoneyText(dollars)}, and it cost ${moneyText(cost)} (${used})`,
    };
  },
};
