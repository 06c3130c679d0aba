import { describe, expect, it } from 'vitest';
import { errorRecord } from '../../test/setup/run-view.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { contextOf, countFailures, countsIn, needsCounts, worstError } from './retry-account.ts';
import type { CountedStep, Failures } from './retry-account.ts';

const tools = [
  { name: 'shared' },
  { name: 'own', maxRetries: 1 },
  { name: 'fatal', onError: 'stop' },
  { name: 'loose', onError: 'ignore' },
  { name: 'eager', onError: 'retry' },
] as const;
const policy = ErrorPolicy.production().withMaxRetries({ model: 1, tool: 2 }).forTools(tools);

/** A step: tools that failed, `+tool` for a success, or one of the words below. */
type Step = string;

function stepOf(text: Step): CountedStep {
  const step = { toolCalls: [], results: [], errors: [] };
  if (text === 'model') return { ...step, type: 'error', errors: [errorRecord({ type: 'model' })] };
  if (text === 'cut') return { ...step, type: 'cut', errors: [errorRecord()] };
  if (text === 'format')
    return { ...step, type: 'final', errors: [errorRecord({ type: 'validation' })] };
  if (text === 'answer') return { ...step, type: 'final' };
  const names = text.split(' ');
  return {
    type: 'tool_calls',
    toolCalls: names.map((name) => ({ name: name.replace(/^\+|\?$/g, '') })),
    results: names.map((name) => ({ kind: name.startsWith('+') ? 'ok' : 'error' })),
    errors: names.flatMap((name): ErrorRecord[] => {
      if (name.startsWith('+')) return [];
      if (!name.endsWith('?')) return [errorRecord({ toolName: name })];
      return [
        errorRecord({ type: 'unknown', code: 'effect_unknown', toolName: name.slice(0, -1) }),
      ];
    }),
  };
}

const start: Failures = {
  modelFailures: 0,
  toolFailures: 0,
  consecutiveFailures: 0,
  totalFailures: 0,
};

/** Formats the counts after a step, and the decision: `model tool own newest total decision`. */
function rowsOf(steps: readonly Step[]): string[] {
  let failures = start;
  return steps.map((text) => {
    const step = stepOf(text);
    failures = countFailures(failures, step, policy);
    const { modelFailures, toolFailures, failingTools = [], totalFailures } = failures;
    const own = failingTools.find(({ tool }) => tool === 'own')?.failures ?? 0;
    const worst = step.type === 'cut' ? undefined : worstError(step, failures, policy);
    const context = worst && contextOf(worst, step, failures, totalFailures, policy);
    if (context) expect(context.consecutiveFailures).toBe(failures.consecutiveFailures);
    const decision = context ? `${policy.evaluate(context)} ${worst?.toolName ?? '-'}` : 'none';
    return `${text}: ${modelFailures} ${toolFailures} ${own} ${failures.consecutiveFailures} ${totalFailures} ${decision}`;
  });
}

describe('the count of failures: model tool own newest total decision', () => {
  it.each<[string, string[]]>([
    [
      'an answer resets the model count, also one with errors',
      ['model: 1 0 0 1 1 retry -', 'shared: 0 1 0 1 2 retry shared', 'model: 1 1 0 1 3 retry -'],
    ],
    [
      'only an answered step without errors resets the tool count',
      [
        'shared: 0 1 0 1 1 retry shared',
        'model: 1 1 0 1 2 retry -',
        'shared: 0 2 0 2 3 retry shared',
        '+shared: 0 0 0 0 3 none',
        'shared: 0 1 0 1 4 retry shared',
      ],
    ],
    ['one retry of a model call', ['model: 1 0 0 1 1 retry -', 'model: 2 0 0 2 2 stop -']],
    [
      'a format mismatch counts as an answered step with an error',
      [
        'format: 0 1 0 1 1 retry -',
        'shared: 0 2 0 2 2 retry shared',
        'format: 0 3 0 3 3 stop -',
        'answer: 0 0 0 0 3 none',
      ],
    ],
    [
      'a tool with its own limit has its own count, which other steps leave as it is',
      [
        'own: 0 0 1 1 1 retry own',
        'model: 1 0 1 1 2 retry -',
        '+shared: 0 0 1 0 2 none',
        'shared: 0 1 1 1 3 retry shared',
        'own: 0 1 2 2 4 stop own',
      ],
    ],
    [
      'a success of the tool resets its own count',
      [
        'own: 0 0 1 1 1 retry own',
        '+own: 0 0 0 0 1 none',
        'own: 0 0 1 1 2 retry own',
        'own +own: 0 0 2 2 3 stop own',
      ],
    ],
    [
      'of several errors the strictest decision counts, then the first',
      [
        'shared eager: 0 1 0 1 1 retry shared',
        'loose shared: 0 2 0 2 2 retry shared',
        'shared own: 0 3 1 3 3 stop shared',
        'own fatal: 0 4 2 4 4 stop fatal',
      ],
    ],
    [
      'ignored errors neither raise nor reset',
      [
        'shared: 0 1 0 1 1 retry shared',
        'loose: 0 1 0 1 1 ignore loose',
        'loose +shared: 0 1 0 1 1 ignore loose',
      ],
    ],
    ['interrupted steps change nothing', ['shared: 0 1 0 1 1 retry shared', 'cut: 0 1 0 1 1 none']],
    [
      'the policy handles an unknown effect, unless the tool stops',
      ['eager?: 0 1 0 1 1 stop eager', 'own?: 0 2 0 2 2 stop own', 'loose?: 0 3 0 3 3 stop loose'],
    ],
  ])('%s', (_rule, rows) => {
    expect(rowsOf(rows.map((row) => row.split(':')[0] ?? ''))).toEqual(rows);
  });

  it.each([
    ['error', { modelFailures: 2, toolFailures: 0 }],
    ['tool_calls', { modelFailures: 0, toolFailures: 2 }],
    ['final', { modelFailures: 0, toolFailures: 2 }],
    [undefined, { modelFailures: 0, toolFailures: 2 }],
  ] as const)('one count of an earlier release after a step of type %s', (type, counts) => {
    expect(countsIn({ consecutiveFailures: 2 }, type)).toEqual(counts);
    expect(countsIn({ consecutiveFailures: 2, modelFailures: 1, toolFailures: 1 }, type)).toEqual({
      modelFailures: 1,
      toolFailures: 1,
    });
  });

  it.each([
    [0, 0, false],
    [3, 0, false],
    [0, 3, false],
    [1, 1, true],
  ])('%d model and %d tool failures need both counts: %s', (model, tool, needed) => {
    const counts = { modelFailures: model, toolFailures: tool };
    expect(needsCounts(counts)).toBe(needed);
    expect(needsCounts({ ...counts, failingTools: [{ tool: 'own', failures: 1 }] })).toBe(true);
  });
});
