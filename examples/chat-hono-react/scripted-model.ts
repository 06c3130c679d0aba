import { setTimeout as rest } from 'node:timers/promises';
import type { Messages } from 'onward';
import type { InferenceDriver, InferenceResponse } from 'onward/drivers';

/** In the place of a model: it finds the order it reads of, and pays it back or moves its day where the text says so. */
export function scriptedModel(): InferenceDriver {
  return {
    name: 'scripted',
    infer: async ({ messages }) => answer(messages),
    async *stream({ messages }, { signal }) {
      const response = answer(messages);
      for (const text of response.content.split(/(?<= )/)) {
        yield { type: 'content', text };
        await rest(30, undefined, { signal });
      }
      yield { type: 'done', response };
    },
  };
}

function answer(messages: Messages): InferenceResponse {
  const all = [...messages];
  const asked = all.findLastIndex((message) => message.isUser());
  const text = all[asked]?.text ?? '';
  const order = /[A-Z]-\d+/.exec(text)?.[0];
  const [found, paid] = all.slice(asked + 1).filter((message) => message.isTool());

  if (order === undefined)
    return say('Which order is it? I know A-1001 and A-1002, and can pay an order back.');
  if (!found) return call('find_order', { order }, `I look up order ${order}.`);
  const { article, euros, state } = JSON.parse(found.text) as Record<string, string | number>;
  if (article === undefined) return say(`There is no order ${order}.`);
  if (/another day|reschedule|later/i.test(text))
    return paid
      ? say(`Fine: ${paid.text}.`)
      : call('reschedule', { order }, `Let us find another day for the ${article}.`);
  if (!/money|refund|back|broken/i.test(text))
    return say(`Order ${order} is a ${article} for ${euros} euros, and it is ${state}.`);
  if (!paid)
    return call('refund', { order, euros }, `A ${article} for ${euros} euros. I can pay it back.`);
  return say(paid.text.startsWith('Denied') ? 'Then I leave it as it is.' : `Done: ${paid.text}.`);
}

const say = (content: string): InferenceResponse => ({
  content,
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
});

const call = (name: string, args: object, content: string): InferenceResponse => ({
  ...say(content),
  toolCalls: [{ name, args }],
  finishReason: 'tool_calls',
});
