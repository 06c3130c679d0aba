/**
 * A support agent from question to answer: two tools over a small order book, one of which fails once, and the
 * account of why the run continued and why it stopped. The model is scripted, so it needs no key and no network.
 */
import { createAgent, defineTool, describeEvent, ErrorPolicy } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

interface Order {
  readonly id: string;
  readonly customer: string;
  readonly item: string;
  readonly shippedOn: string;
}

const orders: readonly Order[] = [
  { id: 'A-1001', customer: 'mira@example.com', item: 'desk lamp', shippedOn: '2026-01-12' },
  { id: 'A-1002', customer: 'jon@example.com', item: 'office chair', shippedOn: '2026-01-14' },
  { id: 'A-1003', customer: 'mira@example.com', item: 'monitor arm', shippedOn: '2026-01-15' },
];

const findOrders = defineTool({
  name: 'find_orders',
  description: 'Lists the orders of a customer, newest first.',
  parameters: z.object({ customer: z.string() }),
  execute: ({ customer }) =>
    orders
      .filter((order) => order.customer === customer)
      .toSorted((a, b) => b.shippedOn.localeCompare(a.shippedOn)),
});

let lookups = 0;

const trackParcel = defineTool({
  name: 'track_parcel',
  description: 'Finds where the parcel of an order is.',
  parameters: z.object({ orderId: z.string() }),
  idempotent: true,
  execute: ({ orderId }) => {
    lookups += 1;
    if (lookups === 1) throw new Error('carrier gateway answered 502');
    const order = orders.find(({ id }) => id === orderId);
    if (!order) throw new Error(`no order ${orderId}`);
    return { orderId, item: order.item, status: 'in delivery', expected: '2026-01-17' };
  },
});

const model = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall(
    'find_orders',
    { customer: 'mira@example.com' },
    'Let me look at your orders.',
  ),
  ScenarioStep.toolCall('track_parcel', { orderId: 'A-1003' }),
  ScenarioStep.toolCall('track_parcel', { orderId: 'A-1003' }),
  ScenarioStep.stream([
    'Your monitor arm (A-1003) is in delivery ',
    'and should arrive on 17 January.',
  ]),
);

const agent = createAgent({
  name: 'support',
  model,
  systemPrompt: 'You help customers of a small furniture shop.',
  tools: [findOrders, trackParcel],
  maxSteps: 8,
  errorPolicy: ErrorPolicy.production(),
});

const question = 'Where is my last order? I am mira@example.com.';
console.log(`user       ${question}`);

const state = await agent.run(question, {
  wiretap: (event) => {
    switch (event.type) {
      case 'ToolCallStarted':
        return console.log(`tool       ${event.tool}(${JSON.stringify(event.args)})`);
      case 'ToolCallCompleted':
        return console.log(`           ${event.success ? 'ok' : `failed: ${event.error}`}`);
      case 'ContinuationEvaluated':
        return console.log(`decision   ${describeEvent(event).replace(/^Agent \[\w+\] /, '')}`);
      default:
        return undefined;
    }
  },
});

console.log(`assistant  ${state.outputText}`);
console.log('');
for (const step of state.steps) {
  const { outcome, number, errors } = step;
  const policy = outcome?.evaluationFor('ErrorPolicyCriterion');
  if (errors.length > 0) console.log(`step ${number} had an error: ${policy?.reason}`);
}
console.log('');
console.log(state.lastContinuationOutcome?.explain());

/* prints
user       Where is my last order? I am mira@example.com.
decision   step 0: CONTINUE (requested by ToolCallPresenceCheck)
tool       find_orders({"customer":"mira@example.com"})
           ok
decision   step 1: CONTINUE (requested by ToolCallPresenceCheck)
tool       track_parcel({"orderId":"A-1003"})
           failed: carrier gateway answered 502
decision   step 2: CONTINUE (requested by ToolCallPresenceCheck)
tool       track_parcel({"orderId":"A-1003"})
           ok
decision   step 3: CONTINUE (requested by ToolCallPresenceCheck)
decision   step 4: STOP (completed)
assistant  Your monitor arm (A-1003) is in delivery and should arrive on 17 January.

step 2 had an error: tool error in track_parcel, retrying (1/5)

Completed (ToolCallPresenceCheck): the answer asks for no tools.
  allow    StepsLimit             4 of 8 steps
  allow    ExecutionTimeLimit     0 of 300 seconds
  allow    FinishReasonCheck      finish reason stop
  allow    ErrorPolicyCriterion   no error
  allow    StopRequestCheck       no stop requested
  stop     ToolCallPresenceCheck  the answer asks for no tools
*/
