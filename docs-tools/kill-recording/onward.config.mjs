import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgent, defineTool, ErrorPolicy } from 'onward';
import { defineConfig } from 'onward/config';
import * as z from 'zod';

/** The world outside: a line for each effect of a tool. */
const log = (line) => appendFileSync('effects.log', `${line}\n`);

const chargeCard = defineTool({
  name: 'charge_card',
  description: 'Charges the card of the customer.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => {
    log(`charged ${amount}`);
    return { charged: amount };
  },
});

const printLabel = defineTool({
  name: 'print_label',
  description: 'Prints the shipping label of an order.',
  parameters: z.object({ order: z.number() }),
  idempotent: true,
  execute: async ({ order }) => {
    log(`label ${order}: started`);
    await sleep(2_400);
    log(`label ${order}: printed`);
    return { label: `L-${order}` };
  },
});

const calls = [
  { name: 'charge_card', args: { amount: 89 } },
  { name: 'print_label', args: { order: 1042 } },
];
/** Makes these calls one by one, then answers. */
const scriptedModel = {
  name: 'scripted',
  async infer({ messages }) {
    const call = calls[messages.withRole('tool').length];
    return {
      content: call ? '' : 'Order 1042 is paid and its label is printed.',
      toolCalls: call ? [call] : [],
      finishReason: call ? 'tool_calls' : 'stop',
      usage: { input: 20, output: 10, total: 30 },
    };
  },
};

export default defineConfig({
  agents: [
    createAgent({
      name: 'shipping',
      model: scriptedModel,
      tools: [chargeCard, printLabel],
      errorPolicy: ErrorPolicy.production(),
    }),
  ],
});
