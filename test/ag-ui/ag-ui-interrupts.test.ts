import { defineTool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { agUiOverHttp, answer, ask, ofType, run, shown } from '../setup/ag-ui.ts';
import { asTool } from '../setup/nested-agents.ts';
import { ann, builderWith, followingDriver, sqlitePlace } from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

/** A tool that needs approval, and what it has done. */
function payments() {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: {
      type: 'object',
      properties: { eur: { type: 'number' } },
      required: ['eur'],
      additionalProperties: false,
    },
    needsApproval: true,
    execute: ({ eur }) => {
      paid.push(eur);
      return `paid ${eur}`;
    },
  });
  return { pay, paid };
}

const paying = () => {
  const { pay, paid } = payments();
  const agent = () =>
    builderWith(followingDriver([toolCall('pay', { eur: 5 }), final('Settled.')]), pay).build();
  return { agent, paid };
};

describe('approvals are interrupts', () => {
  it.each([
    ['approved', { approved: true }, [5], /^paid 5$/],
    ['denied', { approved: false, reason: 'too much' }, [], /too much/],
    ['edited', { approved: true, editedArgs: { eur: 3 } }, [3], /^paid 3|paid 3$/],
    ['cancelled', 'cancelled' as const, [], /no answer/],
  ])('a call that is %s continues in another process', async (how, payload, done, result) => {
    const { agent: make, paid } = paying();
    const place = sqlitePlace();
    const here = await agUiOverHttp(make(), { place });
    const client = here.agent('thread-1');
    const seen = await ask(client, 'pay');
    expect(seen.error).toBeNull();
    expect(seen.events.at(-1)).toMatchObject({
      outcome: {
        type: 'interrupt',
        interrupts: [
          {
            reason: 'tool_call',
            toolCallId: ofType(seen, 'TOOL_CALL_START')[0]!['toolCallId'],
            message: 'The agent wants to call pay. The call has not run.',
            metadata: { onward: { tool: 'pay', args: { eur: 5 } } },
          },
        ],
      },
    });
    expect(client.state).toMatchObject({ onward: { status: 'paused' } });
    expect(paid).toEqual([]);
    // a message does not get around the approval
    expect((await ask(client, 'and now?')).error?.message).toMatch(/pending interrupt/);
    client.setMessages(client.messages.slice(0, -1));
    await here.runtime.close({ graceMs: 0 });
    const there = await agUiOverHttp(make(), { place });
    client.url = there.url;
    const resumed = await answer(client, payload);
    expect(resumed.error).toBeNull();
    expect(paid).toEqual(done);
    expect(ofType(resumed, 'TOOL_CALL_START')).toEqual([]);
    expect(ofType(resumed, 'TOOL_CALL_RESULT')).toMatchObject([
      { content: expect.stringMatching(result) },
    ]);
    expect(ofType(resumed, 'CUSTOM')).toMatchObject(
      how === 'edited' ? [{ name: 'onward.tool_call_args', value: { args: { eur: 3 } } }] : [],
    );
    expect(client.pendingInterrupts).toEqual([]);
    expect(resumed.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(shown(client).map((one) => (one as unknown[])[0])).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('an answer counts only for the arguments that were shown, and a lost request may be repeated', async () => {
    const { agent: make, paid } = paying();
    const { agent, post, runtime } = await agUiOverHttp(make());
    const client = agent('thread-1');
    await ask(client, 'pay');
    const [interrupt] = client.pendingInterrupts;
    const body = (interruptId: string, payload: unknown) => ({
      threadId: 'thread-1',
      runId: 'r',
      messages: [],
      resume: [{ interruptId, status: 'resolved', payload }],
    });
    const forged = await post(body('approval_0123', { approved: true }));
    expect([forged.status, ((await forged.json()) as { error: object }).error]).toMatchObject([
      409,
      { code: 'unknown_approval' },
    ]);
    for (const payload of [undefined, true, {}, { approved: 'yes' }, { approved: 1 }])
      expect((await post(body(interrupt!.id, payload))).status).toBe(400);
    for (const editedArgs of [[], 'x', 7])
      expect((await post(body(interrupt!.id, { approved: true, editedArgs }))).status).toBe(400);
    expect(paid).toEqual([]);
    expect((await runtime.get('thread-1', ann)).pendingApprovals).toHaveLength(1);
    for (let i = 0; i < 3; i += 1) {
      const said = await post(body(interrupt!.id, { approved: true }));
      expect([said.status, (await said.text()).includes('"Settled."')]).toEqual([200, true]);
    }
    expect(paid).toEqual([5]);
  });

  it('each call of a step has its own answer', async () => {
    const { pay, paid } = payments();
    const steps = [
      toolCalls([
        { name: 'pay', args: { eur: 1 } },
        { name: 'pay', args: { eur: 2 } },
      ]),
      final('Settled.'),
    ];
    const { agent } = await agUiOverHttp(builderWith(followingDriver(steps), pay).build());
    const client = agent('thread-1');
    await ask(client, 'pay');
    expect(client.pendingInterrupts).toHaveLength(2);
    const seen = await answer(client, { approved: false }, { approved: true });
    expect([seen.error, paid]).toEqual([null, [2]]);
  });

  it('a call of a nested agent is asked of the user, and the agent continues', async () => {
    const { pay, paid } = payments();
    const child = builderWith(
      followingDriver([toolCall('pay', { eur: 9 }), final('Nested: settled.')]),
      pay,
    )
      .withName('helper')
      .build();
    const root = builderWith(
      followingDriver([toolCall('help', { input: 'please' }), final('Done.')]),
      asTool(child),
    ).build();
    const { agent } = await agUiOverHttp(root);
    const client = agent('thread-1');
    const seen = await ask(client, 'go');
    expect(seen.error).toBeNull();
    const [started] = ofType(seen, 'SUBAGENT_STARTED');
    expect(ofType(seen, 'SUBAGENT_FINISHED')).toMatchObject([{ outcome: { type: 'suspended' } }]);
    expect(client.pendingInterrupts).toMatchObject([
      { reason: 'tool_call', subagentRunId: started!['subagentRunId'] },
    ]);
    const resumed = await answer(client, { approved: true });
    expect([resumed.error, paid]).toEqual([null, [9]]);
    expect(ofType(resumed, 'SUBAGENT_STARTED')).toMatchObject([{ name: 'helper' }]);
    expect(ofType(resumed, 'SUBAGENT_FINISHED')).toMatchObject([{ outcome: { type: 'success' } }]);
    expect(resumed.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
  });

  it('a client that comes back finds the open approval, and answers it', async () => {
    const { agent: make, paid } = paying();
    const { agent } = await agUiOverHttp(make());
    await ask(agent('thread-1'), 'pay');
    const back = agent('thread-1');
    const seen = await run(back);
    expect(seen.error).toBeNull();
    expect(back.pendingInterrupts).toHaveLength(1);
    expect(shown(back)).toEqual([
      ['user', 'pay'],
      ['assistant', '', ['pay', '{"eur":5}']],
    ]);
    await answer(back, { approved: true });
    expect(paid).toEqual([5]);
    // at rest, the whole conversation is in the snapshot
    const later = agent('thread-1');
    expect((await run(later)).error).toBeNull();
    expect(shown(later)).toEqual(shown(back));
  });
});

describe('questions of tools are interrupts', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 2 } },
    required: ['name'],
  } as const;
  const greet = () =>
    defineTool({
      name: 'greet',
      description: 'Greets.',
      parameters: { type: 'object', properties: {} },
      execute: (_args, { input, requestInput }) => {
        const given = input?.answers['who'];
        if (!given) return requestInput({ who: { message: 'What is your name?', schema } });
        return given.action === 'accept'
          ? `Hello ${String(given.content?.['name'])}`
          : given.action;
      },
    });
  const agentOf = () =>
    builderWith(followingDriver([toolCall('greet'), final('Greeted.')]), greet()).build();

  it.each([
    ['answered', { name: 'Ann' }, 'Hello Ann'],
    ['cancelled', 'cancelled' as const, 'cancel'],
  ])('a question that is %s continues in another process', async (_how, payload, result) => {
    const place = sqlitePlace();
    const here = await agUiOverHttp(agentOf(), { place });
    const client = here.agent('thread-1');
    const seen = await ask(client, 'hi');
    expect(seen.error).toBeNull();
    expect(client.pendingInterrupts).toMatchObject([
      {
        reason: 'input_required',
        message: 'greet asks: What is your name?',
        responseSchema: schema,
        toolCallId: ofType(seen, 'TOOL_CALL_START')[0]!['toolCallId'],
      },
    ]);
    await here.runtime.close({ graceMs: 0 });
    const there = await agUiOverHttp(agentOf(), { place });
    client.url = there.url;
    if (payload !== 'cancelled') {
      // what does not fit the form keeps the question open
      expect((await answer(client, { name: 'A' })).error?.message).toMatch(/HTTP 400/);
      expect((await answer(client, undefined)).error?.message).toMatch(/HTTP 400/);
      expect(client.pendingInterrupts).toHaveLength(1);
    }
    const resumed = await answer(client, payload);
    expect(resumed.error).toBeNull();
    expect(ofType(resumed, 'TOOL_CALL_RESULT')).toMatchObject([{ content: result }]);
    expect(resumed.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
  });
});

describe('other pauses are interrupts', () => {
  it.each([
    ['continues', {}, 'success'],
    ['is cancelled', 'cancelled' as const, 'cancelled'],
  ])('a run that an operator paused %s', async (_how, payload, outcome) => {
    let pause = (): Promise<unknown> => Promise.resolve();
    const work = defineTool({
      name: 'work',
      description: 'Works.',
      parameters: { type: 'object', properties: {} },
      execute: async () => {
        await pause();
        return 'worked';
      },
    });
    const { agent, runtime } = await agUiOverHttp(
      builderWith(followingDriver([toolCall('work'), final('Done.')]), work).build(),
    );
    pause = () => runtime.pause('thread-1', { ...ann, reason: 'a check' });
    const client = agent('thread-1');
    expect((await ask(client, 'go')).error).toBeNull();
    expect(client.pendingInterrupts).toMatchObject([
      { reason: 'onward:paused', message: expect.stringContaining('a check') },
    ]);
    const resumed = await answer(client, payload);
    expect(resumed.error).toBeNull();
    expect(resumed.events.at(-1)).toMatchObject({ outcome: { type: outcome } });
  });
});
