import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  modelCallFailed,
  pairingProblem,
  type Agent,
  type InferenceChunk,
  type InferenceDriver,
  type InferenceResponse,
  type Message,
  type Tool,
} from 'onward';
import type { WriteEffect } from './effect-log.ts';
import { between, sleep } from './random.ts';

/** What the model asks for, step by step; after the last step it answers. */
export type Plan = readonly (readonly string[])[];

export interface KillAgentOptions {
  readonly write: WriteEffect;
  readonly random: () => number;
  /** Called where a tool has left its line. */
  readonly reached?: (effect: string) => void;
}

interface ToolTraits {
  readonly idempotent?: boolean;
  readonly needsApproval?: boolean;
  /** At least and at most, in milliseconds; a tool without it answers at once. */
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

/** Agents as tools, and what the model hands them. */
const nestedPlans: Readonly<Record<string, Plan>> = {
  research: [['fetch'], ['book', 'fetch']],
  consult: [['book', 'sign']],
  errand: [['book']],
};

/** The text of a user message that makes the model follow the plan. */
export const planText = (tag: string, plan: Plan): string => `#${tag} ${JSON.stringify(plan)}`;

export function readPlan(content: unknown): { readonly tag: string; readonly plan: Plan } | null {
  const [, tag, json] = (typeof content === 'string' && /^#(\S+) (.+)$/.exec(content)) || [];
  return tag !== undefined && json !== undefined ? { tag, plan: JSON.parse(json) as Plan } : null;
}

/** An agent with a model that knows nothing but the conversation: any process can go on with it anywhere. */
export function killAgent({ write, random, reached }: KillAgentOptions): Agent {
  const tool = (name: string): Tool => {
    const { takes, resultChars = 0, ...rest } = traits[name] ?? {};
    return defineTool({
      name,
      description: `Leaves a line when it begins and when it ends: ${name}.`,
      parameters: { type: 'object' },
      ...rest,
      execute(_args, { deps, executionId, callId }) {
        const effect = {
          session: String(deps['session']),
          execution: executionId,
          subject: callId,
          what: name,
        };
        const end = (): string => {
          write({ kind: 'end', ...effect });
          reached?.(`end of ${name}`);
          return resultOf(name, callId).padEnd(resultChars, '.');
        };
        write({ kind: 'begin', ...effect });
        reached?.(`begin of ${name}`);
        return takes ? sleep(between(random, ...takes)).then(end) : end();
      },
    });
  };
  const driver = plannedDriver(() => between(random, 0, 6));
  // an unknown effect is told to the model, and the run goes on
  const policy = ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore');
  const base = AgentBuilder.base().withDriver(driver).withErrorPolicy(policy);
  const nested = base.withName('helper').withTools(tool('fetch'), tool('book'), tool('sign'));
  const agents = Object.keys(nestedPlans).map((name) =>
    nested.build().asTool({ name, description: `An agent of its own: ${name}.` }),
  );
  return base
    .withName('victim')
    .withTools(tool('note'), tool('look'), tool('pay'), tool('slow'), tool('ask'), ...agents)
    .build();
}

/** How the result of a call begins. */
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

/** Each model call uses one token in and one out, so that the accounts can be checked by counting. */
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
  for (const { role, content, toolCalls } of conversation) {
    const read = role === 'user' ? readPlan(content) : null;
    if (read) [asked, done] = [read, 0];
    else if (toolCalls.length > 0) done += 1;
  }
  const calls = asked?.plan[done] ?? [];
  return {
    content: calls.length > 0 ? 'One moment.' : `done ${asked?.tag}`,
    // ids that repeat in every step, as some providers give them
    toolCalls: calls.map((name, i) => ({ id: `functions.${name}:${i}`, name, args: argsOf(name) })),
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: { input: 1, output: 1 },
    cost: 1,
  };
}

const argsOf = (name: string): Record<string, unknown> => {
  const plan = nestedPlans[name];
  return plan ? { input: planText('nested', plan) } : {};
};
