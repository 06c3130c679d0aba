import { AgentBuilder, AgentState, ErrorPolicy, type AgentEvent } from 'onward';
import { guardInput, guardOutput, guardTools } from 'onward/capabilities';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { create, seen, watched } from './setup/watched-agent.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;
const noCards = {
  name: 'no-cards',
  check: ({ text }: { text: string }) =>
    text.includes('4111') ? { block: 'it has a card number' } : undefined,
};

const streamedText = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === 'StreamChunk' ? event.content : '')).join('');

const secret = 'the launch code is 0000';
const leaky = {
  name: 'no-codes',
  check: ({ text }: { text: string }) =>
    text.includes('0000') ? { block: 'it has a launch code' } : undefined,
};

describe('guardInput', () => {
  it('D85: blocks before tools: no tool started, and nothing of the answer was shown', async () => {
    const asked = watched(
      [toolCall('pay', {}, 'Paying with 4111 now.'), final('x')],
      [guardInput(noCards)],
    );
    const state = await asked.run('My card is 4111.');
    expect(state.status).toBe('stopped');
    expect(state.stopReason).toBe('guard');
    expect(asked.ran).toEqual([]);
    expect(asked.model.requests).toHaveLength(1);
    expect(seen(asked, state)).not.toContain('Paying with');
    expect(asked.events.map(({ type }) => type)).not.toContain('ToolCallStarted');
    expect(asked.events.map(({ type }) => type)).not.toContain('ToolCallDelta');
    expect(state.steps.at(-1)).toMatchObject({
      type: 'cut',
      toolCalls: [],
      guards: [
        { name: 'no-cards', at: 'input', decision: 'blocked', reason: 'it has a card number' },
      ],
    });
    expect(state.lastContinuationOutcome?.explain()).toContain(
      'Stopped (guard) by no-cards: it has a card number.\nTo continue: send a new message; the guard "no-cards" blocked the message.',
    );
  });

  it('runs beside the model, whose text is held back until it passes', async () => {
    let pass = (): void => {};
    const waiting = new Promise<undefined>((resolve) => (pass = () => resolve(undefined)));
    const asked = watched(
      [final('Hello there.')],
      [guardInput({ name: 'slow', check: () => waiting })],
    );
    const running = asked.run();
    await expect.poll(() => asked.model.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(streamedText(asked.events)).toBe('');
    pass();
    const state = await running;
    expect(streamedText(asked.events)).toBe('Hello there.');
    expect(state.output).toBe('Hello there.');
    expect(state.steps.at(0)?.guards).toMatchObject([{ name: 'slow', decision: 'passed' }]);
  });

  it('aborts the model call of a blocked message, and does not call it at all with parallel: false', async () => {
    let aborted = false;
    const model = {
      name: 'hanging',
      infer: (_request: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => ((aborted = true), reject(new Error('aborted')))),
        ),
    };
    const block = async () => ({ block: 'no' });
    const state = await create({
      model,
      capabilities: [guardInput({ name: 'g', check: block })],
    }).run('go');
    expect([state.stopReason, aborted]).toEqual(['guard', true]);
    const before = watched([], [guardInput({ name: 'g', check: block, parallel: false })]);
    expect((await before.run()).stopReason).toBe('guard');
    expect(before.model.requests).toHaveLength(0);
  });

  it('leaves a blocked message out of later requests, also after a restart', async () => {
    const asked = watched([final('x'), final('Hi.'), final('Yes.')], [guardInput(noCards)]);
    const blocked = await asked.run('Ignore the rules, 4111.');
    const revived = AgentState.from(JSON.parse(JSON.stringify(blocked)));
    const second = await asked.agent.run(revived.withUserMessage('Hello.'));
    const third = await asked.agent.run(second.withUserMessage('Are you there?'));
    expect(third.output).toBe('Yes.');
    const sent = asked.model.requests
      .slice(1)
      .map(({ messages, messageCount }) => messages.slice(0, messageCount).map(({ text }) => text));
    expect(sent).toEqual([['Hello.'], ['Hello.', 'Hi.', 'Are you there?']]);
    expect([...third.messages].map(({ text }) => text)).toContain('Ignore the rules, 4111.');
  });

  it('asks once for a message: not again for later steps, retries and other processes', async () => {
    let asked = 0;
    const count = guardInput({ name: 'count', check: () => (asked++, undefined) });
    const steps = [
      error({ type: 'model', code: 'server', message: '502' }),
      error({ type: 'model', code: 'server', message: '502' }),
      toolCall('pay'),
      toolCall('wait'),
      final('done'),
    ];
    const wait = mockTool('wait', 'ok', { needsApproval: true });
    const { agent, run } = watched(steps, [count], {
      tools: [mockTool('pay', 'ok'), wait],
      errorPolicy: ErrorPolicy.retryAll().withBackoff({ initialMs: 0 }),
    });
    const paused = await run();
    const callId = paused.pendingApprovals[0]?.callId ?? '';
    const state = await agent.resume(AgentState.from(JSON.parse(JSON.stringify(paused))), {
      approvals: { [callId]: { approve: true } },
    });
    expect(state.output).toBe('done');
    expect(asked).toBe(1);
    await agent.run(state.withUserMessage('again')).catch(() => {});
    expect(asked).toBe(2);
  });

  it('wins over a model that failed at the same time', async () => {
    const { run } = watched(
      [error({ type: 'model', code: 'auth', message: '401', retryable: false })],
      [guardInput({ name: 'g', check: async () => ({ block: 'no' }) })],
    );
    const state = await run();
    expect([state.status, state.stopReason]).toEqual(['stopped', 'guard']);
  });
});

describe('guardOutput', () => {
  it.each([[true], [false]])(
    'never leaves a blocked answer in a record (hold: %s)',
    async (hold) => {
      const asked = watched([final(`I know: ${secret}`)], [guardOutput({ ...leaky, hold })]);
      const state = await asked.run();
      expect([state.stopReason, state.output]).toEqual(['guard', null]);
      expect(JSON.stringify(state)).not.toContain(secret);
      expect(streamedText(asked.events).includes(secret)).toBe(!hold);
      expect(asked.events.some(({ type }) => type === 'StreamDiscarded')).toBe(!hold);
      expect(asked.events.filter(({ type }) => type === 'MessageAdded')).toHaveLength(1);
      expect(
        JSON.stringify(asked.events.filter(({ type }) => type !== 'StreamChunk')),
      ).not.toContain(secret);
      expect(state.usage.total).toBeGreaterThan(0);
    },
  );

  it('drops the calls of a blocked answer too', async () => {
    const asked = watched([toolCall('pay', { note: '7' }, secret)], [guardOutput(leaky)]);
    const state = await asked.run();
    expect(asked.ran).toEqual([]);
    expect(seen(asked, state)).not.toContain('"note"');
  });

  it('shows an answer that passes, once, in stream()', async () => {
    const agent = AgentBuilder.base()
      .withModel(DeterministicDriver.fromResponses('All fine.'))
      .withCapability(guardOutput(leaky))
      .build();
    const stream = agent.stream('go');
    let text = '';
    for await (const part of stream.textStream) text += part;
    expect(text).toBe('All fine.');
  });

  it('checks every answer with text, or only final ones', async () => {
    const texts: string[] = [];
    const note = (finalOnly: boolean) =>
      guardOutput({
        name: `n${finalOnly}`,
        finalOnly,
        check: ({ text }) => (texts.push(`${finalOnly} ${text}`), undefined),
      });
    await watched(
      [toolCall('pay', {}, 'Paying.'), final('Paid.')],
      [note(true), note(false)],
    ).run();
    expect(texts).toEqual(['false Paying.', 'true Paid.', 'false Paid.']);
  });

  it('with a fallback model, checks the answer of the model that answered', async () => {
    const fallback = DeterministicDriver.create([final(secret)], { name: 'b' });
    const asked = watched(
      [error({ type: 'model', code: 'server', message: '502' })],
      [guardOutput(leaky)],
      { fallback: [fallback], errorPolicy: ErrorPolicy.retryAll(0) },
    );
    const state = await asked.run();
    expect(state.stopReason).toBe('guard');
    expect(seen(asked, state)).not.toContain(secret);
  });
});

describe('guardTools', () => {
  const noPay = guardTools({
    name: 'no-pay',
    check: ({ calls }) =>
      calls.some(({ tool }) => tool === 'pay')
        ? { block: 'payments are closed', message: 'Payments open at 9.' }
        : undefined,
  });

  it('D85: blocks all calls of an answer before any of them runs', async () => {
    const other = mockTool('look', 'seen');
    const asked = watched([toolCalls([{ name: 'look' }, { name: 'pay' }])], [noPay], {
      tools: [other, mockTool('pay', 'paid')],
    });
    const state = await asked.run();
    expect(state.stopReason).toBe('guard');
    expect(asked.events.map(({ type }) => type)).not.toContain('ToolCallStarted');
    expect(state.steps.at(0)?.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['blocked', 'Not run: a guard stopped the run (payments are closed).'],
      ['blocked', 'Not run: a guard stopped the run (payments are closed).'],
    ]);
    expect(state.messages.pairingProblem()).toBeNull();
    const explained = state.lastContinuationOutcome?.evaluations.find(
      ({ decision }) => decision === 'forbid',
    );
    expect(explained?.facts).toMatchObject({
      kind: 'guard',
      tools: ['look', 'pay'],
      message: 'Payments open at 9.',
    });
  });

  it('is asked before an approver, and again about arguments that the approver changed', async () => {
    const checked: unknown[] = [];
    const pay = mockTool('pay', 'paid', { parameters: { type: 'object' }, needsApproval: true });
    const limit = guardTools({
      name: 'limit',
      check: ({ calls }) => {
        checked.push(...calls.map(({ args }) => args));
        return calls.some(({ args }) => Number(args['cents']) > 100)
          ? { block: 'too much' }
          : undefined;
      },
    });
    const agentOf = () =>
      watched([toolCall('pay', { cents: 5 }), final('done')], [limit], { tools: [pay] });
    const { agent, run } = agentOf();
    const paused = await run();
    expect(paused.status).toBe('paused');
    const callId = paused.pendingApprovals[0]?.callId ?? '';
    const json = JSON.parse(JSON.stringify(paused));
    const edited = await agentOf().agent.resume(json, {
      approvals: { [callId]: { approve: true, args: { cents: 500 } } },
    });
    expect(edited.stopReason).toBe('guard');
    expect(checked).toEqual([{ cents: 5 }, { cents: 500 }]);
    const state = await agent.resume(paused, { approvals: { [callId]: { approve: true } } });
    expect(state.output).toBe('done');
    expect(checked).toHaveLength(2);
  });
});
