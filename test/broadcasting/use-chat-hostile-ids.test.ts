import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { hostileIds, shownId, usableId } from '../setup/hostile-ids.ts';
import { ann } from '../setup/sessions.ts';
import { chunksIn, post, readBy, says } from './use-chat-setup.ts';
import { answered, gated, submit, world } from './use-chat-world.ts';

const { toolCalls, final } = ScenarioStep;
const named = hostileIds.map((id) => ({ id, title: shownId(id) }));

describe.each(named)('D90: useChat and a call whose id is $title', ({ id }) => {
  it('answers each call separately', async () => {
    const pay = gated();
    const calls = [
      { name: 'pay', id, args: { sum: 'odd' } },
      { name: 'pay', id: 'plain', args: { sum: 'plain' } },
    ];
    const { runtime, handler } = world([[toolCalls(calls), final('Done.')]], {}, pay);
    const { message } = await readBy(await chunksIn(await handler(post(submit('pay')))));
    const ids = message.parts.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : []));
    for (const each of ids) expect(each).toMatch(usableId);
    const say = async (from: typeof message, callId: string) => {
      const given = answered(from, Object.fromEntries([[callId, { approved: true }]]));
      const body = { id: 'chat-1', messages: [says('pay'), given] };
      const chunks = await chunksIn(await handler(post(body)));
      return (await readBy(chunks, structuredClone(given))).message;
    };
    const half = await say(message, 'plain');
    expect(pay.calls).toEqual([{ sum: 'plain' }]);
    await say(
      half,
      ids.find((each) => each !== 'plain')!,
    );
    expect(pay.calls).toEqual([{ sum: 'plain' }, { sum: 'odd' }]);
    expect(await runtime.get('chat-1', ann)).toMatchObject({ status: 'completed' });
  });
});
