import { AgentBuilder, type AgentEvent, type Tool } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';

/** What begins after the abort: hooks that are entered, and calls that listeners are told of. */
async function lateIn(
  controller: AbortController,
  calls: readonly string[],
  tools: readonly Tool[],
  onEvent: (event: AgentEvent) => void = () => {},
) {
  const late: string[] = [];
  const isLate = (): boolean => controller.signal.aborted;
  const agent = AgentBuilder.base()
    .withDriver(
      DeterministicDriver.fromSteps(ScenarioStep.toolCalls(calls.map((name) => ({ name })))),
    )
    .withTools(...tools)
    .withHooks({
      name: 'watch',
      aroundToolCall: (input, next) => {
        if (isLate()) late.push(`hook ${input.tool}`);
        return next(input);
      },
    })
    .build();
  const state = await agent.run('go', {
    signal: controller.signal,
    wiretap: (event) => {
      if (isLate() && event.type === 'ToolCallStarted') late.push(`told ${event.tool}`);
      onEvent(event);
    },
  });
  expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
  await takesAnotherTurn(state);
  return late;
}

describe('D50: after an abort no hook is entered for a call', () => {
  it.each(Array.from({ length: 12 }, (_, moments) => moments))(
    'where the abort of a call beside it comes %i moments after its check',
    async (moments) => {
      const controller = new AbortController();
      let decide: (isNeeded: boolean) => void = () => {};
      const decided = new Promise<boolean>((resolve) => {
        decide = resolve;
      });
      const first = mockTool('first', async () => {
        decide(false);
        for (let i = 0; i < moments; i++) await Promise.resolve();
        controller.abort('enough');
        return never;
      });
      const second = mockTool('second', 'done', { needsApproval: () => decided });
      expect(await lateIn(controller, ['first', 'second'], [first, second])).toEqual([]);
    },
  );

  it.each([[['checked']], [['checked', 'checked']]])(
    'where the check of its arguments aborts: %j',
    async (calls) => {
      const controller = new AbortController();
      const checked = mockTool('checked', 'done', {
        jsonSchema: { type: 'object' },
        parameters: {
          '~standard': {
            vendor: 'own',
            validate: (value: unknown) => {
              controller.abort('enough');
              return { value };
            },
          },
        },
      });
      expect(await lateIn(controller, calls, [checked])).toEqual([]);
      expect(checked.calls).toEqual([]);
    },
  );

  it('where a listener aborts at its start', async () => {
    const controller = new AbortController();
    const stock = mockTool('stock');
    const late = await lateIn(controller, ['stock'], [stock], ({ type }) => {
      if (type === 'ToolCallStarted') controller.abort('enough');
    });
    expect(late).toEqual([]);
    expect(stock.calls).toEqual([]);
  });
});
