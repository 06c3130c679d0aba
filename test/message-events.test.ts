import {
  AgentBuilder,
  AgentState,
  createRedactor,
  ErrorPolicy,
  Message,
  type AgentEvent,
  type EventOf,
  type InferenceDriver,
  type RunOptions,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;
const quick = ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 });

const builder = (...steps: readonly (ScenarioStep | string)[]) =>
  driven(DeterministicDriver.fromSteps(...steps));
const driven = (driver: InferenceDriver) => AgentBuilder.base().withName('shop').withDriver(driver);

class Heard {
  readonly events: AgentEvent[] = [];
  readonly options: RunOptions = { wiretap: (event) => void this.events.push(event) };

  of<T extends AgentEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((e): e is AgentEvent & EventOf<T> => e.type === type);
  }
  get told(): string[] {
    return this.of('MessageAdded').map((e) => `${e.stepNumber} ${e.role}: ${e.content}`);
  }
  get types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

/** The conversation without tools and without what the loop said. */
const spoken = ({ messages }: AgentState) =>
  [...messages]
    .filter((m) => (m.isUser() && m.metadata['synthetic'] !== true) || m.isAssistant())
    .filter((m) => m.text.trim() !== '')
    .map(({ id, role, text }) => ({ messageId: id, role, content: text }));

describe('MessageAdded: what the run answers', () => {
  it('is told once, right after the start, and with its id', async () => {
    const heard = new Heard();
    const state = await builder('Hello.').build().run('Hi', heard.options);
    expect(heard.types.slice(0, 3)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
    ]);
    expect(heard.of('MessageAdded')).toMatchObject(spoken(state));
    expect(heard.told).toEqual(['0 user: Hi', '1 assistant: Hello.']);
    expect(heard.of('MessageAdded')[0]).toMatchObject({
      agentId: state.agentId,
      parentAgentId: null,
      executionId: state.execution.id,
      index: 1,
    });
  });

  it('several messages in a row are all told, in order; system messages and history are not', async () => {
    const heard = new Heard();
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
    await builder('Sure.').build().run(start, heard.options);
    expect(heard.told).toEqual([
      '0 user: One more thing.',
      '0 user: Two, in fact.',
      '0 user: Look: ',
      '1 assistant: Sure.',
    ]);
  });

  it('a message without text is told too: it was said', async () => {
    const heard = new Heard();
    const image = { type: 'image', url: 'https://example.com/lamp.png' } as const;
    const start = AgentState.empty().withUserMessage([image]);
    await builder('A lamp.').build().run(start, heard.options);
    expect(heard.told).toEqual(['0 user: ', '1 assistant: A lamp.']);
  });

  it('the next run tells only what is new, also where the one before has answered nothing', async () => {
    const agent = builder(error('broken'), 'Here.').build();
    const failed = await agent.run('Where are you?');
    expect(failed.status).toBe('failed');
    const heard = new Heard();
    await agent.run(failed.withUserMessage('Hello?'), heard.options);
    expect(heard.told).toEqual(['0 user: Hello?', '1 assistant: Here.']);
  });

  it('what the loop said in the name of the user is not told', async () => {
    const schema = { type: 'object', required: ['title'] } as const;
    const agent = builder('no JSON', '{"title":1}', 'still none', 'nor here', '{"title":2}')
      .withResponseFormat(schema)
      .withErrorPolicy(quick.withMaxRetries(1))
      .build();
    const first = new Heard();
    const done = await agent.run('A title?', first.options);
    expect(first.told).toEqual([
      '0 user: A title?',
      '1 assistant: no JSON',
      '2 assistant: {"title":1}',
    ]);
    const failed = await agent.run(done.withUserMessage('Another?'));
    expect(failed.status).toBe('failed');
    expect(failed.messages.last()).toMatchObject({ role: 'user', metadata: { synthetic: true } });
    const second = new Heard();
    await agent.run(failed.withUserMessage('Again, please.'), second.options);
    expect(second.told).toEqual(['0 user: Again, please.', '1 assistant: {"title":2}']);
  });

  it('a hook around the execution that takes its time does not hold it back', async () => {
    const heard = new Heard();
    const seen: string[][] = [];
    const agent = builder('Hello.')
      .withHooks({
        name: 'slow',
        aroundExecution: async (input, next) => {
          seen.push(heard.types);
          return next(input);
        },
      })
      .build();
    await agent.run('Hi', heard.options);
    expect(seen).toEqual([['AgentStarted', 'MessageAdded']]);
    expect(heard.told).toEqual(['0 user: Hi', '1 assistant: Hello.']);
  });
});

describe('MessageAdded: what the model says', () => {
  it('streamed or not, the event is the same', async () => {
    const listened = async (streams: boolean): Promise<object[]> => {
      const driver = DeterministicDriver.fromSteps(stream(['Hel', 'lo.']));
      const agent = driven(driver).withClock(fakeClock()).build();
      const events: AgentEvent[] = [];
      agent.on('MessageAdded', (event) => events.push(event));
      if (streams) agent.on('StreamChunk', () => {});
      const start = AgentState.empty({ agentId: 'a' }).withUserMessage('Hi', { id: 'msg_1' });
      const state = await agent.run(start, { executionId: 'e' });
      expect(driver.requests[0]?.streamed).toBe(streams);
      expect(events).toMatchObject(spoken(state));
      return events.map((event) => ({ ...event, messageId: '' }));
    };
    expect(await listened(true)).toEqual(await listened(false));
  });

  it('the id is that of the chunks, and the text is theirs', async () => {
    const heard = new Heard();
    await builder(stream(['Hel', 'lo.']))
      .build()
      .run('Hi', heard.options);
    const [, answer] = heard.of('MessageAdded');
    const chunks = heard.of('StreamChunk');
    expect(new Set(chunks.map((e) => e.messageId))).toEqual(new Set([answer?.messageId]));
    expect(chunks.map((e) => e.content).join('')).toBe(answer?.content);
    expect(heard.types.indexOf('StreamChunk')).toBeLessThan(
      heard.types.lastIndexOf('MessageAdded'),
    );
  });

  it.each([
    ['a call that runs', [{ name: 'stock' }]],
    ['several that run', [{ name: 'stock' }, { name: 'stock' }]],
    ['one that is refused', [{ name: 'nope' }]],
    ['one that waits, beside one that runs', [{ name: 'pay' }, { name: 'stock' }]],
    ['one that waits', [{ name: 'pay' }]],
  ])('text beside tool calls is told before them: %s', async (_name, calls) => {
    const heard = new Heard();
    const agent = builder(toolCalls(calls, 'I will look.'), 'Done.')
      .withTools(mockTool('stock', 7), mockTool('pay', 'ok', { needsApproval: () => true }))
      .withErrorPolicy(quick)
      .build();
    const state = await agent.run('Lamps?', heard.options);
    const told = heard.events.findIndex((e) => e.type === 'MessageAdded' && e.stepNumber === 1);
    const called = heard.types.findIndex((type) =>
      /^Tool(CallStarted|CallCompleted|ApprovalRequested)$/.test(type),
    );
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(called);
    const texts = ['0 user: Lamps?', '1 assistant: I will look.', '2 assistant: Done.'];
    expect(heard.told).toEqual(state.status === 'paused' ? texts.slice(0, 2) : texts);
    expect(heard.of('MessageAdded')).toMatchObject(spoken(state));
  });

  it.each(['', '   ', '\n\t'])('blank text (%j) gives none', async (text) => {
    const heard = new Heard();
    const agent = builder(toolCall('stock', {}, text), final(text))
      .withTools(mockTool('stock', 7))
      .build();
    const state = await agent.run('Lamps?', heard.options);
    expect(state.status).toBe('completed');
    expect(heard.told).toEqual(['0 user: Lamps?']);
    expect(heard.of('AgentFinished')).toMatchObject([{ outputText: text }]);
  });

  it('a call that leaked into the text is no text', async () => {
    const heard = new Heard();
    const leak = { name: 'stock', args: { article: 'lamp' } };
    const text = JSON.stringify({ name: 'stock', arguments: leak.args });
    const agent = builder(toolCalls([leak], text), 'Done.')
      .withTools(mockTool('stock', 7))
      .build();
    const state = await agent.run('Lamps?', heard.options);
    expect(state.steps.at(0)?.notes).toEqual(['contentLeakDropped']);
    expect(heard.told).toEqual(['0 user: Lamps?', '2 assistant: Done.']);
  });

  it('D55, D56: the text of a failed call never counts, that of the retry once', async () => {
    const heard = new Heard();
    const agent = builder(error('broken', { chunks: ['Let me'] }), stream(['All ', 'good.']))
      .withErrorPolicy(quick)
      .build();
    const state = await agent.run('go', heard.options);
    expect(heard.told).toEqual(['0 user: go', '2 assistant: All good.']);
    expect(heard.of('MessageAdded')).toMatchObject(spoken(state));
    expect(heard.of('StreamDiscarded')).toHaveLength(1);
  });

  it('a hook that asks the model twice gives one message: the one that is kept', async () => {
    const heard = new Heard();
    const agent = builder('First.', 'Second.')
      .withHooks({
        name: 'twice',
        aroundModelCall: async (request, next) => {
          await next(request);
          const answer = await next(request);
          return { ...answer, content: `${answer.content} And more.` };
        },
      })
      .build();
    await agent.run('go', heard.options);
    expect(heard.told).toEqual(['0 user: go', '1 assistant: Second. And more.']);
  });

  it('D45: text that an abort has cut is told as it is kept', async () => {
    const stop = new AbortController();
    const heard = new Heard();
    const agent = driven(
      DeterministicDriver.create([{ ...stream(['One ', 'two ']), extras: { hangs: true } }]),
    ).build();
    agent.on('StreamChunk', ({ index }) => index === 1 && stop.abort());
    const state = await agent.run('Count.', { ...heard.options, signal: stop.signal });
    expect(state.stopReason).toBe('user_requested');
    expect(heard.told).toEqual(['0 user: Count.', '1 assistant: One two ']);
    expect(heard.of('MessageAdded')).toMatchObject(spoken(state));
  });

  it('a refusal is told as it is kept, before its failure', async () => {
    const heard = new Heard();
    const agent = builder(final('', { refusal: 'I cannot help with that.' })).build();
    const state = await agent.run('Break in.', heard.options);
    expect(state.status).toBe('failed');
    expect(heard.told).toEqual(['0 user: Break in.', '1 assistant: I cannot help with that.']);
    expect(heard.types.lastIndexOf('MessageAdded')).toBeLessThan(heard.types.indexOf('StepFailed'));
    expect(heard.of('AgentFailed')).toMatchObject([{ outputText: 'I cannot help with that.' }]);
  });

  it('an answer that a hook around the step spoils stays told once', async () => {
    const heard = new Heard();
    const agent = builder('Hello.')
      .withHooks({
        name: 'spoils',
        aroundStep: async (input, next) => {
          await next(input);
          throw new Error('no');
        },
      })
      .build();
    const state = await agent.run('Hi', heard.options);
    expect(heard.told).toEqual(['0 user: Hi', '1 assistant: Hello.']);
    expect(heard.of('MessageAdded')).toMatchObject(spoken(state));
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

  it('the text of a nested agent carries its own id; its task is no message of the user', async () => {
    const heard = new Heard();
    const root = family();
    const paused = await root.run('Lamps?', heard.options);
    const { callId } = paused.pendingApprovals[0]!;
    await root.resume(paused, { approvals: { [callId]: { approve: true } }, ...heard.options });
    expect(heard.told).toEqual([
      '0 user: Lamps?',
      '1 assistant: Let me count.',
      '2 assistant: 7.',
      '2 assistant: We have 7.',
    ]);
    const { agentId } = paused;
    const child = heard.of('AgentStarted').find((e) => e.parentAgentId !== null)!;
    expect(child).toMatchObject({ parentAgentId: agentId, previousStatus: 'pending' });
    const none = { agentId, parentAgentId: null };
    const inner = { agentId: child.agentId, parentAgentId: agentId };
    expect(heard.of('MessageAdded')).toMatchObject([none, inner, inner, none]);
    expect(child.agentId).not.toBe(agentId);
    expect(heard.of('AgentStarted').map((e) => [e.agentName, e.resumed, e.previousStatus])).toEqual(
      [
        ['shop', false, 'pending'],
        ['stockist', false, 'pending'],
        ['shop', true, 'paused'],
        ['stockist', true, 'paused'],
      ],
    );
    expect(heard.of('AgentFinished').map((e) => e.outputText)).toEqual(['7.', 'We have 7.']);
  });
});

describe('D43: a secret in what is said', () => {
  const byLook = 'sk-live-CANARY0123456789abcdef';
  const ours = 'CANARY/4711';
  const words = `${byLook} of ${ours}: {"password":"CANARY under a key"}`;
  const hidden = '[redacted] of [redacted]: {"password":"[redacted]"}';

  it('is in the state, and neither in MessageAdded nor in outputText', async () => {
    const heard = new Heard();
    const agent = builder(`Use ${words}`)
      .withRedactor(createRedactor({ patterns: [/CANARY\/\d+/] }))
      .build();
    const state = await agent.run(`Try ${words}`, heard.options);
    expect(spoken(state).map(({ content }) => content)).toEqual([`Try ${words}`, `Use ${words}`]);
    expect(heard.told).toEqual([`0 user: Try ${hidden}`, `1 assistant: Use ${hidden}`]);
    expect(heard.of('AgentFinished')).toMatchObject([{ outputText: `Use ${hidden}` }]);
  });

  it('a failed run hides it too', async () => {
    const heard = new Heard();
    await builder(final('', { refusal: `Not with ${byLook}.` }))
      .build()
      .run('go', heard.options);
    expect(heard.of('AgentFailed')).toMatchObject([{ outputText: 'Not with [redacted].' }]);
    expect(JSON.stringify(heard.events)).not.toContain('CANARY');
  });
});

describe('previousStatus and outputText', () => {
  const starts = (heard: Heard) =>
    heard.of('AgentStarted').map((e) => [e.resumed, e.previousStatus, e.stepCount]);

  it('a new run was pending, also after one that has ended', async () => {
    const heard = new Heard();
    const agent = builder('One.', 'Two.').build();
    const first = await agent.run('a', heard.options);
    await agent.run(first.withUserMessage('b'), heard.options);
    expect(starts(heard)).toEqual([
      [false, 'pending', 0],
      [false, 'pending', 0],
    ]);
    expect(heard.of('AgentFinished').map((e) => e.outputText)).toEqual(['One.', 'Two.']);
  });

  it('a resume after an approval was paused, and does not repeat what was said', async () => {
    const agent = builder(toolCall('pay', {}, 'I will pay.'), 'Paid.')
      .withTools(mockTool('pay', 'ok', { needsApproval: true }))
      .build();
    const first = new Heard();
    const paused = await agent.run('Pay.', first.options);
    expect(first.told).toEqual(['0 user: Pay.', '1 assistant: I will pay.']);
    const second = new Heard();
    const approvals = { call_1: { approve: true } } as const;
    await agent.resume(paused.toJSON(), { approvals, ...second.options });
    expect(starts(second)).toEqual([[true, 'paused', 0]]);
    expect(second.told).toEqual(['2 assistant: Paid.']);
  });

  it('a resume with a grant was stopped; the stop had the last text', async () => {
    const agent = builder(toolCall('stock', {}, 'One.'), toolCall('stock', {}, 'Two.'), 'Three.')
      .withTools(mockTool('stock', 7))
      .withMaxSteps(2)
      .build();
    const first = new Heard();
    const stopped = await agent.run('go', first.options);
    expect(first.of('AgentFinished')).toMatchObject([
      { status: 'stopped', stopReason: 'steps_limit', outputText: 'Two.' },
    ]);
    const second = new Heard();
    await agent.resume(stopped, { grant: { steps: 1 }, ...second.options });
    expect(starts(second)).toEqual([[true, 'stopped', 2]]);
    expect(second.told).toEqual(['3 assistant: Three.']);
    expect(second.of('AgentFinished')).toMatchObject([{ outputText: 'Three.' }]);
  });

  it('a resume with a grant for retries was failed', async () => {
    const agent = builder(error('a'), error('b'), 'Done.')
      .withErrorPolicy(quick.withMaxRetries(1))
      .build();
    const first = new Heard();
    const failed = await agent.run('go', first.options);
    expect(first.of('AgentFailed')).toMatchObject([{ stopReason: 'retry_limit', outputText: '' }]);
    const second = new Heard();
    await agent.resume(failed, { grant: { retries: 1 }, ...second.options });
    expect(starts(second)).toEqual([[true, 'failed', 2]]);
    expect(second.told).toEqual(['3 assistant: Done.']);
  });

  it('a state that a process has left in the middle was in progress', async () => {
    const make = () => builder(toolCall('stock'), 'Done.').withTools(mockTool('stock', 7)).build();
    const agent = make();
    const left = await agent.nextStep('go');
    expect(left.status).toBe('in_progress');
    const heard = new Heard();
    await agent.resume(left.toJSON(), heard.options);
    expect(starts(heard)).toEqual([[true, 'in_progress', 1]]);
    expect(heard.told).toEqual(['2 assistant: Done.']);
  });

  it('a failed run says what the model said last in it, not in the run before', async () => {
    const agent = builder('Before.', toolCall('stock', {}, 'I look.'), error('broken'), error('x'))
      .withTools(mockTool('stock', 7))
      .build();
    const first = await agent.run('a');
    const second = new Heard();
    const failed = await agent.run(first.withUserMessage('b'), second.options);
    expect(second.of('AgentFailed')).toMatchObject([{ outputText: 'I look.' }]);
    const third = new Heard();
    await agent.run(failed.withUserMessage('c'), third.options);
    expect(third.of('AgentFailed')).toMatchObject([{ outputText: '' }]);
    expect(third.told).toEqual(['0 user: c']);
  });
});
