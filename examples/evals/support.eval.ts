/**
 * Ten cases for an agent, with a scripted model in its place, so that they run without a key:
 *
 *   npm run build && node dist/cli/main.js eval examples/evals
 *
 * In your own project: npx onward eval
 */
import {
  calledTools,
  defineEval,
  maxCost,
  maxSteps,
  noFailedTools,
  outputContains,
  scorer,
  stoppedBecause,
  type EvalDefinition,
} from 'onward/evals';
import { readDataset } from 'onward/evals/node';
import { support, type Shop } from './agent.ts';

/** Fresh orders for each run, so that no case changes another. */
const newShop = (): Shop => ({
  orders: new Map([
    ['A-17', { status: 'shipped', daysAgo: 3 }],
    ['B-4', { status: 'packed', daysAgo: 1 }],
    ['C-1', { status: 'delivered', daysAgo: 44 }],
  ]),
  refunded: [],
});

const evals: EvalDefinition = defineEval({
  name: 'support',
  agent: support,
  deps: () => ({ shop: newShop() }),
  cases: () => readDataset(new URL('./cases.jsonl', import.meta.url)),
  approvals: 'approve',
  scorers: [
    stoppedBecause('completed'),
    outputContains(),
    calledTools(null, { order: 'exact' }),
    noFailedTools(),
    maxSteps(3),
    maxCost(0.01),
    // a rule of your own: nothing is refunded before it was looked up
    scorer('looked_up_first', ({ run: { calls } }) => {
      const refund = calls.findIndex(({ tool }) => tool === 'refund_order');
      return refund === -1
        ? null
        : calls.slice(0, refund).some(({ tool }) => tool === 'find_order');
    }),
  ],
});

// oxlint-disable-next-line import/no-default-export -- onward eval reads it
export default evals;
