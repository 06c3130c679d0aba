import { SessionRuntime, type Hook } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  pause,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

/** Waits after what it is around, as one that writes to another server. */
const slowly = (point: Exclude<keyof Hook, 'name'>, when: 'before' | 'after'): Hook => ({
  name: 'slow',
  [point]: async (input: never, next: (given: never) => Promise<never>): Promise<never> => {
    if (when === 'before') await pause(15);
    const returned = await next(input);
    if (when === 'after') await pause(15);
    return returned;
  },
});

/** Compares, after each commit, what the log has announced with what a process that takes over would find. */
function watched(own: SessionStore) {
  const missing = new Set<string>();
  const reader: { client: SessionRuntime | null } = { client: null };
  const look = async (id: string): Promise<void> => {
    const { client } = reader;
    if (!client) return;
    const { messages } = await client.state(id, ann);
    const stored = new Set([...messages].map((message) => message.id));
    const { length: steps } = await own.steps(id, '');
    const seen = new Set<string>();
    for (const { event } of (await client.events(id, ann)).events) {
      if (event.parentAgentId !== null) continue;
      if (event.type === 'MessageAdded' && !stored.has(event.messageId))
        missing.add(`${event.role} message`);
      if (event.type !== 'AgentStepCompleted' && event.type !== 'StepFailed') continue;
      const name = `${event.type} ${event.stepNumber}`;
      if (event.stepNumber > steps) missing.add(name);
      if (seen.has(name)) missing.add(`${name} again`);
      seen.add(name);
    }
  };
  const store: SessionStore = {
    ...own,
    async commit(commit) {
      const receipt = await own.commit(commit);
      await look(commit.sessionId);
      return receipt;
    },
  };
  return { store, missing, reader };
}

describe('D22: what an event announces is stored with it', () => {
  const refused = ScenarioStep.error({ type: 'model', code: 'refused', message: 'No.' });
  const script = () =>
    followingDriver([
      toolCall('look'),
      toolCalls([{ name: 'look' }, { name: 'look' }], 'Two.'),
      final('done'),
    ]);
  const agents = {
    'an answer': () => builderWith(script()),
    'a limit': () => builderWith(script()).withMaxSteps(1),
    'a model that fails': () => builderWith(followingDriver([toolCall('look'), refused])),
    'a question': () => builderWith(followingDriver([toolCall('pay')])),
  };
  const hooks = {
    'no hook': null,
    'a hook that is slow after the execution': slowly('aroundExecution', 'after'),
    'a hook that is slow before a step': slowly('aroundStep', 'before'),
    'a hook that is slow after a step': slowly('aroundStep', 'after'),
    'a hook that is slow before a call': slowly('aroundToolCall', 'before'),
    'a hook that is slow after a call': slowly('aroundToolCall', 'after'),
    'a hook that is slow after a model call': slowly('aroundModelCall', 'after'),
  };
  const cases = Object.entries(agents).flatMap(([end, make]) =>
    Object.entries(hooks).map(([name, hook]) => [end, name, make, hook] as const),
  );
  it.each(cases)('at the end by %s, with %s', async (_end, _name, make, hook) => {
    const own = memoryStore();
    const { store, missing, reader } = watched(own);
    const base = make().withTools(
      mockTool('look', 'seen', { idempotent: true }),
      mockTool('pay', 'paid', { needsApproval: true }),
    );
    const agent = (hook ? base.withHooks(hook) : base).build();
    const runtime = runtimeOn(store, agent);
    reader.client = clientOn(own, agent);
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    expect([...missing]).toEqual([]);
  });

  it('when a stop comes with the receipt of one commit while the next one waits', async () => {
    const own = memoryStore();
    const { store, missing, reader } = watched(own);
    const [stepBegan, chunkGiven] = [gate(), gate()];
    let isHeld = false;
    const held: SessionStore = {
      ...store,
      async commit(commit) {
        if (isHeld) {
          isHeld = false;
          stepBegan.open();
          await chunkGiven.passed;
          await pause(2);
        }
        return store.commit(commit);
      },
    };
    const driver: InferenceDriver = {
      name: 'hangs',
      infer: (request, options) =>
        DeterministicDriver.fromSteps(final('x')).infer(request, options),
      async *stream(_request, { signal }) {
        await stepBegan.passed;
        yield { type: 'content', text: 'one' };
        chunkGiven.open();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new Error('aborted');
      },
    };
    const agent = builderWith(driver).build();
    const runtime = runtimeOn(held, agent, { lease: { leaseMs: 600_000, heartbeatMs: 60_000 } });
    reader.client = clientOn(own, agent);
    const { id } = await runtime.create(ann);
    runtime.wiretap(({ event }) => {
      if (event.type === 'AgentStarted') isHeld = true;
    });
    await runtime.send(id, 'go', ann);
    await stepBegan.passed;
    await reader.client.stop(id, { ...ann, wait: true });
    expect([...missing]).toEqual([]);
  });
});
