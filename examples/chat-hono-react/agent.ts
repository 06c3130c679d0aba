import { createAgent, defineTool, type Agent } from 'onward';
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

export const support: Agent = createAgent({
  name: 'support',
  systemPrompt: 'You help customers of a furniture shop with their orders.',
  model,
  tools: [findOrder, refund],
  maxSteps: 8,
});
