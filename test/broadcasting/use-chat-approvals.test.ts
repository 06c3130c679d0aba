import { toUseChatMessages } from 'onward/broadcasting/use-chat';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ann, builderWith, followingDriver } from '../setup/sessions.ts';
import { chunksIn, post, readBy, says, shown } from './use-chat-setup.ts';
import { answered, errorIn, gated, submit, world } from './use-chat-world.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('approvals', () => {
  const asksTwice = [
    toolCalls([
      { name: 'pay', args: { sum: 1 } },
      { name: 'pay', args: { sum: 2 } },
    ]),
    final('Both done.'),
  ];
  const calls = ['t0s0c0', 't0s0c1'] as const;

  async function asked(...tools: Parameters<typeof world>[2][]) {
    const pay = gated();
    const { runtime, handler } = world([asksTwice], {}, pay, ...tools);
    const { message } = await readBy(await chunksIn(await handler(post(submit('pay')))));
    const answer = async (given: Parameters<typeof answered>[1], from = message) => {
      const body = { id: 'chat-1', messages: [says('pay'), answered(from, given)] };
      const chunks = await chunksIn(await handler(post(body)));
      return { chunks, ...(await readBy(chunks, structuredClone(answered(from, given)))) };
    };
    return { runtime, handler, pay, message, answer };
  }

  it('are requested with the arguments, and the stream ends', async () => {
    const { message, runtime } = await asked();
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      ...calls.map((id, i) => ({
        type: 'tool-pay',
        toolCallId: id,
        state: 'approval-requested',
        input: { sum: i + 1 },
        approval: { id },
        callProviderMetadata: {
          onward: { argsHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
      })),
    ]);
    expect(message.metadata).toMatchObject({ status: 'paused' });
    expect((await runtime.get('chat-1', ann)).status).toBe('paused');
  });

  it('continue the same message after an approval and a denial with a reason', async () => {
    const { answer, message, pay, runtime } = await asked();
    const after = await answer({
      t0s0c0: { approved: true },
      t0s0c1: { approved: false, reason: 'too much' },
    });
    expect(after.message.id).toBe(message.id);
    expect(shown(after.message)).toMatchObject([
      { type: 'step-start' },
      { toolCallId: calls[0], state: 'output-available', output: { paid: true } },
      { toolCallId: calls[1], state: 'output-denied', approval: { reason: 'too much' } },
      { type: 'step-start' },
      { type: 'text', text: 'Both done.' },
    ]);
    expect(pay.calls).toEqual([{ sum: 1 }]);
    expect(after.chunks.filter(({ type }) => type === 'tool-input-available')).toEqual([]);
    const { items } = await runtime.messages('chat-1', ann);
    expect(items.find(({ toolCallId }) => toolCallId === calls[1])?.content).toContain('too much');
  });

  it('D34: run nothing for a repeated answer and return the same message', async () => {
    const { answer, pay } = await asked();
    const given = { t0s0c0: { approved: true }, t0s0c1: { approved: true } };
    const [one, two] = await Promise.all([answer(given), answer(given)]);
    const three = await answer(given);
    for (const { message, errors } of [one, two, three]) {
      expect(errors).toEqual([]);
      expect(shown(message)).toEqual(shown(one.message));
    }
    expect(pay.calls).toHaveLength(2);
  });

  it('accept answers one at a time and from two clients', async () => {
    const { answer, message, pay, runtime } = await asked();
    const first = await answer({ t0s0c0: { approved: true } });
    expect(shown(first.message)).toMatchObject([
      {},
      { state: 'output-available' },
      { state: 'approval-requested' },
    ]);
    expect((await runtime.get('chat-1', ann)).status).toBe('paused');
    // the second client does not know the first answer
    const other = await answer({ t0s0c1: { approved: true } }, message);
    expect(shown(other.message)).toMatchObject([
      {},
      { state: 'output-available' },
      { state: 'output-available' },
      {},
      { text: 'Both done.' },
    ]);
    expect(pay.calls).toHaveLength(2);
  });

  it('show arguments that another client edited', async () => {
    const { answer, runtime } = await asked();
    await runtime.approve('chat-1', calls[0], { ...ann, args: { sum: 50 } });
    const after = await answer({ t0s0c1: { approved: true } });
    expect(shown(after.message)[1]).toMatchObject({
      state: 'output-available',
      input: { sum: 50 },
    });
  });

  it('answer 409 to a new message and to an answer for an unknown call', async () => {
    const { handler, message } = await asked();
    expect(await errorIn(await handler(post(submit('hello?', 'user-msg-2'))))).toEqual([
      409,
      'awaiting_approval',
    ]);
    const foreign = structuredClone(message);
    for (const part of foreign.parts) if ('toolCallId' in part) part.toolCallId += 'x';
    const given = { t0s0c0x: { approved: true } };
    const body = { id: 'chat-1', messages: [answered(foreign, given)] };
    expect(await errorIn(await handler(post(body)))).toEqual([409, 'unknown_approval']);
  });

  it('D19: end with a stop, and a later approval runs nothing', async () => {
    const { handler, answer, pay, runtime } = await asked();
    const stop = new Request('http://host/api/chat/chat-1/stop', { method: 'POST' });
    expect((await handler(stop)).status).toBe(204);
    await runtime.wait('chat-1', ann);
    const after = await answer({ t0s0c0: { approved: true }, t0s0c1: { approved: true } });
    expect(pay.calls).toEqual([]);
    expect(shown(after.message)).toMatchObject([
      {},
      { state: 'output-error' },
      { state: 'output-error' },
      { type: 'data-onward-stop', data: { status: 'cancelled' } },
    ]);
  });

  it('D31: work for a call of a nested agent', async () => {
    const pay = gated();
    const inner = builderWith(
      followingDriver([toolCall('pay', { sum: 3 }, 'Inner.'), final('in')]),
      pay,
    )
      .withName('inner')
      .build()
      .asTool({ name: 'help', description: 'Helps.' });
    const { runtime, handler } = world(
      [[toolCall('help', { input: 'x' }), final('out')]],
      {},
      inner,
    );
    const { message } = await readBy(await chunksIn(await handler(post(submit('go')))));
    const [waits] = (await runtime.get('chat-1', ann)).pendingApprovals;
    expect(shown(message)).toMatchObject([
      {},
      { type: 'tool-help', state: 'input-available' },
      { type: 'tool-pay', state: 'approval-requested', input: { sum: 3 } },
    ]);
    const { items } = await runtime.messages('chat-1', ann);
    const stored = toUseChatMessages(items, { pendingApprovals: [waits!] });
    expect(stored.at(-1)).toMatchObject({ id: message.id, parts: shown(message) });
    const given = { [waits!.callId]: { approved: true } };
    const body = { id: 'chat-1', messages: [answered(message, given)] };
    const chunks = await chunksIn(await handler(post(body)));
    const after = await readBy(chunks, structuredClone(answered(message, given)));
    expect(after.errors).toEqual([]);
    expect(shown(after.message)).toMatchObject([
      {},
      { type: 'tool-help', state: 'output-available', output: 'in' },
      { type: 'tool-pay', state: 'output-available', output: { paid: true } },
      {},
      { type: 'text', text: 'out' },
    ]);
  });
});
