import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  type AnyAgent,
  type InferenceDriver,
  type SessionRuntime,
  type Tool,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

const { toolCall, toolCalls, final, error } = ScenarioStep;
const owner = { owner: 'dev', wait: true } as const;

/** A session of a kind that a test is written from. */
export interface TestedSession {
  readonly name: string;
  /** What the models answered, by agent. */
  readonly answers: Readonly<Record<string, readonly ScenarioStep[]>>;
  agent(modelOf: ModelOf, change: string | null): AnyAgent;
  play(runtime: SessionRuntime, id: string): Promise<unknown>;
  /** Changes of the agent that the test has to notice. */
  readonly changes: readonly string[];
}

type ModelOf = (agent: string) => InferenceDriver;

/** A model that cannot be called: there is no key. */
export const noModel = (name: string): InferenceDriver => ({
  name,
  infer: () => Promise.reject(new Error('no key')),
  async *stream() {
    await Promise.reject(new Error('no key'));
    yield* [];
  },
});

export const modelsOf = ({ answers }: TestedSession): ModelOf => {
  const made = new Map(
    Object.entries(answers).map(([agent, steps]) => [
      agent,
      DeterministicDriver.create(steps, { name: agent }),
    ]),
  );
  return (agent) => made.get(agent) ?? noModel(agent);
};

const stock = (change: string | null): Tool =>
  defineTool({
    name: 'stock',
    description: 'How many pieces we have.',
    parameters: z.object({ article: change === 'schema' ? z.number() : z.string() }),
    execute: ({ article }) => {
      if (article === 'bad' && change !== 'no failure') throw new Error('no such article');
      return { article, pieces: change === 'tool result' ? 6 : 7 };
    },
  });
const refund = (change: string | null): Tool =>
  defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.number() }),
    needsApproval: change !== 'no approval',
    execute: () => {
      if (change !== 'recording') throw new Error('a test must not refund');
      return { refunded: true };
    },
  });

const shop = (model: InferenceDriver, ...tools: readonly Tool[]): AgentBuilder =>
  AgentBuilder.base()
    .withName('shop')
    .withModel(model)
    .withTools(...tools);

export const testedSessions: readonly TestedSession[] = [
  {
    name: 'tools',
    answers: {
      shop: [
        toolCalls([
          { name: 'stock', args: { article: 'lamp' } },
          { name: 'stock', args: { article: 'desk' } },
        ]),
        final('Seven of each.'),
        final('Bye.'),
      ],
    },
    agent: (model, change) =>
      change === 'tool gone'
        ? shop(model('shop')).build()
        : shop(model('shop'), stock(change)).build(),
    async play(runtime, id) {
      await runtime.send(id, 'How many lamps and desks? "Quotes", `ticks` and ${more}\n', owner);
      await runtime.send(id, 'Thanks', owner);
    },
    changes: ['tool result', 'schema', 'tool gone'],
  },
  {
    name: 'failed tool and model call',
    answers: {
      shop: [
        toolCall('stock', { article: 'bad' }),
        error({ code: 'overloaded', message: 'busy', retryable: true }),
        final('There is no such article.'),
      ],
    },
    agent: (model, change) =>
      shop(model('shop'), stock(change))
        .withErrorPolicy(
          change === 'error policy' ? ErrorPolicy.stopOnAnyError() : ErrorPolicy.retryAll(),
        )
        .build(),
    play: (runtime, id) => runtime.send(id, 'How many?', owner),
    changes: ['no failure', 'error policy'],
  },
  {
    name: 'limit and grant',
    answers: {
      shop: [
        toolCall('stock', { article: 'lamp' }),
        toolCall('stock', { article: 'desk' }),
        final('Seven.'),
      ],
    },
    agent: (model, change) =>
      shop(model('shop'), stock(change))
        .withMaxSteps(change === 'limit' ? 9 : 1)
        .build(),
    async play(runtime, id) {
      await runtime.send(id, 'How many?', owner);
      await runtime.resume(id, { ...owner, grant: { steps: 2 } });
    },
    changes: ['limit', 'tool result'],
  },
  {
    name: 'approvals',
    answers: {
      shop: [
        toolCalls([
          { name: 'refund', args: { order: 7 } },
          { name: 'refund', args: { order: 8 } },
          { name: 'stock', args: { article: 'lamp' } },
        ]),
        final('One refund.'),
      ],
    },
    agent: (model, change) => shop(model('shop'), stock(change), refund(change)).build(),
    async play(runtime, id) {
      const { pendingApprovals } = await runtime.send(id, 'Refund 7 and 8', owner);
      const [first, second] = pendingApprovals;
      await runtime.approve(id, first?.callId ?? '', { ...owner, args: { order: 9 } });
      await runtime.deny(id, second?.callId ?? '', { ...owner, reason: 'not that one' });
    },
    changes: ['no approval', 'tool result'],
  },
  {
    name: 'nested agents',
    answers: {
      shop: [
        toolCalls([
          { name: 'ask', args: { input: 'lamps' } },
          { name: 'ask', args: { input: 'desks' } },
        ]),
        final('Both.'),
      ],
      helper: [
        toolCall('stock', { article: 'lamp' }),
        toolCall('stock', { article: 'desk' }),
        final('Seven lamps.'),
        final('Seven desks.'),
      ],
    },
    agent: (model, change) =>
      shop(
        model('shop'),
        AgentBuilder.base()
          .withName('helper')
          .withModel(model('helper'))
          .withTools(stock(change))
          .withMaxSteps(change === 'limit' ? 1 : 9)
          .build()
          .asTool({ name: 'ask', description: 'Asks a helper.' }),
      ).build(),
    play: (runtime, id) => runtime.send(id, 'Ask about both', owner),
    changes: ['tool result', 'limit'],
  },
  {
    name: 'structured output',
    answers: { shop: [final('{"pieces":"many"}'), final('{"pieces":7}')] },
    agent: (model, change) =>
      shop(model('shop'))
        .withErrorPolicy(ErrorPolicy.retryAll())
        .withResponseFormat(z.object({ pieces: change === 'format' ? z.string() : z.number() }))
        .build(),
    play: (runtime, id) => runtime.send(id, 'How many?', owner),
    changes: ['format'],
  },
  {
    name: 'compaction',
    answers: {
      shop: [
        final('A long answer. '.repeat(80), { usage: { input: 900, output: 300, total: 1200 } }),
        final('Another one. '.repeat(80), { usage: { input: 2000, output: 300, total: 2300 } }),
        final('They asked about lamps twice.', { usage: { input: 500, output: 20, total: 520 } }),
        final('Done.', { usage: { input: 300, output: 5, total: 305 } }),
      ],
    },
    agent: (model, change) =>
      shop(model('shop'))
        .withCompaction({ atTokens: change === 'threshold' ? 90_000 : 2_000, keepTurns: 1 })
        .build(),
    async play(runtime, id) {
      await runtime.send(id, `What about lamps? ${'Please. '.repeat(60)}`, owner);
      await runtime.send(id, `And more about lamps. ${'Please. '.repeat(60)}`, owner);
      await runtime.send(id, 'And now?', owner);
    },
    changes: ['threshold'],
  },
];
