import type { AgentState } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep, type ScriptedCall } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';
import { agentWith, runCalls } from './setup/tools.ts';

const { toolCalls, final } = ScenarioStep;

describe('tool call ids', () => {
  const ids = (state: AgentState) =>
    [...state.steps].flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));

  it.each<[string, readonly ScriptedCall['id'][]]>([
    ['missing', [null]],
    ['empty', ['']],
    ['repeated in one answer', ['x', 'x']],
    ['missing twice', [null, null]],
  ])('are generated if %s', async (_case, given) => {
    const { state } = await runCalls(
      given.map((id) => ({ name: 'work', id: id ?? null })),
      mockTool('work'),
    );
    const made = ids(state);
    expect(new Set(made).size).toBe(given.length);
    for (const id of made) expect(id).toMatch(/^(x|cal_[0-9a-z]{16})$/);
    expect(state.messages.withRole('tool').map(({ toolCallId }) => toolCallId)).toEqual(made);
  });

  it('a replaced id keeps the id of the provider as providerId', async () => {
    const { step } = await runCalls(
      [
        { name: 'work', id: 'x' },
        { name: 'work', id: 'x' },
      ],
      mockTool('work'),
    );
    const [first, second] = step.toolCalls;
    expect(first).toEqual({ id: 'x', name: 'work', args: {} });
    expect(second).toMatchObject({ providerId: 'x', name: 'work' });
    expect(second?.id).not.toBe('x');
  });

  it('an id from an earlier step is replaced, also after a pause and a restart', async () => {
    const work = mockTool('work', 'ok', { needsApproval: true });
    const again = { name: 'work', id: 'x' };
    const first = agentWith(DeterministicDriver.fromSteps(toolCalls([again])), work).build();
    const paused = await first.run('go');
    const second = agentWith(
      DeterministicDriver.fromSteps(toolCalls([again]), final('done')),
      work,
    ).build();
    const pausedAgain = await second.resume(JSON.parse(JSON.stringify(paused)) as never, {
      approvals: { x: { approve: true } },
    });
    const [pending] = pausedAgain.pendingApprovals;
    expect(pending?.callId).not.toBe('x');
    expect(pausedAgain.currentStep?.toolCalls[0]).toMatchObject({ providerId: 'x' });
    const state = await second.resume(pausedAgain, {
      approvals: { [pending!.callId]: { approve: true } },
    });
    expect(new Set(ids(state)).size).toBe(2);
    expect(work.contexts.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      ids(state).map((id) => `${state.execution.id}:${id}`),
    );
    await takesAnotherTurn(state);
  });

  it('a new execution may reuse an id', async () => {
    const work = mockTool('work');
    const script = () =>
      DeterministicDriver.fromSteps(toolCalls([{ name: 'work', id: 'x' }]), final('done'));
    const first = await agentWith(script(), work).build().run('go');
    const second = await agentWith(script(), work).build().run(first.withUserMessage('again'));
    expect(ids(second)).toEqual(['x', 'x']);
    await takesAnotherTurn(second);
  });

  it('streamed deltas carry the recorded id', async () => {
    const deltas = new Set<string>();
    const driver = DeterministicDriver.fromSteps(
      toolCalls([
        { name: 'work', id: null },
        { name: 'work', id: 'x' },
        { name: 'work', id: 'x' },
      ]),
      final('done'),
    );
    const state = await agentWith(driver, mockTool('work'))
      .build()
      .run('go', {
        wiretap: (event) => {
          if (event.type === 'ToolCallDelta') deltas.add(event.toolCallId);
        },
      });
    expect([...deltas]).toEqual(ids(state));
  });
});
