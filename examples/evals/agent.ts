import { createAgent, defineTool, ErrorPolicy, type Agent } from 'onward';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

/** What the tools need: in production a database, in an eval a few orders. */
export interface Shop {
  readonly orders: ReadonlyMap<string, { readonly status: string; readonly daysAgo: number }>;
  readonly refunded: string[];
}

const order = z.object({ order: z.string().describe('An order number such as A-17.') });
const help: Readonly<Record<string, string>> = {
  returns: 'Send it back within 30 days. The label is in the box.',
  delivery: 'Delivery takes two to four days.',
};

const findOrder = defineTool({
  name: 'find_order',
  description: 'Status and age of an order.',
  parameters: order,
  execute: ({ order: id }, { deps }: { readonly deps: { readonly shop: Shop } }) =>
    deps.shop.orders.get(id) ?? `There is no order ${id}.`,
});
const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order that is at most 30 days old.',
  parameters: order,
  needsApproval: true,
  execute: ({ order: id }, { deps }: { readonly deps: { readonly shop: Shop } }) => {
    deps.shop.refunded.push(id);
    return `${id} is refunded.`;
  },
});
const searchHelp = defineTool({
  name: 'search_help',
  description: 'A help page, by topic: returns or delivery.',
  parameters: z.object({ topic: z.string() }),
  execute: ({ topic }) => help[topic] ?? 'There is no page about this.',
});

// a real one: const model = 'openai:gpt-5-mini'
const model = scriptedModel();

export const support: Agent<{ shop: Shop }> = createAgent({
  name: 'support',
  systemPrompt:
    'You answer customers of a shop. Look orders up before you say anything about them.',
  model,
  // the price of the scripted model, so that its runs have a cost
  prices: { scripted: { input: 1, output: 4 } },
  tools: [findOrder, refundOrder, searchHelp],
  errorPolicy: ErrorPolicy.production(),
  maxSteps: 6,
});
