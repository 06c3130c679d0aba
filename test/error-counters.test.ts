import { AgentState, ErrorPolicy } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, limited, policyEvaluation, setUp } from './setup/error-policy.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('D57: failure counters in the state', () => {
  const script = {
    ok: toolCall('ok'),
    tool: toolCall('breaks'),
    validation: toolCall('strict', { page: 'one' }),
    unknownTool: toolCall('no_such_tool'),
    model: limited(),
    both: toolCalls([{ name: 'breaks' }, { name: 'strict', args: {} }]),
    two: toolCalls([{ name: 'breaks' }, { name: 'breaks' }]),
    done: final('done'),
  };
  type Kind = keyof typeof script;
  const policy = at(ErrorPolicy.retryAll(9).withHandling('validation', 'ignore'));

  it.each<[string, [Kind, consecutive: number, total: number][]]>([
    [
      'a clean step resets the consecutive count and keeps the total',
      [
        ['tool', 1, 1],
        ['tool', 2, 2],
        ['ok', 0, 2],
        ['tool', 1, 3],
        ['done', 0, 3],
      ],
    ],
    [
      'model and tool failures are counted apart, and the count is that of the newest error',
      [
        ['tool', 1, 1],
        ['model', 1, 2],
        ['model', 2, 3],
        ['tool', 2, 4],
        ['model', 1, 5],
        ['done', 0, 5],
      ],
    ],
    [
      'ignored errors neither increase nor reset the counters',
      [
        ['validation', 0, 0],
        ['tool', 1, 1],
        ['validation', 1, 1],
        ['unknownTool', 1, 1],
        ['tool', 2, 2],
        ['done', 0, 2],
      ],
    ],
    [
      'a step with several failed calls counts as one failure',
      [
        ['two', 1, 1],
        ['both', 2, 2],
        ['done', 0, 2],
      ],
    ],
  ])('%s', async (_rule, rows) => {
    for (const stored of [false, true]) {
      const { builder } = setUp(
        rows.map(([kind]) => script[kind]),
        policy,
      );
      const agent = builder.build();
      const seen: [string, number, number][] = [];
      let state = AgentState.empty().withUserMessage('go');
      for (const [kind] of rows) {
        state = await agent.nextStep(
          stored ? AgentState.from(JSON.parse(JSON.stringify(state))) : state,
        );
        seen.push([kind, state.execution.consecutiveFailures, state.execution.totalFailures]);
      }
      expect(seen).toEqual(rows);
      expect(state.status).toBe('completed');
    }
  });

  it('a new execution counts from zero', async () => {
    const { builder } = setUp(
      [toolCall('breaks'), toolCall('breaks')],
      ErrorPolicy.stopOnAnyError(),
    );
    const agent = builder.build();
    const first = await agent.run('go');
    const second = await agent.run(first.withUserMessage('again'));
    expect(second.execution).toMatchObject({ consecutiveFailures: 1, totalFailures: 1 });
  });

  it('D60: alternating model errors and successes never reach the retry limit', async () => {
    const blips = Array.from({ length: 10 }, () => [limited(), toolCall('ok')]).flat();
    const { builder } = setUp([...blips, final('done')], at(ErrorPolicy.retryAll(2)));
    const state = await builder.build().run('go');
    expect(state).toMatchObject({ stopReason: 'completed', stepCount: 21 });
    expect(state.execution).toMatchObject({ consecutiveFailures: 0, totalFailures: 10 });
  });

  it('D60: alternating tool errors and successes never reach the retry limit', async () => {
    const blips = Array.from({ length: 9 }, () => [toolCall('breaks'), toolCall('ok')]).flat();
    const { builder } = setUp([...blips, final('done')], ErrorPolicy.retryToolErrors(1));
    const state = await builder.build().run('go');
    expect(state.stopReason).toBe('completed');
    expect(state.execution.totalFailures).toBe(9);
  });

  it('the trace numbers the retries (1/3), (2/3), (3/3), then the run ends with retry_limit', async () => {
    const { builder } = setUp(Array(4).fill(toolCall('breaks')), ErrorPolicy.retryToolErrors(3));
    const state = await builder.build().run('go');
    expect([...state.steps].map((step) => policyEvaluation(step)?.reason)).toEqual([
      'tool error in breaks, retrying (1/3)',
      'tool error in breaks, retrying (2/3)',
      'tool error in breaks, retrying (3/3)',
      'tool error in breaks (the index is offline), tried again 3 of 3 times',
    ]);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
  });
});
