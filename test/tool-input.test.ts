import { AgentBuilder, AgentState, defineTool, type AgentEvent, type Tool } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { requestInput, type InputAnswer } from '../src/tools/input-request.ts';
import { refusal } from './setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const form = {
  type: 'object',
  properties: { sure: { type: 'boolean' } },
  required: ['sure'],
} as const;
const yes: InputAnswer = { action: 'accept', content: { sure: true } };

/** A tool that asks before it deletes, and once more if asked to. */
function deleting() {
  const runs: unknown[] = [];
  const tool = defineTool({
    name: 'delete_page',
    description: 'Deletes a page.',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
    },
    execute: ({ path }, { input, requestInput }) => {
      runs.push(input && { answers: { ...input.answers }, state: input.state });
      const sure = input?.answers['sure'];
      if (!sure)
        return requestInput(
          { sure: { message: `Delete ${path}?`, schema: form } },
          { state: 'one' },
        );
      return sure.action === 'accept' ? `${path} is deleted.` : `${path} is kept (${sure.action}).`;
    },
  });
  return { tool, runs };
}

const agentOf = (tools: readonly Tool[], ...steps: ScenarioStep[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools)
    .build();

describe('a tool that asks for input', () => {
  it('pauses the run, and runs again with the answer', async () => {
    const { tool, runs } = deleting();
    const agent = agentOf([tool], toolCall('delete_page', { path: '/a' }), final('Done.'));
    const events: AgentEvent[] = [];
    const paused = await agent.run('go', { wiretap: (event) => void events.push(event) });
    expect(paused).toMatchObject({ status: 'paused', pause: { kind: 'input' }, version: 2 });
    expect(paused.pendingApprovals).toEqual([]);
    expect(paused.pendingInputs).toEqual([
      {
        inputId: 'call_1/sure',
        callId: 'call_1',
        key: 'sure',
        tool: 'delete_page',
        message: 'Delete /a?',
        schema: form,
        executionId: paused.execution.id,
        path: [],
      },
    ]);
    expect(events.filter(({ type }) => type === 'ToolInputRequested')).toMatchObject([
      { tool: 'delete_page', toolCallId: 'call_1', inputId: 'call_1/sure', key: 'sure' },
    ]);
    const restored = AgentState.from(JSON.parse(JSON.stringify(paused)) as never);
    const done = await agent.resume(restored, { inputs: { 'call_1/sure': yes }, by: 'ann' });
    expect(done).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(done.steps.at(0)?.results).toMatchObject([{ kind: 'ok', value: '/a is deleted.' }]);
    expect(runs).toEqual([null, { answers: { sure: yes }, state: 'one' }]);
  });

  it.each(['decline', 'cancel'] as const)('gets the answer %s', async (action) => {
    const { tool } = deleting();
    const agent = agentOf([tool], toolCall('delete_page', { path: '/a' }), final('Done.'));
    const paused = await agent.run('go');
    const done = await agent.resume(paused, { inputs: { 'call_1/sure': { action } } });
    expect(done.steps.at(0)?.results).toMatchObject([{ value: `/a is kept (${action}).` }]);
  });

  it('asks in several rounds, each with ids of its own', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      execute: (_args, { input, requestInput }) => {
        const size = Object.keys(input?.answers ?? {}).length;
        if (size === 0 || input?.state === 'one')
          return requestInput(
            { place: { message: `Question ${size + 1}`, schema: form } },
            { state: input ? 'two' : 'one' },
          );
        return input?.answers['place']?.action ?? 'none';
      },
    });
    const agent = agentOf([tool], toolCall('book'), final('Done.'));
    const first = await agent.run('go');
    const second = await agent.resume(first, { inputs: { 'call_1/place': yes } });
    expect(second.pendingInputs).toMatchObject([
      { inputId: 'call_1/place~2', message: 'Question 2' },
    ]);
    const late = await refusal(() => agent.resume(second, { inputs: { 'call_1/place': yes } }));
    expect(late).toMatchObject({ code: 'unknown_input' });
    const done = await agent.resume(second, {
      inputs: { 'call_1/place~2': { action: 'decline' } },
    });
    expect(done.steps.at(0)?.results).toMatchObject([{ value: 'decline' }]);
  });

  it('waits until all questions are answered, and keeps the answers that it has', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      execute: (_args, { input, requestInput }) =>
        input
          ? Object.keys(input.answers).toSorted().join()
          : requestInput({
              place: { message: 'Where?', schema: form },
              login: { message: 'Log in.', url: 'https://example.com/login' },
            }),
    });
    const agent = agentOf([tool], toolCall('book'), final('Done.'));
    const both = await agent.run('go');
    expect(both.pendingInputs.map(({ inputId }) => inputId)).toEqual([
      'call_1/place',
      'call_1/login',
    ]);
    const one = await agent.resume(both, { inputs: { 'call_1/place': yes } });
    expect(one).toMatchObject({ status: 'paused', pause: { kind: 'input' } });
    expect(one.pendingInputs.map(({ inputId }) => inputId)).toEqual(['call_1/login']);
    const again = AgentState.from(JSON.parse(JSON.stringify(one)) as never);
    const done = await agent.resume(again, { inputs: { 'call_1/login': { action: 'accept' } } });
    expect(done.steps.at(0)?.results).toMatchObject([{ value: 'login,place' }]);
  });

  it('runs beside calls that need approval and calls that need nothing', async () => {
    const { tool } = deleting();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const look = mockTool('look', 'seen');
    const agent = agentOf(
      [tool, pay, look],
      toolCalls([{ name: 'delete_page', args: { path: '/a' } }, { name: 'pay' }, { name: 'look' }]),
      final('Done.'),
    );
    const paused = await agent.run('go');
    expect(paused.pause?.kind).toBe('approval');
    expect(paused.pendingApprovals.map(({ callId }) => callId)).toEqual(['call_2']);
    expect(paused.pendingInputs.map(({ callId }) => callId)).toEqual(['call_1']);
    const asked = await agent.resume(paused, { approvals: { call_2: { approve: true } } });
    expect(asked.pause?.kind).toBe('input');
    const done = await agent.resume(asked, { inputs: { 'call_1/sure': yes } });
    expect(done.steps.at(0)?.results.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
    expect([pay.calls.length, look.calls.length]).toEqual([1, 1]);
  });

  it('asks after its approval, which then counts for the whole call', async () => {
    let runs = 0;
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      needsApproval: true,
      execute: (_args, { input, requestInput }) => {
        runs += 1;
        return input ? 'paid' : requestInput({ pin: { message: 'PIN sent?', schema: form } });
      },
    });
    const agent = agentOf([tool], toolCall('pay'), final('Done.'));
    const first = await agent.run('go');
    expect(runs).toBe(0);
    const asked = await agent.resume(first, { approvals: { call_1: { approve: true } }, by: 'bo' });
    expect(asked.pendingInputs).toHaveLength(1);
    expect(asked.pendingApprovals).toEqual([]);
    const done = await agent.resume(asked, { inputs: { 'call_1/pin': yes } });
    expect(done.steps.at(0)?.results).toMatchObject([
      { value: 'paid', approval: { decision: 'approved', by: 'bo' } },
    ]);
  });

  it('asks inside a nested agent; the answer names its own call', async () => {
    const { tool } = deleting();
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('delete_page', { path: '/a' }), final('Inner.')),
      )
      .withTools(tool)
      .build();
    const agent = agentOf(
      [inner.asTool({ name: 'ask', description: 'Asks.' })],
      toolCall('ask', { input: 'go' }),
      final('Done.'),
    );
    const paused = await agent.run('go');
    const [question] = paused.pendingInputs;
    expect(question).toMatchObject({ key: 'sure', tool: 'delete_page', path: ['call_1'] });
    const restored = AgentState.from(JSON.parse(JSON.stringify(paused)) as never);
    const done = await agent.resume(restored, { inputs: { [question!.inputId]: yes } });
    expect(done).toMatchObject({ status: 'completed', output: 'Done.' });
  });

  it('closes the call when the run is stopped instead', async () => {
    const { tool } = deleting();
    const agent = agentOf([tool], toolCall('delete_page', { path: '/a' }), final('Done.'));
    const stopped = agent.stop(await agent.run('go'));
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(stopped.steps.at(0)?.results).toMatchObject([{ kind: 'aborted' }]);
    expect(stopped.pendingInputs).toEqual([]);
  });

  it('stays open regardless of what a hook returns', async () => {
    const { tool } = deleting();
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('delete_page', { path: '/a' }), final('Done.')),
      )
      .withTools(tool)
      .withHooks({ name: 'own', aroundToolCall: async (input, next) => (await next(input), 'own') })
      .build();
    const paused = await agent.run('go');
    expect(paused.pendingInputs).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['an answer of another shape', { approve: true }, 'invalid_input'],
    ['a form without content', { action: 'accept' }, 'invalid_input'],
    ['content that does not fit', { action: 'accept', content: { sure: 'yes' } }, 'invalid_input'],
    ['content that is no object', { action: 'accept', content: [true] }, 'invalid_input'],
  ])('rejects %s and keeps waiting', async (_case, answer, code) => {
    const { tool, runs } = deleting();
    const agent = agentOf([tool], toolCall('delete_page', { path: '/a' }), final('Done.'));
    const paused = await agent.run('go');
    const inputs = { 'call_1/sure': answer as InputAnswer };
    const error = await refusal(() => agent.resume(paused, { inputs }));
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(/[^.]\. The question still waits\.$/);
    expect(runs).toHaveLength(1);
    const done = await agent.resume(paused, { inputs: { 'call_1/sure': yes } });
    expect(done.status).toBe('completed');
  });

  it('D90: rejects ids that are names of object properties', async () => {
    const { tool } = deleting();
    const agent = agentOf([tool], toolCall('delete_page', { path: '/a' }), final('Done.'));
    const paused = await agent.run('go');
    for (const id of ['__proto__', 'constructor', 'call_1', 'call_1/__proto__'])
      expect(
        await refusal(() => agent.resume(paused, { inputs: { [id]: yes } })),
        id,
      ).toMatchObject({ code: 'unknown_input' });
  });

  it.each<[string, () => unknown]>([
    ['no question', () => requestInput({})],
    ['a bad key', () => requestInput({ 'a/b': { message: 'm', schema: {} } })],
    ['no message', () => requestInput({ a: { message: ' ', schema: {} } })],
    [
      'a script as address',
      () => requestInput({ a: { message: 'm', url: 'javascript:alert(1)' } }),
    ],
    [
      'a large state',
      () => requestInput({ a: { message: 'm', schema: {} } }, { state: 'x'.repeat(110_000) }),
    ],
    [
      'a broken schema',
      () =>
        requestInput({ a: { message: 'm', schema: { $ref: 'https://example.com/form.json' } } }),
    ],
    [
      'a large schema',
      () => requestInput({ a: { message: 'm', schema: { description: 'x'.repeat(70_000) } } }),
    ],
  ])('rejects a request with %s as an error of the tool', async (_case, ask) => {
    const tool = defineTool({ name: 'ask', description: 'Asks.', execute: ask });
    const agent = agentOf([tool], toolCall('ask'), final('Done.'));
    const state = await agent.run('go');
    expect(state.steps.at(0)?.results).toMatchObject([{ kind: 'error' }]);
  });
});
