import { AgentBuilder, ErrorPolicy, type Agent, type Hook, type SessionRuntime } from 'onward';
import type { InferenceDriver, InferenceRequest } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';
import { mockTool } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelCallFailed } from '../../src/inference/inference-error.ts';
import { Messages } from '../../src/messages/messages.ts';
import { fresh } from '../../src/testing/store-contract/store-harness.ts';
import { compacting, compaction, cutsOf } from '../setup/compactions.ts';
import { stores } from '../setup/four-stores.ts';
import { runtimeOn } from '../setup/sessions.ts';

/** What the steps of a turn do, one number each; the last one of a turn answers. */
const turns = fc.array(
  fc.record({
    steps: fc.array(fc.nat(99), { maxLength: 5 }),
    window: fc.integer({ min: 11, max: 16 }),
    cut: fc.constantFrom('none', 'none', 'summary', 'tool_results'),
    prompt: fc.constantFrom('You help.', 'You help. Be brief.', 'You help.'),
  }),
  { minLength: 1, maxLength: 4 },
);
const makes = fc.record({
  /** How a hook changes requests. */
  hook: fc.constantFrom('none', 'append', 'rewrite', 'drop', 'twice', 'prompt', 'cut-tools'),
  isSteered: fc.boolean(),
  hasNote: fc.boolean(),
  hasLongPrompt: fc.boolean(),
});

/** Requests as JSON, by the request id that their steps get. */
type Received = Map<string, unknown>;

const jsonOf = (request: InferenceRequest): unknown =>
  JSON.parse(JSON.stringify(request)) as unknown;

/** A model that does what the numbers say, and keeps what it got. */
function scripted(received: Received, next: () => number | undefined): InferenceDriver {
  return {
    name: 'scripted',
    model: 'scripted-1',
    async infer(request) {
      const requestId = `req_${received.size}`;
      received.set(requestId, jsonOf(request));
      const number = next();
      if (number !== undefined && number % 10 === 9)
        throw modelCallFailed(
          { type: 'model', code: 'overloaded', message: 'Overloaded.', retryable: true },
          { requestId },
        );
      const names = request.tools.map(({ name }) => name);
      const isLast = number === undefined || names.length === 0 || request.toolChoice === 'none';
      const usage = { input: 10, output: 5, total: 15 };
      if (isLast)
        return { content: 'Done.', toolCalls: [], finishReason: 'stop', usage, requestId };
      const calls = Array.from({ length: 1 + (number % 3) }, (_, i) => ({
        id: null,
        name: names[(number + i) % names.length] ?? '',
        args: { input: `word ${number}` },
      }));
      const reasoning = number % 2 === 0 ? 'Let me look.' : null;
      return {
        content: '',
        toolCalls: calls,
        finishReason: 'tool_calls',
        usage,
        reasoning,
        requestId,
      };
    },
  };
}

const changing: Readonly<Record<string, (request: InferenceRequest) => InferenceRequest>> = {
  append: (request) => ({
    ...request,
    messages: request.messages.append({ role: 'user', content: 'Hurry.' }),
  }),
  rewrite: (request) => ({
    ...request,
    messages: Messages.from(
      [...request.messages].map((message) =>
        message.isTool() ? { ...message, content: `${message.text.slice(0, 600)}…` } : message,
      ),
    ),
  }),
  drop: (request) => ({
    ...request,
    messages: Messages.from(
      [...request.messages].filter((_, i, { length }) => i === 0 || i > length - 9),
    ),
  }),
  prompt: (request) => ({
    ...request,
    system: `${request.system} It is ${request.messages.length}.`,
  }),
  'cut-tools': (request) => ({ ...request, tools: request.tools.slice(0, 2) }),
};

function hookOf(kind: string): Hook | null {
  const change = changing[kind];
  if (kind === 'twice')
    return {
      name: 'twice',
      async aroundModelCall(request, next) {
        await next({ ...request, system: 'A first try.' });
        return next(request);
      },
    };
  return change ? { name: kind, aroundModelCall: (request, next) => next(change(request)) } : null;
}

/** Compares every step that the store has with what the model got. Returns the number of compared steps. */
async function compared(
  runtime: SessionRuntime,
  owner: string,
  id: string,
  received: Received,
): Promise<number> {
  let count = 0;
  const agents = new Map<string, number>();
  const { items } = await runtime.steps(id, { owner, limit: 500 });
  for (const { number, executionId, modelCall } of items)
    await compareOne({ executionId, step: number }, modelCall?.requestId);
  for (const executionId of new Set(items.map((step) => step.executionId))) {
    const { events } = await runtime.events(id, { owner, executionId });
    for (const { event } of events)
      if (event.parentAgentId !== null && event.type === 'ContinuationEvaluated')
        agents.set(event.agentId, Math.max(agents.get(event.agentId) ?? 0, event.stepNumber));
  }
  for (const [agentId, steps] of agents)
    for (let step = 1; step <= steps; step++) {
      const read = await runtime.steps(id, { owner, agentId, limit: 500 });
      const found = read.items.find(({ number }) => number === step);
      await compareOne({ agentId, step }, found?.modelCall?.requestId);
    }
  return count;

  async function compareOne(
    place: { readonly step: number; readonly executionId?: string; readonly agentId?: string },
    requestId: string | undefined,
  ): Promise<void> {
    if (requestId === undefined) return;
    const { status, request } = await runtime.modelCall(id, { owner, ...place });
    expect(status, JSON.stringify(place)).toBe('stored');
    expect(request && jsonOf(request)).toEqual(received.get(requestId));
    count += 1;
  }
}

const long = 'A result. '.repeat(90);

describe.each(stores)('the requests of a session (%s)', (name, open) => {
  it('are rebuilt as the model got them, for any run, hook, steering, compaction, window, grant and fork', async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(turns, makes, async (given, make) => {
        const store: SessionStore = open();
        const received: Received = new Map();
        const queue: number[] = [];
        const driver = scripted(received, () => queue.shift());
        const look = mockTool('look', () => long);
        const helper = AgentBuilder.base()
          .withName('helper')
          .withDriver(driver)
          .withTools(look)
          .withMaxSteps(3)
          .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
          .build();
        const agentOf = ({ prompt, cut }: (typeof given)[number], window: number): Agent => {
          let builder = AgentBuilder.base()
            .withName('support')
            .withDriver(driver)
            .withSystemPrompt(make.hasLongPrompt ? prompt.repeat(900) : prompt)
            .withTools(
              look,
              mockTool('note', 'noted'),
              mockTool('find', () => ({ at: 1 })),
            )
            .withTools(helper.asTool({ name: 'ask', description: 'Asks.' }))
            .withMaxSteps(3)
            .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
            .withCompaction({ atTokens: 1_000_000 })
            .withHooks(
              compacting((state) => {
                const to = cutsOf(state).at(-1);
                return to === undefined || cut === 'none' ? [] : [compaction(cut, 0, to)];
              }),
            );
          const hook = hookOf(make.hook);
          if (hook) builder = builder.withHooks(hook);
          if (make.hasNote) builder = builder.withBudgetNote();
          if (make.isSteered)
            builder = builder.withPrepareStep(({ stepNumber }) =>
              stepNumber % 2 === 0
                ? { activeTools: ['look', 'note'], system: `Step ${stepNumber}.` }
                : window % 2 === 0
                  ? { toolChoice: 'required' }
                  : undefined,
            );
          return builder.build();
        };
        const owner = fresh('own');
        let id = '';
        for (const turn of given) {
          const runtime = runtimeOn(store, agentOf(turn, turn.window), {
            maxMessages: turn.window,
          });
          if (id === '') ({ id } = await runtime.create({ owner }));
          queue.splice(0, queue.length, ...turn.steps);
          const session = await runtime.send(id, `Continue. ${long}`, { owner, wait: true });
          if (session.stopReason === 'steps_limit')
            await runtime.resume(id, { owner, grant: { steps: 2 }, wait: true });
          checked += await compared(runtime, owner, id, received);
          const { stepCount } = await runtime.get(id, { owner });
          const fork = await runtime.fork(id, { owner, atStep: Math.max(1, stepCount - 1) });
          if (stepCount > 0) {
            const { items } = await runtime.steps(fork.id, { owner, limit: 500 });
            const last = items.at(-1);
            const of = { owner, step: last?.number ?? 0 };
            const read = await runtime.modelCall(fork.id, of);
            const requestId = last?.modelCall?.requestId ?? '';
            expect(read.request && jsonOf(read.request)).toEqual(received.get(requestId));
          }
          await runtime.close();
        }
      }),
      { numRuns: name === 'memory' ? 25 : 5 },
    );
    expect(checked).toBeGreaterThan(20);
  });
});
