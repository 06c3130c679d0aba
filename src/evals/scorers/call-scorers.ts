import { invalidOption } from '../../errors/agent-error.ts';
import { timesText } from '../../number-text.ts';
import { callText, shortText, toolsText } from '../call-text.ts';
import type { ExpectedCall } from '../eval-case.ts';
import type { EvalCall } from '../eval-run.ts';
import { fail, pass, skip, type Scorer } from '../score.ts';
import { expectedText, matchesValue } from '../value-match.ts';

/** Arguments to find in a call: values, regular expressions, functions or matchers, at any depth. */
export type ArgsMatch = { readonly [key: string]: unknown } | ((args: EvalCall['args']) => boolean);

export interface CalledToolOptions {
  /** Name in reports. Default `called_` and the tool. */
  readonly name?: string;
  /** Arguments that the call has, among others. Default: any. */
  readonly args?: ArgsMatch;
  /** How often the tool is called, with these arguments. Default: at least once. */
  readonly times?: number;
}

/** Returns the calls of a tool whose arguments match. */
export const matchingCalls = (
  calls: readonly EvalCall[],
  tool: string,
  args?: ArgsMatch,
): readonly EvalCall[] =>
  calls.filter((call) => call.tool === tool && (!args || matchesValue(args, call.args)));

/** Writes an expected call in one line. */
export const wantedText = (tool: string, args?: ArgsMatch): string =>
  args === undefined ? tool : `${tool} with ${shortText(expectedText(args), 300)}`;

/** Passes if the run called a tool. Calls of nested agents count too. */
export function calledTool(tool: string, options: CalledToolOptions = {}): Scorer {
  const { args, times, name = `called_${tool}` } = options;
  if (times !== undefined && !(Number.isInteger(times) && times >= 0))
    throw invalidOption('calledTool times', times, 'a whole number, 0 or more');
  const wanted = wantedText(tool, args);
  return {
    name,
    score({ run: { calls } }) {
      const found = matchingCalls(calls, tool, args);
      const step = found[0]?.step ?? calls.find((call) => call.tool === tool)?.step;
      const at = step !== undefined && { step };
      const isRight = times === undefined ? found.length > 0 : found.length === times;
      const count = found.length === 0 ? 'not called' : `called ${timesText(found.length)}`;
      if (isRight) return pass(`${wanted} was ${count}`, { ...at });
      const other = calls.find((call) => call.tool === tool && !found.includes(call));
      const seen =
        other === undefined
          ? `The run called ${toolsText(calls)}`
          : `It was called with other arguments: ${callText(other)}`;
      const expected = times === undefined ? '' : ` ${timesText(times)}`;
      return fail(`Expected ${wanted}${expected}. It was ${count}. ${seen}.`, { ...at });
    },
  };
}

/** Passes if the run did not call a tool. */
export const didNotCallTool = (
  tool: string,
  { name = `no_${tool}` }: { readonly name?: string } = {},
): Scorer => ({
  name,
  score({ run: { calls } }) {
    const [found] = matchingCalls(calls, tool);
    return found === undefined
      ? pass(`${tool} was not called`)
      : fail(`Expected no call of ${tool}. It was called: ${callText(found)}.`, {
          step: found.step,
        });
  },
});

export interface CalledToolsOptions {
  /** Name in reports. Default `tool_calls`. */
  readonly name?: string;
  /**
   * `exact`: these calls and no others, in this order. `in_order`: these among others, in this order. `any`: these among
   * others. Default `in_order`.
   */
  readonly order?: 'exact' | 'in_order' | 'any';
}

/** Passes if the run made these calls. Without a list it reads `expected.calls` of the case. */
export function calledTools(
  wanted?: readonly (string | ExpectedCall)[] | null,
  { name = 'tool_calls', order = 'in_order' }: CalledToolsOptions = {},
): Scorer {
  const given = wanted?.map((one) => (typeof one === 'string' ? { tool: one } : one));
  return {
    name,
    score({ run, case: { expected } }) {
      const list = given ?? expected?.calls;
      if (!list) return skip('the case expects no calls');
      const problem = problemIn(list, run.calls, order);
      if (problem === null) return pass(`The run called ${toolsText(run.calls)}.`);
      const { text, step } = problem;
      return fail(`${text} The run called ${toolsText(run.calls)}.`, {
        ...(step !== undefined && { step }),
      });
    },
  };
}

interface CallProblem {
  readonly text: string;
  readonly step?: number | undefined;
}

function problemIn(
  wanted: readonly ExpectedCall[],
  calls: readonly EvalCall[],
  order: NonNullable<CalledToolsOptions['order']>,
): CallProblem | null {
  const open = new Set(calls.keys());
  let after = -1;
  for (const [i, { tool, args }] of wanted.entries()) {
    const at = order === 'exact' ? (open.has(i) ? [i] : []) : [...open];
    const found = at.find((index) => {
      const call = calls[index];
      if (!call || (order === 'in_order' && index <= after)) return false;
      return call.tool === tool && (!args || matchesValue(args, call.args));
    });
    if (found === undefined) {
      const seen = order === 'exact' ? calls[i] : calls.find((call) => call.tool === tool);
      const got = seen === undefined ? '' : ` It got ${callText(seen)}.`;
      return { text: `Expected call ${i + 1}: ${wantedText(tool, args)}.${got}`, step: seen?.step };
    }
    open.delete(found);
    after = found;
  }
  const [extra] = [...open].flatMap((index) => calls[index] ?? []);
  return order === 'exact' && extra
    ? { text: `Expected no further call. It got ${callText(extra)}.`, step: extra.step }
    : null;
}

/** Passes if no tool failed, timed out or was blocked. `except` names tools that may fail. */
export const noFailedTools = ({
  name = 'no_failed_tools',
  except = [],
}: { readonly name?: string; readonly except?: readonly string[] } = {}): Scorer => ({
  name,
  score({ run: { calls } }) {
    const first = calls.find(
      ({ kind, tool }) =>
        (kind === 'error' || kind === 'timeout' || kind === 'blocked') && !except.includes(tool),
    );
    if (!first) return pass('no tool failed');
    const why = first.error === null ? first.kind : shortText(first.error, 300);
    return fail(`${callText(first)} failed in step ${first.step}: ${why}`, { step: first.step });
  },
});
