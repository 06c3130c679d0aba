import {
  AgentError,
  createAgent,
  createRedactor,
  inProcessQueue,
  type SessionRuntimeOptions,
} from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { ended, gated, held } from '../setup/session-moments.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  isSound,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall } = ScenarioStep;
const lease = { leaseMs: 600, heartbeatMs: 100 };
let sessions = 0;
const freshId = (): string => `stop-${process.pid}-${sessions++}`;
const STOPPED = { status: 'stopped', phase: 'idle', stopReason: 'user_requested' };

/** Two turns: the first is stopped, the second must work. */
const agentFor = (...tools: Parameters<typeof builderWith>[1][]) =>
  builderWith(followingDriver([toolCall('slow')], [final('next')]), ...tools).build();

async function nextTurnWorks(
  store: SessionStore,
  id: string,
  options: Partial<SessionRuntimeOptions> = {},
): Promise<void> {
  const driver = { ...followingDriver(), infer: async () => answer('next'), stream: undefined };
  const runtime = runtimeOn(store, builderWith(driver as never).build(), { lease, ...options });
  runtime.start();
  expect(await runtime.send(id, 'and now?', waiting)).toMatchObject({
    status: 'completed',
    output: 'next',
  });
  await isSound(runtime, id);
}

const answer = (content: string) => ({
  content,
  toolCalls: [],
  finishReason: 'stop' as const,
  usage: null,
});

const quiet = { lease, onError: () => {} };
const fails = () => {
  throw new Error('no tenant');
};
/** Creates a process that has only another agent. */
const stranger = (store: SessionStore) =>
  runtimeOn(store, createAgent({ name: 'other', driver: followingDriver() }), { lease });

describe.each(stores)('D78: stop always works (%s)', (_name, open) => {
  it('while dependencies are created that never resolve', async () => {
    const store = open();
    const id = freshId();
    const { passed, open: let_ } = gate();
    let asked = 0;
    let hooked = 0;
    const agent = builderWith(followingDriver([toolCall('slow')]))
      .withHooks({
        name: 'counts',
        aroundExecution: (input, next) => {
          hooked += 1;
          return next(input);
        },
      })
      .build();
    const runtime = runtimeOn(store, agent, {
      ...quiet,
      deps: () => {
        asked += 1;
        return passed;
      },
    });
    await runtime.create({ ...ann, id });
    await runtime.send(id, 'go', ann);
    await until(() => asked > 0);
    expect(await runtime.stop(id, waiting)).toMatchObject(STOPPED);
    let_();
    expect(hooked).toBe(0);
    await nextTurnWorks(store, id);
  });

  it('while a failed try waits for the next one', async () => {
    const store = open();
    const id = freshId();
    const failures: unknown[] = [];
    const runtime = runtimeOn(store, agentFor(), {
      lease: { leaseMs: 600_000, heartbeatMs: 100 },
      deps: fails,
      onError: (error) => failures.push(error),
    });
    await runtime.create({ ...ann, id });
    await runtime.send(id, 'go', ann);
    await until(() => failures.length > 0);
    expect((await runtime.get(id, ann)).error).toBe('no tenant');
    expect(await runtime.stop(id, { ...waiting, reason: 'enough' })).toMatchObject(STOPPED);
    const { outcome } = await runtime.get(id, ann);
    expect(outcome!.decisive!.reason).toContain('enough');
    expect(failures).toHaveLength(1);
    await nextTurnWorks(store, id);
  });

  it('and keeps a message that was not begun, if the store is not available for the first try', async () => {
    const store = open();
    const id = freshId();
    const client = clientOn(store, agentFor());
    await client.create({ ...ann, id });
    await client.send(id, 'go', ann);
    let failures = 0;
    const nextCommand: SessionStore['nextCommand'] = async (session) => {
      if (failures++ > 0) return store.nextCommand(session);
      throw new AgentError('store_failed', 'PostgreSQL could not read: the connection was lost.');
    };
    const runtime = runtimeOn({ ...store, nextCommand }, agentFor(), quiet);
    expect(await runtime.stop(id, waiting)).toMatchObject({ ...STOPPED, messageCount: 1 });
    expect(failures).toBeGreaterThan(1);
    await nextTurnWorks(store, id);
  });

  it('for a parked session', async () => {
    const store = open();
    const id = freshId();
    const runtime = runtimeOn(store, agentFor(), { ...quiet, deps: fails });
    await runtime.create({ ...ann, id });
    // tries are repeated even without start()
    expect((await runtime.send(id, 'go', waiting)).phase).toBe('parked');
    expect(await runtime.stop(id, waiting)).toMatchObject({ ...STOPPED, error: null });
    await nextTurnWorks(store, id);
  });

  it.each(['here', 'by another process'])(
    'for a session that waits in the queue, requested %s',
    async (where) => {
      const store = open();
      const [busy, queued] = [freshId(), freshId()];
      const slow = held();
      const runtime = runtimeOn(store, agentFor(slow.tool), {
        lease,
        queue: inProcessQueue({ concurrency: 1 }),
      });
      for (const id of [busy, queued]) await runtime.create({ ...ann, id });
      await runtime.send(busy, 'go', ann);
      await slow.began();
      await runtime.send(queued, 'go', ann);
      if (where === 'here') await runtime.stop(queued, ann);
      else {
        await clientOn(store, agentFor()).stop(queued, ann);
        runtime.start();
      }
      expect(await runtime.wait(queued, ann)).toMatchObject({ ...STOPPED, messageCount: 1 });
      await runtime.stop(busy, waiting);
      slow.open();
      await nextTurnWorks(store, queued);
    },
  );

  it.each(['before it began', 'while it is paused', 'after a process died'])(
    'in a process without the agent, %s',
    async (when) => {
      const store = open();
      const id = freshId();
      const client = clientOn(store, agentFor());
      await client.create({ ...ann, id });
      if (when === 'before it began') await client.send(id, 'go', ann);
      else if (when === 'while it is paused') {
        const worker = runtimeOn(store, agentFor(gated('slow')), { lease });
        expect((await worker.send(id, 'go', waiting)).status).toBe('paused');
      } else {
        const slow = held();
        const victim = mortal(store);
        const worker = runtimeOn(victim.store, agentFor(slow.tool), quiet);
        await worker.send(id, 'go', ann);
        await slow.began();
        victim.die();
      }
      const other = stranger(store);
      other.start();
      expect(await other.stop(id, waiting)).toMatchObject(STOPPED);
      const [message] = (await other.messages(id, ann)).items;
      expect(message).toMatchObject({ role: 'user', content: 'go' });
      await isSound(other, id);
      await nextTurnWorks(store, id);
    },
  );

  it('in a process without the agent, which logs no text of the model and keeps the definition', async () => {
    const store = open();
    const id = freshId();
    const driver = followingDriver([toolCall('slow', {}, 'my own words')]);
    const worker = runtimeOn(store, builderWith(driver, gated('slow')).build(), { lease });
    await worker.create({ ...ann, id });
    expect((await worker.send(id, 'go', waiting)).status).toBe('paused');
    const definition = async (): Promise<unknown> =>
      (JSON.parse((await store.find(id))!.head) as { definition: unknown }).definition;
    const before = await definition();
    expect(before).toEqual(expect.any(String));
    const other = stranger(store);
    expect(await other.stop(id, waiting)).toMatchObject(STOPPED);
    const { events } = await other.events(id, ann);
    expect(events.at(-1)!.event).toMatchObject({ type: 'AgentFinished', outputText: '' });
    expect(await definition()).toBe(before);
  });

  it('with an agent that fails to end the execution', async () => {
    const store = open();
    const id = freshId();
    const worker = runtimeOn(store, agentFor(gated('slow')), { lease });
    await worker.create({ ...ann, id });
    expect((await worker.send(id, 'go', waiting)).status).toBe('paused');
    const redactor = {
      ...createRedactor(),
      text(text: string): string {
        if (text === 'enough') throw new Error('no pattern');
        return text;
      },
    };
    const failing = builderWith(followingDriver()).withRedactor(redactor).build();
    const other = runtimeOn(store, failing, { lease });
    expect(await other.stop(id, { ...waiting, reason: 'enough' })).toMatchObject(STOPPED);
    await isSound(worker, id);
    await nextTurnWorks(store, id);
  });

  it('for a session whose state cannot be read: on its row first, and in its state later', async () => {
    const store = open();
    const id = freshId();
    const slow = held();
    const victim = mortal(store);
    const worker = runtimeOn(victim.store, agentFor(slow.tool), quiet);
    await worker.create({ ...ann, id });
    await worker.send(id, 'go', ann);
    await slow.began();
    victim.die();
    // as if the codec of the store were missing
    const codec = {
      encode: (text: string) => text,
      decode: () => {
        throw new Error('no key');
      },
    };
    const blind = runtimeOn({ ...store, codec }, agentFor(slow.tool), quiet);
    blind.start();
    expect(await blind.stop(id, { ...waiting, reason: 'enough' })).toMatchObject(STOPPED);
    expect((await store.find(id))!.closeReason).toContain('enough');
    const seeing = runtimeOn(store, agentFor(slow.tool), { lease });
    const shown = await seeing.get(id, ann);
    expect(shown).toMatchObject({ ...STOPPED, pendingApprovals: [], pause: null });
    expect(shown.outcome!.decisive!.reason).toBe('enough');
    await nextTurnWorks(store, id);
    expect((await store.find(id))!.closeReason).toBeNull();
    const steps = (await seeing.steps(id, ann)).items;
    expect(steps[0]!.outcome).toMatchObject({ stopReason: 'user_requested' });
    expect(steps[0]!.results).toMatchObject([{ error: { code: 'effect_unknown' } }]);
  });

  it('and drops a message that was not begun if the state cannot be read', async () => {
    const store = open();
    const id = freshId();
    const codec = {
      encode: (text: string) => text,
      decode: () => {
        throw new Error('no key');
      },
    };
    const worker = runtimeOn(store, agentFor(), { lease });
    await worker.create({ ...ann, id });
    const client = clientOn(store, agentFor());
    await client.send(id, 'go', ann);
    const blind = runtimeOn({ ...store, codec }, agentFor(), quiet);
    expect(await blind.stop(id, waiting)).toMatchObject(STOPPED);
    await nextTurnWorks(store, id);
    expect((await worker.messages(id, ann)).items.map(({ content }) => content)).toEqual([
      'and now?',
      'next',
    ]);
  });

  it('without running hooks', async () => {
    const store = open();
    const id = freshId();
    const client = clientOn(store, agentFor());
    await client.create({ ...ann, id });
    await client.send(id, 'go', ann);
    await client.stop(id, ann);
    let hooked = 0;
    const hook = {
      name: 'hangs',
      aroundExecution: () => {
        hooked += 1;
        return new Promise<never>(() => {});
      },
    };
    const agent = builderWith(followingDriver([final('x')]))
      .withHooks(hook)
      .build();
    const worker = runtimeOn(store, agent, { lease, deps: fails });
    await worker.recover();
    expect(await ended(worker, id)).toMatchObject(STOPPED);
    expect(hooked).toBe(0);
    await nextTurnWorks(store, id);
  });

  it.each(['here', 'by another process'])(
    'for a quarantined session beside a running one, requested %s',
    async (where) => {
      const store = open();
      const [busy, poison] = [freshId(), freshId()];
      const client = clientOn(store, agentFor());
      for (const id of [busy, poison]) await client.create({ ...ann, id });
      await client.send(poison, 'go', ann);
      for (let deaths = 0; deaths < 2; deaths++) {
        expect(await store.claim(poison, { worker: 'gone', ttlMs: 20 })).not.toBeNull();
        await pause(40);
      }
      const slow = held();
      const worker = runtimeOn(store, agentFor(slow.tool, mockTool('x')), { lease });
      await worker.send(busy, 'go', ann);
      await slow.began();
      await until(async () => (await worker.recover()) > 0);
      await pause(100);
      // it waits to be admitted, and recover does not count it again
      expect(await worker.recover()).toBe(0);
      expect((await worker.get(poison, ann)).status).toBe('in_progress');
      expect(slow.tool.calls).toHaveLength(1);
      if (where === 'here') await worker.stop(poison, ann);
      else {
        await client.stop(poison, ann);
        worker.start();
      }
      expect(await worker.wait(poison, ann)).toMatchObject(STOPPED);
      slow.open();
      await nextTurnWorks(store, poison);
    },
  );
});
