import { DeterministicDriver, mockTool, ScenarioStep, type ScriptedCall } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';
import { agentWith } from './setup/tools.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('tool calls run regardless of the finish reason', () => {
  it.each(['stop', 'unknown', 'other', 'content_filter'])(
    'D07: runs the call with finish reason %s',
    async (finishReason) => {
      const search = mockTool('search', 'found');
      const driver = DeterministicDriver.fromSteps(
        toolCall('search', { q: 'lamp' }, '', { finishReason }),
        final('done'),
      );
      const state = await agentWith(driver, search).build().run('go');
      expect(search.calls).toEqual([{ q: 'lamp' }]);
      expect(state).toMatchObject({ status: 'completed', output: 'done' });
      expect(state.steps.length).toBe(2);
      await takesAnotherTurn(state);
    },
  );

  it('D07: notes the corrected finish reason in the step', async () => {
    const driver = DeterministicDriver.fromSteps(
      toolCall('search', {}, '', { finishReason: 'stop' }),
      final('done'),
    );
    const state = await agentWith(driver, mockTool('search')).build().run('go');
    const step = state.steps.at(0)!;
    expect(step.finishReason).toBe('tool_calls');
    expect(step.notes).toEqual(['finishReasonCorrected:stop']);
    expect(step.outcome?.resolvedBy).toBe('ToolCallPresenceCheck');
  });

  it.each<[string, ScriptedCall, string, RegExp]>([
    [
      'truncated at the output limit',
      { name: 'pay', argsRaw: '{"to":"Ji' },
      'length',
      /output limit \(length\)/,
    ],
    [
      'complete, in a truncated answer',
      { name: 'pay', args: { to: 'Jim' } },
      'length',
      /output limit/,
    ],
    [
      'invalid, with finish reason tool_calls',
      { name: 'pay', argsRaw: '{"to":"Ji' },
      'tool_calls',
      /not valid JSON/,
    ],
    [
      'invalid, with finish reason stop',
      { name: 'pay', argsRaw: '{to: Jim}' },
      'stop',
      /not valid JSON/,
    ],
    ['given as an array', { name: 'pay', argsRaw: '["Jim"]' }, 'tool_calls', /an array of 1/],
  ])('D62: arguments %s never run', async (_case, call, finishReason, message) => {
    const pay = mockTool('pay', 'paid');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([call], '', { finishReason }),
      toolCall('pay', { to: 'Jim' }),
      final('done'),
    );
    const state = await agentWith(driver, pay).build().run('go');
    expect(pay.calls).toEqual([{ to: 'Jim' }]);
    const { results, toolCalls: recorded } = state.steps.at(0)!;
    expect(results[0]).toMatchObject({
      kind: 'error',
      error: { type: 'validation', code: 'bad_arguments', toolName: 'pay' },
    });
    expect(results[0]?.error?.message).toMatch(message);
    if (call.argsRaw !== undefined)
      expect(recorded[0]).toMatchObject({ args: {}, argsRaw: call.argsRaw });
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('D62: a valid call runs next to an invalid one, but not in a truncated answer', async () => {
    const counts = await Promise.all(
      ['tool_calls', 'length'].map(async (finishReason) => {
        const pay = mockTool('pay', 'paid');
        const driver = DeterministicDriver.fromSteps(
          toolCalls(
            [
              { name: 'pay', args: {} },
              { name: 'pay', argsRaw: '{"' },
            ],
            '',
            {
              finishReason,
            },
          ),
          final('done'),
        );
        await agentWith(driver, pay).build().run('go');
        return pay.calls.length;
      }),
    );
    expect(counts).toEqual([1, 0]);
  });
});

describe('the last step of a soft landing', () => {
  it('does not run tool calls, and that is not an error', async () => {
    const search = mockTool('search', 'found');
    const driver = DeterministicDriver.fromSteps(
      toolCall('search'),
      toolCalls([{ name: 'search' }, { name: 'unknown' }], 'I have to stop here.'),
    );
    const agent = agentWith(driver, search).withMaxSteps(2).withSoftLanding().build();
    const state = await agent.run('go');
    expect(driver.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
    expect(search.calls).toHaveLength(1);
    expect(state.steps.at(1)).toMatchObject({ softLanding: 'StepsLimit', errors: [] });
    expect(state.steps.at(1)!.results.map(({ kind }) => kind)).toEqual(['blocked', 'blocked']);
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      outputText: 'I have to stop here.',
    });
    await takesAnotherTurn(state);
  });
});
