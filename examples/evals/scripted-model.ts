import type { Message } from 'onward';
import type { InferenceDriver, InferenceResponse } from 'onward/drivers';

/** In the place of a model: it understands questions about orders, refunds, returns and delivery. */
export const scriptedModel = (): InferenceDriver => ({
  name: 'scripted',
  model: 'scripted',
  infer: ({ messages }) => Promise.resolve(answer([...messages])),
});

const usage = { input: 200, output: 40, total: 240 };
const say = (content: string): InferenceResponse => ({
  content,
  toolCalls: [],
  finishReason: 'stop',
  usage,
});
const call = (name: string, args: Record<string, string>): InferenceResponse => ({
  content: '',
  toolCalls: [{ name, args }],
  finishReason: 'tool_calls',
  usage,
});

function answer(messages: readonly Message[]): InferenceResponse {
  const asked = messages.findLastIndex((message) => message.isUser());
  const question = messages[asked]?.text ?? '';
  const results = messages
    .slice(asked + 1)
    .filter((message) => message.isTool())
    .map(({ text }) => text);
  const order = /\b[A-Z]-\d+\b/.exec(messages.map(({ text }) => text).join(' '))?.[0];
  const topic = /deliver/i.test(question)
    ? 'delivery'
    : /return/i.test(question)
      ? 'returns'
      : null;
  if (topic !== null)
    return results[0] === undefined ? call('search_help', { topic }) : say(results[0]);
  if (order === undefined) return say('Hello! Which order is it about? Its number is like A-17.');
  const [found, refunded] = results;
  if (found === undefined) return call('find_order', { order });
  if (found.startsWith('There is no')) return say(`${found} Is the number right?`);
  const { status, daysAgo } = JSON.parse(found) as { status: string; daysAgo: number };
  if (!/refund/i.test(question)) return say(`Order ${order} is ${status}, ${daysAgo} days old.`);
  if (daysAgo > 30)
    return say(`I can't refund ${order}: it is ${daysAgo} days old, and 30 is the limit.`);
  return refunded === undefined ? call('refund_order', { order }) : say(refunded);
}
