import { AgentBuilder, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { asTool, ask } from './setup/nested-agents.ts';
import { takesAnotherTurn } from './setup/states.ts';
import type { PrepareStep } from '../src/agent/prepare-step.ts';

const { toolCall } = ScenarioStep;

/** A prepareStep that never returns, and notes the reason of its signal. */
function hanging() {
  const reasons: unknown[] = [];
  const prepareStep: PrepareStep<never> = ({ signal }) =>
    new Promise(() => {
      signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message));
    });
  return { prepareStep, reasons };
}

const builder = (prepareStep: PrepareStep<never>): AgentBuilder<{}, string, 'agent', never> =>
  AgentBuilder.base().withModel(DeterministicDriver.fromResponses()).withPrepareStep(prepareStep);

describe('a prepareStep that hangs', () => {
  it('an abort ends the step at once, as an interrupted one', async () => {
    const { prepareStep, reasons } = hanging();
    const controller = new AbortController();
    const events: AgentEvent[] = [];
    const running = builder(prepareStep)
      .build()
      .run('go', { signal: controller.signal, wiretap: (e) => events.push(e) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort('enough');
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(state.steps.toJSON()).toMatchObject([{ type: 'cut', errors: [] }]);
    expect(reasons).toEqual(['enough']);
    expect(events.map(({ type }) => type)).toContain('AgentStepStarted');
    await takesAnotherTurn(state);
  });

  it('the deadline ends the step at once', async () => {
    const clock = fakeClock();
    const { prepareStep, reasons } = hanging();
    const running = builder(prepareStep)
      .withClock(clock)
      .withTimeout({ seconds: 10 })
      .build()
      .run('go');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(reasons).toEqual(['The time limit was reached.']);
  });

  it('in a nested agent does not keep other agents waiting', async () => {
    const { prepareStep } = hanging();
    const stuck = builder(prepareStep).withName('stuck').build();
    const quick = AgentBuilder.base()
      .withName('quick')
      .withModel(DeterministicDriver.fromResponses('quick'))
      .build();
    const controller = new AbortController();
    const root = AgentBuilder.base()
      .withModel(
        DeterministicDriver.fromSteps(
          ScenarioStep.toolCalls([
            { name: 'stuck', args: ask },
            { name: 'quick', args: ask },
          ]),
        ),
      )
      .withMaxFamilySteps(3)
      .withTools(asTool(stuck, 'stuck'), asTool(quick, 'quick'))
      .build();
    const state = await root.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type === 'ToolCallCompleted' && e.tool === 'quick') controller.abort();
      },
    });
    expect(state.steps.at(0)?.results).toMatchObject([{ kind: 'aborted' }, { kind: 'ok' }]);
  });

  it('a signal that is aborted before keeps it from being asked', async () => {
    let asked = 0;
    const agent = builder(() => {
      asked += 1;
      return undefined;
    })
      .withTools(mockTool('find'))
      .build();
    const state = await agent.run('go', { signal: AbortSignal.abort('no') });
    expect(asked).toBe(0);
    expect(state.stopReason).toBe('user_requested');
  });
});

it('an answer of a prepareStep that comes after the abort changes nothing', async () => {
  const controller = new AbortController();
  const model = DeterministicDriver.fromSteps(toolCall('find'));
  const agent = builder(() => {
    controller.abort('enough');
    return { model };
  }).build();
  const state = await agent.run('go', { signal: controller.signal });
  expect(state.stopReason).toBe('user_requested');
  expect(model.requests).toEqual([]);
});
