import { AgentError, AgentState, type Agent, type SessionRuntime } from 'onward';
import type { InferenceDriver, InferenceRequest } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Compaction } from '../../src/agent/compaction.ts';
import { modelView } from '../../src/agent/model-view.ts';
import { Message } from '../../src/messages/message.ts';
import { Messages } from '../../src/messages/messages.ts';
import { pairingProblem } from '../../src/messages/pairing.ts';
import { compacting, compaction, cutsOf } from '../setup/compactions.ts';
import {
  ann,
  builderWith,
  memoryPlace,
  runtimeOn,
  sqlitePlace,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCalls, final } = ScenarioStep;

/** Ids are random, and tests compare what they are in. */
const shownIn = (messages: Iterable<Message>): readonly string[] =>
  [...messages].map(
    ({ role, text, toolCalls: calls }) =>
      `${role}: ${text.replaceAll(/msg_\w+/g, 'msg')} ${calls.map(({ name }) => name).join()}`,
  );

/** Reads the whole conversation and all its compactions, as a run has them that never stopped. */
async function wholeView(runtime: SessionRuntime, id: string): Promise<Messages> {
  const [items, compactions]: [Message[], Compaction[]] = [[], []];
  for (let before: number | null | undefined; before !== null;) {
    const page = await runtime.messages(id, { ...ann, ...(before !== undefined && { before }) });
    items.unshift(...page.items.map(Message.from));
    ({ before } = page);
  }
  for (let before: number | null | undefined; before !== null;) {
    const range = { ...ann, limit: 3, ...(before !== undefined && { before }) };
    const page = await runtime.compactions(id, range);
    compactions.unshift(...page.items);
    ({ before } = page);
  }
  return modelView(Messages.from(items), compactions);
}

const loadedView = async (runtime: SessionRuntime, id: string): Promise<Messages> => {
  const { messages, compactions } = await runtime.state(id, ann);
  return modelView(messages, compactions);
};

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 });
/** Steps of each turn by their number of calls, and where it compacts first. */
const conversations = fc.array(
  fc.record({
    steps: sizes,
    cut: fc.double({ min: 0, max: 0.999, noNaN: true }),
    kind: fc.constantFrom('none', 'none', 'tool_results', 'summary', 'both'),
  }),
  { minLength: 2, maxLength: 6 },
);

describe.each([
  ['memory', memoryPlace],
  ['sqlite', sqlitePlace],
] as const)('the view of a loaded conversation (%s)', (_name, makePlace) => {
  it('D69: is that of the whole one, for any conversation, cut, window and fork', async () => {
    await fc.assert(
      fc.asyncProperty(
        conversations,
        fc.integer({ min: 11, max: 14 }),
        fc.boolean(),
        async (turns, maxMessages, hasSystem) => {
          const place = makePlace();
          const read = mockTool('read', () => 'found '.repeat(100));
          const idle = () =>
            runtimeOn(
              place.open(),
              builderWith(DeterministicDriver.fromResponses(), read)
                .withCompaction({ atTokens: 1_000_000 })
                .build(),
              { maxMessages },
            );
          await idle().create({
            ...ann,
            id: 's',
            messages: hasSystem ? [{ role: 'system', content: 'Rules.' }] : [],
          });
          for (const [n, { steps, cut, kind }] of turns.entries()) {
            const choose = (state: AgentState): readonly Compaction[] => {
              const cuts = cutsOf(state);
              const to = cuts[Math.floor(cut * cuts.length)];
              const last = cuts.at(-1);
              if (to === undefined || last === undefined || kind === 'none') return [];
              const summary = compaction('summary', 0, to);
              if (kind === 'summary') return [summary];
              const cleared = compaction('tool_results', 0, kind === 'both' ? last : to);
              return kind === 'both' ? [cleared, summary] : [cleared];
            };
            const script = [
              ...steps.map((calls) =>
                toolCalls(Array.from({ length: calls }, () => ({ name: 'read' }))),
              ),
              final(`answer ${n}`),
            ];
            const agent = builderWith(DeterministicDriver.fromSteps(...script), read)
              .withHooks(compacting(choose))
              .withCompaction({ atTokens: 1_000_000 })
              .build();
            await runtimeOn(place.open(), agent, { maxMessages }).send('s', `turn ${n}`, waiting);
            const runtime = idle();
            const whole = await wholeView(runtime, 's');
            expect(shownIn(await loadedView(runtime, 's'))).toEqual(shownIn(whole));
            expect(pairingProblem([...whole])).toBeNull();
          }
          const runtime = idle();
          const { stepCount } = await runtime.get('s', ann);
          for (let atStep = 1; atStep <= stepCount; atStep += 1 + (stepCount >> 2)) {
            const { id } = await runtime.fork('s', { ...ann, atStep });
            const whole = await wholeView(runtime, id);
            expect(shownIn(await loadedView(runtime, id))).toEqual(shownIn(whole));
          }
        },
      ),
      { numRuns: 8 },
    );
  }, 60_000);
});

/** A model that answers turn by turn and knows its step from its last call in the request. */
function scripted(turn: number, steps: readonly number[], requests: string[][]): InferenceDriver {
  const answer = (request: InferenceRequest): DeterministicDriver => {
    requests.push([...shownIn(request.messages)]);
    const ids = [...request.messages].flatMap(({ toolCalls: calls }) => calls.map(({ id }) => id));
    const done = ids
      .filter((id) => id.startsWith(`t${turn}s`))
      .map((id) => Number(id.split('s')[1]!.split('c')[0]));
    const next = Math.max(-1, ...done) + 1;
    const calls = steps[next];
    return DeterministicDriver.fromSteps(
      calls === undefined
        ? final(`answer ${turn}`, { usage: null })
        : toolCalls(
            Array.from({ length: calls }, (_, c) => ({
              name: 'read',
              id: `t${turn}s${next}c${c}`,
            })),
            '',
            { usage: null },
          ),
    );
  };
  return {
    name: 'scripted',
    infer: (request, options) => answer(request).infer(request, options),
  };
}

const summarizer = (calls: { count: number }): InferenceDriver => ({
  name: 'summarizer',
  infer: (request, options) => {
    calls.count += 1;
    const { length } = [...request.messages][0]!.text;
    return DeterministicDriver.fromSteps(
      final(`A record of ${length} characters.`, {
        usage: { input: 100, output: 10, total: 110 },
        cost: 0.001,
      }),
    ).infer(request, options);
  },
});

/** Removes requests that a worker repeated after another one was killed. */
const distinct = (requests: readonly (readonly string[])[]): readonly string[] => [
  ...new Set(requests.map((request) => request.join('\n'))),
];

describe('D77: a conversation whose workers are killed', () => {
  const make = (
    turn: number,
    steps: readonly number[],
    requests: string[][],
    paid = { count: 0 },
  ): Agent =>
    builderWith(
      scripted(turn, steps, requests),
      mockTool('read', () => 'found '.repeat(200), { idempotent: true }),
    )
      .withMaxSteps(50)
      .withCompaction({ atTokens: 1_500, keepTurns: 1, model: summarizer(paid) })
      .build();

  /** Wraps the store of a process that dies at a commit: before it is written, or right after. */
  function mortal(store: SessionStore, last: number, isWritten: boolean) {
    let commits = 0;
    let isDead = false;
    const never = new Promise<never>(() => {});
    const methods = Object.entries(store).map(([name, method]: [string, unknown]) => [
      name,
      typeof method === 'function'
        ? async (...args: unknown[]): Promise<unknown> => {
            if (isDead) return never;
            if (name === 'commit') isDead = ++commits === last;
            if (isDead && !isWritten) return never;
            const result: unknown = await (method as (...a: unknown[]) => unknown)(...args);
            return isDead ? never : result;
          }
        : method,
    ]);
    return { store: Object.fromEntries(methods) as SessionStore, isDead: () => isDead };
  }

  it('sends what the run would have sent that never stopped, and counts the same', async () => {
    let compacted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 6 }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.boolean()), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.integer({ min: 8, max: 12 }),
        async (turns, deaths, maxMessages) => {
          const wanted: string[][] = [];
          let state = AgentState.empty();
          for (const [n, steps] of turns.entries())
            state = await make(n, steps, wanted).run(state.withUserMessage(`turn ${n}`));
          compacted += state.compactions.length;

          const sent: string[][] = [];
          const clock = fakeClock();
          const store = memoryStore({ clock });
          await runtimeOn(store, make(0, [], sent)).create({ ...ann, id: 's' });
          const left = [...deaths];
          for (const [n, steps] of turns.entries()) {
            const client = runtimeOn(store, make(n, steps, sent), { work: false });
            await client.send('s', `turn ${n}`, ann);
            for (;;) {
              const [last, isWritten] = left.shift() ?? [Number.POSITIVE_INFINITY, true];
              const { store: dying, isDead } = mortal(store, last, isWritten);
              const worker = runtimeOn(dying, make(n, steps, sent), { maxMessages });
              await worker.recover();
              const session = await until(async () => {
                const now = await client.get('s', ann);
                return isDead() || now.status !== 'in_progress' ? now : null;
              });
              if (session.status === 'completed') break;
              if (!isDead()) throw new AgentError('invalid_state', session.status);
              clock.jump(20_000);
            }
          }
          expect(distinct(sent)).toEqual(distinct(wanted));
          const reader = runtimeOn(store, make(0, [], sent));
          const session = await reader.get('s', ann);
          expect(session.info.usage).toEqual(state.info.usage);
          expect(session.info.cost).toBe(state.info.cost);
          const stored = (await reader.compactions('s', ann)).items;
          expect(
            stored.map(({ kind, fromPosition, toPosition }) => [kind, fromPosition, toPosition]),
          ).toEqual(
            state.compactions.map(({ kind, fromPosition, toPosition }) => [
              kind,
              fromPosition,
              toPosition,
            ]),
          );
        },
      ),
      { numRuns: 15 },
    );
    expect(compacted).toBeGreaterThan(5);
  }, 120_000);
});
