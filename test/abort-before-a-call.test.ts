import { AgentBuilder, type AgentEvent, type Tool } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { never } from './setup/abort-trap.ts';
import { takesAnotherTurn } from './setup/states.ts';

/** Collects what starts after the abort: entered hooks and emitted `ToolCallStarted` events. */
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
      if (isLate() && event.type === 'ToolCallStarted') late.push(`event ${event.tool}`);
      onEvent(event);
    },
  });
  expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
  await takesAnotherTurn(state);
  return late;
}

describe('D50: after an abort no hook runs for a tool call', () => {
  it.each(Array.from({ length: 12 }, (_, moments) => moments))(
    'when a parallel call aborts %i microtasks after its approval check',
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
    'when argument validation aborts: %j',
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

  it('when a listener aborts on ToolCallStarted', async () => {
    const controller = new AbortController();
    const stock = mockTool('stock');
    const late = await lateIn(controller, ['stock'], [stock], ({ type }) => {
      if (type === 'ToolCallStarted') controller.abort('enough');
    });
    expect(late).toEqual([]);
    expect(stock.calls).toEqual([]);
  });
});
