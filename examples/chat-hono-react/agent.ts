import { createAgent, defineTool, type Agent } from 'onward';
import { guardInput } from 'onward/capabilities';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

// a real one: const model = openai('gpt-5-mini'), from 'onward/drivers/openai'
const model = scriptedModel();

const orders = new Map([
  ['A-1001', { article: 'lamp', euros: 90, state: 'delivered' }],
  ['A-1002', { article: 'chair', euros: 240, state: 'on its way' }],
]);
const order = z.object({ order: z.string().describe('Such as A-1001.') });

const findOrder = defineTool({
  name: 'find_order',
  description: 'What was ordered, for how much, and where it is.',
  parameters: order,
  execute: ({ order }) => orders.get(order) ?? { unknown: order },
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: order.extend({ euros: z.number().positive() }),
  needsApproval: true,
  execute: ({ order, euros }) => `${euros} euros for ${order} are on their way`,
});

/** Asks the customer in the middle of the call: the chat shows a form, and the answer may come days later. */
const reschedule = defineTool({
  name: 'reschedule',
  description: 'Asks the customer for another day of delivery, and books it.',
  parameters: order,
  execute({ order }, { input, requestInput }) {
    const day = input?.answers['day'];
    if (!day)
      return requestInput({ day: { message: `When may we bring ${order}?`, schema: dayForm } });
    return day.action === 'accept'
      ? `${order} comes on ${z.string().parse(day.content?.['day'])}`
      : `${order} comes as planned`;
  },
});
const dayForm = {
  type: 'object',
  properties: {
    day: { type: 'string', title: 'Day', enum: ['Monday', 'Wednesday', 'Friday'] },
    floor: { type: 'integer', title: 'Floor', minimum: 0, maximum: 40 },
  },
  required: ['day'],
};

/** Stops a message with a card number before the model sees it. */
const noCardNumbers = guardInput({
  name: 'no-card-numbers',
  check: ({ text }) =>
    /\b(?:\d[ -]?){13,19}\b/.test(text)
      ? { block: 'a card number', message: 'Please do not send card numbers.' }
      : undefined,
});

export const support: Agent = createAgent({
  name: 'support',
  systemPrompt: 'You help customers of a furniture shop with their orders.',
  model,
  tools: [findOrder, refund, reschedule],
  capabilities: [noCardNumbers],
  maxSteps: 8,
});
