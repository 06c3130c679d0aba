import { AgentBuilder, AgentState, createRedactor, Message } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, Received, quick, spoken } from './setup/message-events.ts';

const { toolCall, final, error } = ScenarioStep;

describe('MessageAdded: user messages', () => {
  it('is emitted once, right after AgentStarted, with the id of the message', async () => {
    const received = new Received();
    const state = await builder('Hello.').build().run('Hi', received.options);
    expect(received.types.slice(0, 3)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
    ]);
    expect(received.of('MessageAdded')).toMatchObject(spoken(state));
    expect(received.reported).toEqual(['0 user: Hi', '1 assistant: Hello.']);
    expect(received.of('MessageAdded')[0]).toMatchObject({
      agentId: state.agentId,
      parentAgentId: null,
      executionId: state.execution.id,
      index: 1,
    });
  });

  it('is emitted for all new messages in order, but not for system messages and history', async () => {
    const received = new Received();
    const start = AgentState.empty()
      .withMessages(
        Message.system('Be kind.'),
        Message.user('Hi'),
        Message.assistant('Hello.'),
        Message.user('One more thing.'),
      )
      .withUserMessage('Two, in fact.')
      .withUserMessage([
        { type: 'text', text: 'Look: ' },
        { type: 'image', url: 'https://example.com/lamp.png' },
      ]);
    await builder('Sure.').build().run(start, received.options);
    expect(received.reported).toEqual([
      '0 user: One more thing.',
      '0 user: Two, in fact.',
      '0 user: Look: ',
      '1 assistant: Sure.',
    ]);
  });

  it('is emitted for a message without text', async () => {
    const received = new Received();
    const image = { type: 'image', url: 'https://example.com/lamp.png' } as const;
    const start = AgentState.empty().withUserMessage([image]);
    await builder('A lamp.').build().run(start, received.options);
    expect(received.reported).toEqual(['0 user: ', '1 assistant: A lamp.']);
  });

  it('the next run emits only new messages, also after a failed run', async () => {
    const agent = builder(error('broken'), 'Here.').build();
    const failed = await agent.run('Where are you?');
    expect(failed.status).toBe('failed');
    const received = new Received();
    await agent.run(failed.withUserMessage('Hello?'), received.options);
    expect(received.reported).toEqual(['0 user: Hello?', '1 assistant: Here.']);
  });

  it('is not emitted for synthetic user messages', async () => {
    const schema = { type: 'object', required: ['title'] } as const;
    const agent = builder('no JSON', '{"title":1}', 'still none', 'nor here', '{"title":2}')
      .withResponseFormat(schema)
      .withErrorPolicy(quick.withMaxRetries(1))
      .build();
    const first = new Received();
    const done = await agent.run('A title?', first.options);
    expect(first.reported).toEqual([
      '0 user: A title?',
      '1 assistant: no JSON',
      '2 assistant: {"title":1}',
    ]);
    const failed = await agent.run(done.withUserMessage('Another?'));
    expect(failed.status).toBe('failed');
    expect(failed.messages.last()).toMatchObject({ role: 'user', metadata: { synthetic: true } });
    const second = new Received();
    await agent.run(failed.withUserMessage('Again, please.'), second.options);
    expect(second.reported).toEqual(['0 user: Again, please.', '1 assistant: {"title":2}']);
  });

  it('is emitted before an execution hook runs', async () => {
    const received = new Received();
    const seen: string[][] = [];
    const agent = builder('Hello.')
      .withHooks({
        name: 'slow',
        aroundExecution: async (input, next) => {
          seen.push(received.types);
          return next(input);
        },
      })
      .build();
    await agent.run('Hi', received.options);
    expect(seen).toEqual([['AgentStarted', 'MessageAdded']]);
    expect(received.reported).toEqual(['0 user: Hi', '1 assistant: Hello.']);
  });
});

describe('MessageAdded: nested agents', () => {
  const family = () => {
    const child = AgentBuilder.base()
      .withName('stockist')
      .withDriver(DeterministicDriver.fromSteps(toolCall('stock', {}, 'Let me count.'), '7.'))
      .withTools(mockTool('stock', 7, { needsApproval: true }))
      .build();
    return builder(toolCall('ask', { input: 'lamps?' }), 'We have 7.')
      .withTools(child.asTool({ name: 'ask', description: 'Asks.' }))
      .build();
  };

  it('carries the id of the nested agent, and its task is not a user message', async () => {
    const received = new Received();
    const root = family();
    const paused = await root.run('Lamps?', received.options);
    const { callId } = paused.pendingApprovals[0]!;
    await root.resume(paused, { approvals: { [callId]: { approve: true } }, ...received.options });
    expect(received.reported).toEqual([
      '0 user: Lamps?',
      '1 assistant: Let me count.',
      '2 assistant: 7.',
      '2 assistant: We have 7.',
    ]);
    const { agentId } = paused;
    const child = received.of('AgentStarted').find((e) => e.parentAgentId !== null)!;
    expect(child).toMatchObject({ parentAgentId: agentId, previousStatus: 'pending' });
    const none = { agentId, parentAgentId: null };
    const inner = { agentId: child.agentId, parentAgentId: agentId };
    expect(received.of('MessageAdded')).toMatchObject([none, inner, inner, none]);
    expect(child.agentId).not.toBe(agentId);
    expect(
      received.of('AgentStarted').map((e) => [e.agentName, e.resumed, e.previousStatus]),
    ).toEqual([
      ['shop', false, 'pending'],
      ['stockist', false, 'pending'],
      ['shop', true, 'paused'],
      ['stockist', true, 'paused'],
    ]);
    expect(received.of('AgentFinished').map((e) => e.outputText)).toEqual(['7.', 'We have 7.']);
  });
});

describe('D43: a secret in a message', () => {
  const byLook = 'sk-live-CANARY0123456789abcdef';
  const ours = 'CANARY/4711';
  const words = `${byLook} of ${ours}: {"password":"CANARY under a key"}`;
  const hidden = '[redacted] of [redacted]: {"password":"[redacted]"}';

  it('is in the state, but not in MessageAdded or outputText', async () => {
    const received = new Received();
    const agent = builder(`Use ${words}`)
      .withRedactor(createRedactor({ patterns: [/CANARY\/\d+/] }))
      .build();
    const state = await agent.run(`Try ${words}`, received.options);
    expect(spoken(state).map(({ content }) => content)).toEqual([`Try ${words}`, `Use ${words}`]);
    expect(received.reported).toEqual([`0 user: Try ${hidden}`, `1 assistant: Use ${hidden}`]);
    expect(received.of('AgentFinished')).toMatchObject([{ outputText: `Use ${hidden}` }]);
  });

  it('is redacted in a failed run', async () => {
    const received = new Received();
    await builder(final('', { refusal: `Not with ${byLook}.` }))
      .build()
      .run('go', received.options);
    expect(received.of('AgentFailed')).toMatchObject([{ outputText: 'Not with [redacted].' }]);
    expect(JSON.stringify(received.events)).not.toContain('CANARY');
  });
});
