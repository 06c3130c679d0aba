import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  type Agent,
  type AgentState,
  type SessionRuntime,
  type Tool,
  AgentError,
} from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, mockTool, ScenarioStep, type FakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { rememberingDriver, summarizingDriver } from '../setup/compactions.ts';
import {
  ann,
  builderWith,
  callIds,
  clientOn,
  followingDriver,
  isSound,
  runtimeOn,
  takesAnotherTurn,
  until,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
type Commit = Parameters<SessionStore['commit']>[0];

/** Records the tool calls of all processes, in order. */
class Deeds {
  readonly done: { readonly tool: string; readonly callId: string; readonly key: string }[] = [];

  tool(name: string, spec: Parameters<typeof mockTool>[2] = {}): Tool {
    const answer = (_args: unknown, c: { callId: string; idempotencyKey: string }): string => {
      this.done.push({ tool: name, callId: c.callId, key: c.idempotencyKey });
      return `${name} done`;
    };
    return mockTool(name, answer, spec);
  }

  keysOf(callId: string): string[] {
    return this.done.filter((deed) => deed.callId === callId).map(({ key }) => key);
  }
}

const cost = { cost: 0.01 };
const policy = ErrorPolicy.retryAll();
const quota = ScenarioStep.error({ type: 'rate_limit', code: 'quota', message: 'No credits' });

interface Scenario {
  readonly compacts?: true;
  make(deeds: Deeds): Agent;
}

const scenarios: Record<string, Scenario> = {
  'an answer': {
    make: () => builderWith(followingDriver([final('done', cost)])).build(),
  },
  'a tool': {
    make: (deeds) =>
      builderWith(followingDriver([toolCall('mail', {}, '', cost), final('done', cost)]))
        .withTools(deeds.tool('mail'))
        .withErrorPolicy(policy)
        .build(),
  },
  'two steps with tools': {
    make: (deeds) =>
      builderWith(followingDriver([toolCall('mail'), toolCall('look'), final('done')]))
        .withTools(deeds.tool('mail'), deeds.tool('look', { idempotent: true }))
        .withErrorPolicy(policy)
        .build(),
  },
  'a step that continues with a fallback model': {
    make: (deeds) =>
      builderWith(followingDriver([toolCall('mail', {}, '', cost), quota]))
        .withFallback(
          followingDriver([toolCall('mail'), toolCall('look', {}, '', cost), final('done', cost)]),
        )
        .withTools(deeds.tool('mail'), deeds.tool('look', { idempotent: true }))
        .withErrorPolicy(policy)
        .build(),
  },
  'a conversation that is compacted, with a fallback model and a call that needs approval': {
    compacts: true,
    make: (deeds) => {
      const speak = { ...cost, usage: { input: 1_000, output: 10, total: 1_010 } };
      return builderWith(
        rememberingDriver(toolCall('read', {}, '', speak), toolCall('look', {}, '', speak), quota),
      )
        .withFallback(
          rememberingDriver(
            toolCall('read', {}, '', speak),
            toolCall('look', {}, '', speak),
            toolCall('read', {}, '', speak),
            toolCall('look', {}, '', speak),
            toolCall('read', {}, '', speak),
            final('done', speak),
          ),
        )
        .withTools(
          mockTool('read', 'found '.repeat(1_000), { idempotent: true }),
          // an unknown effect would have another text, and thus another size
          deeds.tool('look', { idempotent: true, needsApproval: true }),
        )
        .withCompaction({ atTokens: 2_000, keepTurns: 1, model: summarizingDriver })
        .withErrorPolicy(policy)
        .build();
    },
  },
  'three parallel tools, one of which needs approval': {
    make: (deeds) =>
      builderWith(
        followingDriver([
          toolCalls([{ name: 'look' }, { name: 'mail' }, { name: 'pay' }], '', cost),
          final('done', cost),
        ]),
      )
        .withTools(
          deeds.tool('look', { idempotent: true }),
          deeds.tool('mail'),
          deeds.tool('pay', { needsApproval: true }),
        )
        .withErrorPolicy(policy)
        .build(),
  },
  'tools that ask for input, one of them twice': {
    make: (deeds) => {
      const asking = (name: string, rounds: number): Tool =>
        defineTool({
          name,
          description: 'Asks, then acts.',
          execute: (_args, { input, requestInput, callId, idempotencyKey }) => {
            const answered = Number(input?.state ?? 0);
            const question = { message: `Round ${answered + 1}?`, schema: { type: 'object' } };
            if (answered < rounds)
              return requestInput({ ok: question }, { state: String(answered + 1) });
            deeds.done.push({ tool: name, callId, key: idempotencyKey });
            return 'done';
          },
        });
      return builderWith(
        followingDriver([
          toolCalls([{ name: 'mail' }, { name: 'order' }], '', cost),
          final('done', cost),
        ]),
      )
        .withTools(asking('mail', 1), asking('order', 2))
        .withErrorPolicy(policy)
        .build();
    },
  },
  'an agent that uses a tool': {
    make: (deeds) => {
      const inner = AgentBuilder.base()
        .withName('inner')
        .withDriver(
          followingDriver([
            toolCall('mail', {}, '', cost),
            toolCall('look', {}, '', cost),
            final('inner done', cost),
          ]),
        )
        .withTools(deeds.tool('mail'), deeds.tool('look', { idempotent: true }))
        .withErrorPolicy(policy)
        .build();
      return builderWith(
        followingDriver([toolCall('ask', { input: 'go' }, '', cost), final('done', cost)]),
      )
        .withTools(inner.asTool({ name: 'ask', description: 'Asks.' }))
        .withErrorPolicy(policy)
        .build();
    },
  },
  'an agent that asks for approval': {
    make: (deeds) => {
      const inner = AgentBuilder.base()
        .withName('inner')
        .withDriver(
          followingDriver([
            toolCalls([{ name: 'pay' }, { name: 'mail' }], '', cost),
            final('inner done', cost),
          ]),
        )
        .withTools(deeds.tool('pay', { needsApproval: true }), deeds.tool('mail'))
        .withErrorPolicy(policy)
        .build();
      return builderWith(
        followingDriver([
          toolCalls([{ name: 'ask', args: { input: 'go' } }, { name: 'mail' }], '', cost),
          final('done', cost),
        ]),
      )
        .withTools(inner.asTool({ name: 'ask', description: 'Asks.' }), deeds.tool('mail'))
        .withErrorPolicy(policy)
        .build();
    },
  },
  'nested agents that use up the limit of their root': {
    make: (deeds) => {
      const speak = (usage: number) => ({ ...cost, usage: { total: usage } });
      const innermost = AgentBuilder.base()
        .withName('innermost')
        .withDriver(
          followingDriver([
            toolCalls([{ name: 'pay' }, { name: 'look' }], 'One.', speak(100)),
            toolCall('mail', {}, 'Two.', speak(100)),
            toolCall('look', {}, 'Three.', speak(100)),
          ]),
        )
        .withTools(
          deeds.tool('pay', { needsApproval: true }),
          deeds.tool('mail'),
          deeds.tool('look', { idempotent: true }),
        )
        .withErrorPolicy(policy)
        .build();
      const inner = AgentBuilder.base()
        .withName('inner')
        .withDriver(followingDriver([toolCall('deeper', { input: 'go' }, 'Ask.', speak(10))]))
        .withTools(innermost.asTool({ name: 'deeper', description: 'Asks.' }))
        .withErrorPolicy(policy)
        .build();
      return builderWith(followingDriver([toolCall('ask', { input: 'go' }, '', speak(10))]))
        .withTools(inner.asTool({ name: 'ask', description: 'Asks.' }))
        .withMaxTokens(300)
        .withErrorPolicy(policy)
        .build();
    },
  },
};

/**
 * How a process ends at a commit: before it is written, after it is written but before the receipt, or with a failing
 * store.
 */
const endings = ['before', 'after', 'fails'] as const;
type Ending = (typeof endings)[number];

/** Wraps the store of a process that ends at commit `last`. */
function mortal(store: SessionStore, last: number, ending: Ending) {
  const written: Commit[] = [];
  let commits = 0;
  let isDead = false;
  const never = new Promise<never>(() => {});
  const broken = (): Promise<never> =>
    ending === 'fails' ? Promise.reject(new AgentError('store_failed', 'Gone.')) : never;
  const guarded = Object.fromEntries(
    Object.entries(store).map(([name, method]: [string, unknown]) => [
      name,
      typeof method === 'function'
        ? (...args: unknown[]) =>
            isDead ? broken() : (method as (...a: unknown[]) => unknown)(...args)
        : method,
    ]),
  ) as unknown as SessionStore;
  return {
    written,
    isDead: () => isDead,
    store: {
      ...guarded,
      async commit(commit: Commit) {
        if (isDead) return broken();
        commits += 1;
        isDead = commits === last;
        if (isDead && ending !== 'after') return broken();
        written.push(commit);
        const receipt = await store.commit(commit);
        return isDead ? broken() : receipt;
      },
    } satisfies SessionStore,
  };
}

interface Life {
  readonly runtime: SessionRuntime;
  isDead(): boolean;
}

/** Runs one worker after the other and approves every call until the session ends. */
async function live(client: SessionRuntime, clock: FakeClock, lives: readonly Life[]) {
  const { id } = await client.create({ ...ann, id: 's' });
  await client.send(id, 'go', { ...ann, executionId: 'e' });
  const workers = lives[Symbol.iterator]();
  let worker = workers.next().value as Life;
  await worker.runtime.recover();
  for (;;) {
    const session = await until(async () => {
      const now = await client.get(id, ann);
      return worker.isDead() || now.status !== 'in_progress' ? now : null;
    });
    if (worker.isDead()) {
      worker = workers.next().value as Life;
      clock.jump(20_000);
    } else if (session.status !== 'paused') return session;
    for (const callId of callIds(await client.get(id, ann))) await client.approve(id, callId, ann);
    for (const { inputId } of (await client.get(id, ann)).pendingInputs)
      await client.answer(id, inputId, { ...ann, answer: { action: 'accept', content: {} } });
    await worker.runtime.recover();
  }
}

/** Returns totals and messages that must not depend on how often a process died. */
const factsOf = (state: AgentState) => ({
  status: state.status,
  output: state.output,
  usage: state.usage,
  cost: state.cost,
  sessionUsage: state.info.usage,
  steps: [...state.steps].map(({ number, type, model, fallback, usage, cost: spent }) => [
    number,
    type,
    model,
    fallback,
    usage.total,
    spent,
  ]),
  roles: [...state.messages].map(({ role }) => role),
  compactions: state.compactions.map(({ id: _i, at: _a, ...rest }) => rest),
  compacted: [...state.steps].map(({ compactionUsage, compactions }) => [
    compactionUsage?.total,
    compactions?.length,
  ]),
  answeredSteps: state.execution.answeredSteps,
  family: state.execution.family,
  stopped: state.lastContinuationOutcome?.decisive,
});

async function undisturbed(scenario: Scenario) {
  const store = memoryStore();
  const deeds = new Deeds();
  const counting = mortal(store, Infinity, 'before');
  const life = { runtime: runtimeOn(counting.store, scenario.make(deeds)), isDead: () => false };
  const client = clientOn(store, scenario.make(deeds));
  await live(client, fakeClock(), [life]);
  const state = await client.state('s', ann);
  return { facts: factsOf(state), commits: counting.written.length, deeds };
}

async function disturbed(scenario: Scenario, last: number, ending: Ending) {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const place = { open: () => store };
  const deeds = new Deeds();
  const { written, isDead, store: dying } = mortal(store, last, ending);
  const quiet = ending === 'fails' ? { onError: () => {} } : {};
  const first = { runtime: runtimeOn(dying, scenario.make(deeds), quiet), isDead };
  const second = { runtime: runtimeOn(store, scenario.make(deeds)), isDead: () => false };
  const client = clientOn(store, scenario.make(deeds));
  await live(client, clock, [first, second]);
  return { client, place, deeds, written };
}

/** Idempotent tools, and agents, which continue from their own steps. */
const mayRepeat: ReadonlySet<string> = new Set(['look', 'read', 'ask', 'deeper']);

/** Returns calls that the first process had started without storing their end. */
function leftOpen(written: readonly Commit[]): Set<string> {
  const open = new Set<string>();
  for (const { calls = [] } of written)
    for (const { callId, tool, state } of calls) {
      if (state === 'started' && !mayRepeat.has(tool)) open.add(callId);
      // a call that asks for input has ended this run of its tool
      if (state === 'waiting') open.delete(callId.split('/')[0] ?? '');
      if (state === 'committed') open.delete(callId);
    }
  return open;
}

describe.each(Object.entries(scenarios))(
  'D18, D24, D26: a process dies in %s',
  (_name, scenario) => {
    it.each(endings)(
      'at every commit (%s): nothing is lost and nothing runs twice',
      async (ending) => {
        const whole = await undisturbed(scenario);
        expect(whole.commits).toBeGreaterThan(1);
        expect(whole.facts.compactions.length > 0).toBe(scenario.compacts === true);
        const points = Array.from({ length: whole.commits }, (_p, i) => i + 1);
        await Promise.all(
          points.map(async (last) => {
            const { client, place, deeds, written } = await disturbed(scenario, last, ending);
            const state = await client.state('s', ann);
            expect({ last, ...factsOf(state) }).toEqual({ last, ...whole.facts });
            await isSound(client, 's');

            // every call ran once, except idempotent ones, which repeat under the same key
            const unknown = leftOpen(written);
            const once = new Map(whole.deeds.done.map(({ tool }) => [tool, true]));
            for (const tool of once.keys()) {
              const ids = new Set(deeds.done.filter((d) => d.tool === tool).map((d) => d.callId));
              for (const callId of ids) {
                const keys = deeds.keysOf(callId);
                expect(new Set(keys).size).toBe(1);
                if (tool !== 'look')
                  expect({ last, callId, times: keys.length }).toEqual({ last, callId, times: 1 });
              }
            }

            // and unknown effects are reported
            const rows = await place.open().calls('s', 'e', { state: 'committed' });
            const reported = rows.filter(({ callId }) => unknown.has(callId));
            expect(reported).toHaveLength(unknown.size);
            const { items } = await client.steps('s', { ...ann, limit: 50 });
            const results = items.flatMap((step) => step.results);
            for (const { callId, error, kind } of results)
              expect({ last, callId, kind, code: error?.code }).toEqual(
                unknown.has(callId)
                  ? { last, callId, kind: 'error', code: 'effect_unknown' }
                  : { last, callId, kind: 'ok', code: undefined },
              );
            const errors = results.flatMap(({ error }) => (error ? [error.type] : []));
            expect(errors).toEqual(errors.map(() => 'unknown'));
            await takesAnotherTurn(place, 's');
          }),
        );
      },
      30_000,
    );
  },
);
