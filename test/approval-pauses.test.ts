import { AgentBuilder, defineTool } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { agentWith, approve, gated, kinds } from './setup/approvals.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';
import { pastDeadline } from './setup/time.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('a pause is overridden by', () => {
  const never = new Promise(() => {});
  const both = toolCalls([{ name: 'pay' }, { name: 'other' }]);

  it('an abort', async () => {
    const controller = new AbortController();
    const pay = gated();
    const other = mockTool('other', () => {
      controller.abort('enough');
      return never;
    });
    const state = await agentWith([both], pay, other).run('go', { signal: controller.signal });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', pause: null });
    expect(kinds(state)).toEqual(['aborted', 'aborted']);
    await takesAnotherTurn(state);
  });

  it('a stop request from a tool', async () => {
    const other = defineTool({
      name: 'other',
      description: 'Stops.',
      execute: (_args, { requestStop }) => {
        requestStop('limit of the customer');
        return 'ok';
      },
    });
    const state = await agentWith([both], gated(), other).run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard', pause: null });
    expect(state.steps.at(0)!.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['aborted', 'Not finished: limit of the customer.'],
      ['ok', 'ok'],
    ]);
    await takesAnotherTurn(state);
  });

  it('the deadline', async () => {
    const other = mockTool('other', () => never);
    const { state } = await pastDeadline(
      AgentBuilder.base().withDriver(DeterministicDriver.fromSteps(both)).withTools(gated(), other),
    );
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit', pause: null });
    expect(kinds(state)).toEqual(['timeout', 'timeout']);
    await takesAnotherTurn(state);
  });

  it('an abort before the approved tool starts', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay')], pay);
    const state = await agent.resume(await agent.run('go'), {
      approvals: { call_1: approve },
      signal: AbortSignal.abort('enough'),
    });
    expect(pay.calls).toEqual([]);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(kinds(state)).toEqual(['aborted']);
    await takesAnotherTurn(state);
  });
});

describe('requestPause', () => {
  it('waits for the approval if a call is open', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Asks for a pause.',
      execute: (_args, { requestPause }) => requestPause('later'),
    });
    const pay = gated();
    const agent = agentWith(
      [toolCalls([{ name: 'wait' }, { name: 'pay' }]), final('done')],
      wait,
      pay,
    );
    const paused = await agent.run('go');
    expect(paused.pause).toMatchObject({ kind: 'approval' });
    const state = await agent.resume(stored(paused), { approvals: { call_2: approve } });
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('accepts a user message before resume', async () => {
    const wait = defineTool({
      name: 'wait',
      description: 'Asks for a pause.',
      execute: (_args, { requestPause }) => requestPause('later'),
    });
    const driver = DeterministicDriver.fromSteps(toolCall('wait'), final('done'));
    const agent = AgentBuilder.base().withDriver(driver).withTools(wait).build();
    const paused = await agent.run('go');
    const state = await agent.resume(paused.withUserMessage('and hurry'));
    expect(driver.requests[1]?.messages.at(3)?.text).toBe('and hurry');
    expect(state.output).toBe('done');
    expect(state.messages.pairingProblem()).toBeNull();
  });
});
