import { AgentBuilder, AgentState } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { agentWith, approve, gated, kinds } from './setup/approvals.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('resuming in another process', () => {
  it('D33: works from the JSON document with a new agent object', async () => {
    const steps: string[] = [];
    const make = (script: readonly ScenarioStep[]) =>
      AgentBuilder.base()
        .withName('bank')
        .withSystemPrompt('You are a bank.')
        .withDriver(DeterministicDriver.fromSteps(...script))
        .withTools(
          mockTool('look', () => {
            steps.push('look');
            return 'seen';
          }),
          mockTool(
            'pay',
            () => {
              steps.push('pay');
              return 'paid';
            },
            { needsApproval: true },
          ),
        )
        .build();
    const first = make([toolCall('look'), toolCalls([{ name: 'look' }, { name: 'pay' }])]);
    const json = JSON.stringify(await first.run('go'));
    expect(steps).toEqual(['look', 'look']);
    const second = make([final('done')]);
    const paused = AgentState.from(JSON.parse(json));
    expect(paused.steps.length).toBe(1);
    const [pending] = paused.pendingApprovals;
    const state = await second.resume(JSON.parse(json) as never, {
      approvals: { [pending!.callId]: approve },
    });
    expect(steps).toEqual(['look', 'look', 'pay']);
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 3 });
    expect(kinds(state, 1)).toEqual(['ok', 'ok']);
    await takesAnotherTurn(state);
  });

  it('D21, D24, D32: keeps earlier steps, runs nothing twice and duplicates no message', async () => {
    const look = mockTool('look', 'seen');
    const pay = gated();
    const script = [
      toolCall('look'),
      toolCall('look'),
      toolCalls([{ name: 'look' }, { name: 'pay' }]),
    ];
    const paused = stored(await agentWith(script, look, pay).run('go'));
    expect(paused.steps.length).toBe(2);
    expect(paused.currentStep).toMatchObject({ number: 3, results: [{ value: 'seen' }] });
    const before = paused.messages.toJSON();
    const state = await agentWith([final('done')], look, pay).resume(paused, {
      approvals: { call_4: approve },
    });
    expect(look.calls).toHaveLength(3);
    expect(pay.calls).toHaveLength(1);
    const after = state.messages.toJSON();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
    const owners = after.flatMap(({ toolCalls: calls }) => calls.map(({ id }) => id));
    expect(owners).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
    expect(state.steps.at(2)!.messageIds).toEqual(after.slice(5, 8).map(({ id }) => id));
    await takesAnotherTurn(state);
  });

  it('does not count the wait for the approver as working time', async () => {
    const clock = fakeClock();
    const pay = gated(
      'pay',
      () => new Promise((resolve) => clock.after(3000, () => resolve('paid'))),
    );
    const make = (...script: ScenarioStep[]) =>
      AgentBuilder.base()
        .withDriver(DeterministicDriver.create(script, { clock }))
        .withTools(pay)
        .withClock(clock)
        .build();
    const running = make(toolCall('pay', {}, '', { delayMs: 5000 })).run('go');
    await clock.advance(5000);
    const paused = await running;
    clock.jump(3_600_000);
    const resumed = make(final('done')).resume(stored(paused), { approvals: { call_1: approve } });
    await clock.advance(3000);
    const state = await resumed;
    expect(state.execution.cumulativeSeconds).toBe(8);
    expect(state.steps.at(0)!.durationMs).toBe(8000);
    expect(state.output).toBe('done');
  });
});
