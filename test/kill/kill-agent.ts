import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  type Agent,
  type Message,
  type Tool,
  type ToolContext,
} from 'onward';
import {
  type InferenceDriver,
  modelCallFailed,
  type InferenceChunk,
  type InferenceResponse,
} from 'onward/drivers';
import { pairingProblem } from '../../src/messages/pairing.ts';
import { hostileIds } from '../setup/hostile-ids.ts';
import { underLease, type WriteEffect } from './effect-log.ts';
import { between, seedOf, sleep } from './random.ts';

/** The tool calls of the model, step by step. It answers after the last step. */
export type Plan = readonly (readonly string[])[];

export interface KillAgentOptions {
  readonly write: WriteEffect;
  readonly random: () => number;
  /** How many times longer tools and model calls take. Default 1. */
  readonly pace?: number;
  /** The lease token under which this process works on a session, as far as it knows. */
  readonly tokenOf?: (session: string) => number;
  /** Called after a tool logged an effect. */
  readonly reached?: (effect: string) => void;
}

interface ToolTraits {
  readonly idempotent?: boolean;
  readonly needsApproval?: boolean;
  /** Minimum and maximum duration in milliseconds. A tool without it answers at once. */
  readonly takes?: readonly [number, number];
  readonly resultChars?: number;
}

/** `fetch`, `book` and `sign` are tools of the nested agent. */
export const traits: Readonly<Record<string, ToolTraits>> = {
  note: {},
  look: { idempotent: true, takes: [1, 12], resultChars: 10_000 },
  pay: { takes: [4, 25] },
  slow: { takes: [120, 240] },
  ask: { needsApproval: true, takes: [1, 6] },
  fetch: { idempotent: true, takes: [1, 10] },
  book: { takes: [2, 15] },
  sign: { needsApproval: true },
};

/** Nested agents and the plans that the model gives them. */
const nestedPlans: Readonly<Record<string, Plan>> = {
  research: [['fetch'], ['book', 'fetch']],
  consult: [['book', 'sign']],
  errand: [['book']],
};

/** A user message that makes the model follow the plan. `isHostile` makes it use invalid call ids. */
export const planText = (tag: string, plan: Plan, isHostile = false): string =>
  `#${tag}${isHostile ? ' hostile' : ''} ${JSON.stringify(plan)}`;

interface AskedPlan {
  readonly tag: string;
  readonly plan: Plan;
  readonly isHostile: boolean;
}

export function readPlan(content: unknown): AskedPlan | null {
  const [, tag, hostile, json] =
    (typeof content === 'string' && /^#(\S+)( hostile)? (.+)$/.exec(content)) || [];
  return tag !== undefined && json !== undefined
    ? { tag, plan: JSON.parse(json) as Plan, isHostile: hostile !== undefined }
    : null;
}

/** An agent whose model needs only the conversation, so that any process can continue. */
export function killAgent(options: KillAgentOptions): Agent {
  const { write, random, reached, tokenOf = () => 0, pace = 1 } = options;
  const tool = (name: string): Tool => {
    const { takes, resultChars = 0, ...rest } = traits[name] ?? {};
    return defineTool({
      name,
      description: `Leaves a line when it begins and when it ends: ${name}.`,
      parameters: { type: 'object' },
      ...rest,
      execute(_args, { deps, executionId, callId }: ToolContext<{ session?: string }>) {
        const effect = {
          session: String(deps.session),
          execution: executionId,
          subject: callId,
          what: name,
        };
        const end = (): string => {
          write({ kind: 'end', ...effect });
          reached?.(`end of ${name}`);
          return resultOf(name, callId).padEnd(resultChars, '.');
        };
        write({ kind: 'begin', ...effect, detail: underLease(tokenOf(effect.session)) });
        reached?.(`begin of ${name}`);
        return takes ? sleep(pace * between(random, ...takes)).then(end) : end();
      },
    });
  };
  const driver = plannedDriver(() => pace * between(random, 0, 6));
  // an unknown effect is reported to the model, and the run continues
  const policy = ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore');
  const base = AgentBuilder.base().withDriver(driver).withErrorPolicy(policy);
  const nested = base.withName('helper').withTools(tool('fetch'), tool('book'), tool('sign'));
  const agents = Object.keys(nestedPlans).map((name) =>
    nested.build().asTool({ name, description: `An agent of its own: ${name}.` }),
  );
  return base
    .withName('victim')
    .withCompaction({ atTokens: 3_000, keepTurns: 1, model: recorder })
    .withTools(tool('note'), tool('look'), tool('pay'), tool('slow'), tool('ask'), ...agents)
    .build();
}

/** Writes summaries, and uses nothing, so that totals can be checked by counting. */
const recorder: InferenceDriver = {
  name: 'recorder',
  infer: async () => ({
    content: 'A record.',
    toolCalls: [],
    finishReason: 'stop',
    usage: { input: 0, output: 0 },
    cost: 0,
  }),
};

/** The start of the result of a call. */
export const resultOf = (tool: string, callId: string): string => `${tool} of ${callId}`;

function plannedDriver(waitMs: () => number): InferenceDriver {
  return {
    name: 'planned',
    async infer({ messages }) {
      await sleep(waitMs());
      return answerTo(messages);
    },
    async *stream({ messages }): AsyncIterable<InferenceChunk> {
      await sleep(waitMs() / 2);
      const response = answerTo(messages);
      for (const text of response.content.match(/.{1,6}/g) ?? []) yield { type: 'content', text };
      await sleep(waitMs() / 2);
      yield { type: 'done', response };
    },
  };
}

/** Each model call uses one input and one output token, so that totals can be checked by counting. */
function answerTo(messages: Iterable<Message>): InferenceResponse {
  const conversation = [...messages];
  const problem = pairingProblem(conversation);
  if (problem !== null)
    throw modelCallFailed({
      type: 'model',
      code: 'invalid_history',
      message: problem,
      retryable: false,
    });
  let asked = readPlan('#nothing []');
  let done = 0;
  for (const { role, content, text, toolCalls } of conversation) {
    const read = role === 'user' ? readPlan(content) : null;
    if (read) [asked, done] = [read, 0];
    // a summary may stand for earlier steps
    else if (toolCalls.length > 0) done = Number(/\d+/.exec(text)?.[0]);
  }
  const calls = asked?.plan[done] ?? [];
  return {
    content: calls.length > 0 ? `One moment, ${done + 1}.` : `done ${asked?.tag}`,
    toolCalls: calls.map((name, i) => ({
      id: asked?.isHostile ? hostileId(asked.tag, done, i) : tameId(asked?.tag ?? '', name, i),
      name,
      args: argsOf(name, asked?.isHostile ?? false),
    })),
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: { input: 1, output: 1 },
    cost: 1,
  };
}

/** Ids that repeat in every step and turn, as some providers send them. Some can be kept. */
const tameId = (tag: string, name: string, i: number): string =>
  seedOf(tag) % 2 === 0 ? `functions.${name}:${i}` : `${name}_${i}`;

/** Some ids repeat in one answer. */
const hostileId = (tag: string, step: number, i: number): string =>
  hostileIds[seedOf(tag, step, i === 1 ? 0 : i) % hostileIds.length] ?? '';

const argsOf = (name: string, isHostile: boolean): Record<string, unknown> => {
  const plan = nestedPlans[name];
  return plan ? { input: planText('nested', plan, isHostile) } : {};
};
