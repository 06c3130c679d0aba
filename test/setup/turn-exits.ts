import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  noProgressLimit,
  sessionStepsLimit,
  toolCalledCheck,
  type Tool,
} from 'onward';
import { mockTool } from 'onward/testing';
import { z } from 'zod';
import type { Said, Wire } from './provider-wires.ts';
import { ScriptedProvider } from './scripted-provider.ts';
import { gate, type Gate } from './sessions.ts';
import type { Ending, Turns } from './turns.ts';

/** What an exit of a turn can use. */
export interface Scene {
  readonly wire: Wire;
  readonly provider: ScriptedProvider;
  /** Opens when the tool `wait` has started. The tool ends when `release` opens. */
  readonly begun: Gate;
  readonly release: Gate;
  /** The providers of the agent and of nested agents. */
  readonly providers: ScriptedProvider[];
}

/** One way in which a turn ends. */
export interface Exit {
  readonly name: string;
  readonly script: readonly Said[];
  /** Null if it differs between providers. */
  readonly ends: Ending | null;
  with?(builder: AgentBuilder, scene: Scene): AgentBuilder;
  /** Whether it would end the next turn too. Then an agent without it takes that turn. */
  readonly isLasting?: true;
  /** Default: the turn starts and ends on its own. */
  act?(turns: Turns, scene: Scene): Promise<unknown>;
}

export function scene(wire: Wire, script: readonly Said[]): Scene {
  const provider = new ScriptedProvider(wire, script);
  return { wire, provider, begun: gate(), release: gate(), providers: [provider] };
}

export const builderFor = ({ provider, begun, release }: Scene): AgentBuilder =>
  AgentBuilder.base()
    .withName('support')
    .withModel(provider.model)
    .withTools(...tools(begun, release));

const tools = (begun: Gate, release: Gate): readonly Tool[] => [
  mockTool('look', 'found'),
  mockTool('fail', () => {
    throw new Error('out of order');
  }),
  mockTool('pay', 'paid', { needsApproval: true }),
  mockTool(
    'wait',
    () => {
      begun.open();
      return release.passed;
    },
    { timeoutMs: 20_000 },
  ),
  mockTool('hang', () => new Promise(() => {}), { timeoutMs: 10 }),
  defineTool({
    name: 'add',
    description: 'Adds.',
    parameters: z.object({ n: z.number() }),
    execute: ({ n }) => n + 1,
  }),
];

const look: Said = { text: 'Let me see.', calls: [{ name: 'look' }] };
const two: Said = { thought: 'Both.', calls: [{ name: 'look' }, { name: 'wait' }] };
const paying: Said = { text: 'I pay.', calls: [{ name: 'pay' }, { name: 'look' }] };
const end = (status: Ending['status'], stopReason: Ending['stopReason']) => ({
  status,
  stopReason,
});
const completed = end('completed', 'completed');
const stopped = end('stopped', 'user_requested');
const failed = end('failed', 'error');

/** A nested agent with its own provider, behind the tool `help`. */
const helper =
  (script: readonly Said[], change: (builder: AgentBuilder) => AgentBuilder = (b) => b) =>
  (builder: AgentBuilder, { wire, providers, begun, release }: Scene): AgentBuilder => {
    const provider = new ScriptedProvider(wire, script);
    providers.push(provider);
    const nested = AgentBuilder.base()
      .withName('helper')
      .withModel(provider.model)
      .withTools(...tools(begun, release));
    return builder.withTools(
      change(nested).build().asTool({ name: 'help', description: 'Helps.' }),
    );
  };
const helping: Said = { calls: [{ name: 'help', args: { input: 'please' } }, { name: 'look' }] };

/** Aborts the turn during a tool or an answer. */
const abortedIn =
  (where: 'tool' | 'answer'): NonNullable<Exit['act']> =>
  async (turns, { begun, provider }) => {
    const turn = turns.begin();
    await (where === 'tool' ? begun.passed : provider.hanging);
    await turns.stop();
    await turn;
  };
/** Answers a call that needs approval, or stops the turn. */
const answered =
  (answer: 'approve' | 'deny' | 'stop'): NonNullable<Exit['act']> =>
  async (turns) => {
    await turns.begin();
    await (answer === 'stop' ? turns.stop() : turns.answer(answer));
  };
const pausedThen =
  (next: 'stop' | 'resume'): NonNullable<Exit['act']> =>
  async (turns, { begun, release }) => {
    const turn = turns.begin();
    await begun.passed;
    await turns.pause();
    release.open();
    await turn;
    await turns[next]();
  };
/** A time limit that several exits use. */
const timed: Pick<Exit, 'ends' | 'with' | 'isLasting'> = {
  ends: end('stopped', 'time_limit'),
  with: (builder) => builder.withTimeout({ seconds: 0.1 }),
  isLasting: true,
};
const landed: Pick<Exit, 'ends' | 'with'> = {
  ends: end('stopped', 'steps_limit'),
  with: (builder) => builder.withMaxSteps(2).withSoftLanding(),
};

export const exits: readonly Exit[] = [
  { name: 'an answer', script: [{ text: 'Done.' }], ends: completed },
  {
    name: 'an answer after tools',
    script: [look, { thought: 'Hm.', text: 'Done.' }],
    ends: completed,
  },
  { name: 'an answer without text', script: [{}], ends: completed },
  { name: 'an empty answer', script: [{ text: '' }], ends: completed },
  { name: 'reasoning only', script: [{ thought: 'Hm.' }], ends: completed },
  {
    name: 'a tool that ends the run',
    script: [look],
    ends: completed,
    with: (builder) => builder.addContinuationCriteria(toolCalledCheck('look')),
    isLasting: true,
  },
  {
    name: 'the step limit',
    script: [look, look],
    ends: end('stopped', 'steps_limit'),
    with: (builder) => builder.withMaxSteps(2),
  },
  {
    name: 'the session step limit',
    script: [look],
    ends: end('stopped', 'steps_limit'),
    with: (builder) => builder.addContinuationCriteria(sessionStepsLimit(1)),
    isLasting: true,
  },
  {
    name: 'the token limit',
    script: [look],
    ends: end('stopped', 'token_limit'),
    with: (builder) => builder.withMaxTokens(15),
    isLasting: true,
  },
  {
    name: 'the no progress limit',
    script: [look, look, look],
    ends: end('stopped', 'guard'),
    with: (builder) => builder.addContinuationCriteria(noProgressLimit(2)),
  },
  {
    name: 'the time limit during a tool',
    script: [two],
    ...timed,
  },
  {
    name: 'the time limit during an answer',
    script: [{ text: 'Let me think', hangs: true }],
    ...timed,
  },
  {
    name: 'a soft landing',
    script: [look, { text: 'So far.' }],
    ...landed,
  },
  {
    name: 'a soft landing that calls tools',
    script: [look, { text: 'One more.', calls: [{ name: 'look' }, { name: 'pay' }] }],
    ...landed,
  },
  {
    name: 'a tool that failed next to one that did not',
    script: [{ calls: [{ name: 'fail' }, { name: 'look' }] }],
    ends: failed,
  },
  {
    name: 'tool errors beyond the retries',
    script: [{ calls: [{ name: 'fail' }] }, { calls: [{ name: 'fail' }] }],
    ends: end('failed', 'retry_limit'),
    with: (builder) =>
      builder.withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 })),
  },
  { name: 'a tool timeout', script: [{ calls: [{ name: 'hang' }] }], ends: failed },
  { name: 'an unknown tool', script: [{ calls: [{ name: 'no such tool!' }] }], ends: failed },
  {
    name: 'invalid arguments',
    script: [{ calls: [{ name: 'add', args: { n: 'x' } }] }],
    ends: failed,
  },
  {
    name: 'arguments that are not JSON',
    script: [{ calls: [{ name: 'add', args: '{"n": ' }] }],
    ends: failed,
  },
  {
    name: 'arguments truncated at the output limit',
    script: [{ calls: [{ name: 'add', args: '{"n": ' }], finish: 'length' }],
    ends: failed,
  },
  { name: 'a provider that rejects the request', script: [look, { status: 400 }], ends: failed },
  { name: 'a provider that is down', script: [look, { status: 500 }], ends: failed },
  {
    name: 'an answer that broke off',
    script: [look, { text: 'Let me', breaks: true }],
    ends: failed,
  },
  {
    name: 'an answer that broke off after reasoning',
    script: [look, { thought: 'Hm.', text: 'Let me', breaks: true }],
    ends: failed,
  },
  {
    name: 'the output limit',
    script: [{ thought: 'Hm.', text: 'Once upon', finish: 'length' }],
    ends: end('stopped', 'finish_reason'),
  },
  {
    name: 'the output limit during reasoning',
    script: [{ thought: 'Hm.', finish: 'length' }],
    ends: end('stopped', 'finish_reason'),
  },
  {
    name: 'the content filter',
    script: [look, { finish: 'content_filter' }],
    ends: end('stopped', 'finish_reason'),
  },
  {
    name: 'the content filter during an answer',
    script: [look, { text: 'Well', finish: 'content_filter' }],
    ends: end('stopped', 'finish_reason'),
  },
  { name: 'a refusal', script: [look, { finish: 'refusal' }], ends: null },
  {
    name: 'an abort during an answer',
    script: [look, { text: 'Let me think', hangs: true }],
    ends: stopped,
    act: abortedIn('answer'),
  },
  {
    name: 'an abort during an answer with reasoning',
    script: [{ thought: 'Hm.', text: 'Let me think', hangs: true }],
    ends: stopped,
    act: abortedIn('answer'),
  },
  {
    name: 'an abort before the first text',
    script: [look, { hangs: true }],
    ends: stopped,
    act: abortedIn('answer'),
  },
  {
    name: 'an abort during a tool',
    script: [two],
    ends: stopped,
    act: abortedIn('tool'),
  },
  {
    name: 'an abort while one call needs approval and another runs',
    script: [{ calls: [{ name: 'pay' }, { name: 'wait' }, { name: 'look' }] }],
    ends: stopped,
    act: abortedIn('tool'),
  },
  {
    name: 'a denied call',
    script: [paying, { text: 'Then not.' }],
    ends: completed,
    act: answered('deny'),
  },
  {
    name: 'an approved call',
    script: [paying, { text: 'Paid.' }],
    ends: completed,
    act: answered('approve'),
  },
  {
    name: 'a stop while a call needs approval',
    script: [paying],
    ends: stopped,
    act: answered('stop'),
  },
  {
    name: 'a pause, then a stop',
    script: [two],
    ends: stopped,
    act: pausedThen('stop'),
  },
  {
    name: 'a pause, then a resume',
    script: [two, { text: 'Done.' }],
    ends: completed,
    act: pausedThen('resume'),
  },
  {
    name: 'a call that a hook blocked',
    script: [look, { text: 'Then not.' }],
    ends: completed,
    with: (builder) =>
      builder.withHooks({ name: 'guard', aroundToolCall: async () => ({ blocked: 'not today' }) }),
  },
  ...(['aroundToolCall', 'aroundModelCall', 'aroundStep', 'aroundExecution'] as const).map(
    (point): Exit => ({
      name: `a hook that threw in ${point}`,
      script: [look],
      ends: failed,
      with: (builder) =>
        builder.withHooks({ name: 'broken', [point]: () => Promise.reject(new Error('oh')) }),
      isLasting: true,
    }),
  ),
  {
    name: 'a criterion that threw',
    script: [look],
    ends: failed,
    with: (builder) =>
      builder.addContinuationCriteria({
        name: 'Broken',
        evaluate: ({ stepCount }) => {
          if (stepCount === 0) return { decision: 'allow', reason: 'not yet' } as never;
          throw new Error('oh');
        },
      }),
    isLasting: true,
  },
  {
    name: 'an answer in the wrong format',
    script: [{ text: 'no JSON' }],
    ends: failed,
    with: (builder) => builder.withResponseFormat(z.object({ n: z.number() })),
    isLasting: true,
  },
  {
    name: 'a nested agent that reached a limit',
    script: [helping, { text: 'Done.' }],
    ends: completed,
    with: helper([look], (builder) => builder.withMaxSteps(1)),
  },
  {
    name: 'a nested agent that failed',
    script: [helping],
    ends: failed,
    with: helper([{ status: 400 }]),
  },
  {
    name: 'an abort in a nested agent',
    script: [helping],
    ends: stopped,
    with: helper([two]),
    act: abortedIn('tool'),
  },
  {
    name: 'a stop while a nested call needs approval',
    script: [helping],
    ends: stopped,
    with: helper([paying]),
    act: answered('stop'),
  },
  {
    name: 'a nested call that was denied',
    script: [helping, { text: 'Done.' }],
    ends: completed,
    with: helper([paying, { text: 'Then not.' }]),
    act: answered('deny'),
  },
];
