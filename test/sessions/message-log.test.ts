import { AgentBuilder, type Agent } from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  clientOn,
  followingDriver,
  isSound,
  memoryPlace,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const slowly = async <T>(value: T): Promise<T> => pause(3).then(() => value);
const script = [toolCall('look', {}, 'I look.'), toolCall('look', {}, 'Again.'), final('Done.')];

const nested = (name: string): ReturnType<Agent['asTool']> =>
  AgentBuilder.base()
    .withName(name)
    .withDriver(
      followingDriver([toolCall('look', {}, `${name} looks.`), final(`${name} is done.`)]),
    )
    .withTools(mockTool('look', 'seen', { idempotent: true }))
    .build()
    .asTool({ name, description: name });

/** Agents that leave time between the answer of the model and its commit. */
const scenarios: Record<string, () => Agent> = {
  'plain tools': () =>
    builderWith(followingDriver(script), mockTool('look', 'seen', { idempotent: true })).build(),
  'tools with an asynchronous needsApproval': () =>
    builderWith(
      followingDriver(script),
      mockTool('look', 'seen', { idempotent: true, needsApproval: () => slowly(false) }),
    ).build(),
  'a hook after each step': () =>
    builderWith(followingDriver(script), mockTool('look', 'seen', { idempotent: true }))
      .withHooks({
        name: 'after',
        aroundStep: async (input, next) => slowly(await next(input)),
      })
      .build(),
  'an approval': () =>
    builderWith(
      followingDriver([toolCall('pay', {}, 'May I?'), final('Paid.')]),
      mockTool('pay', 'paid', { idempotent: true, needsApproval: () => slowly(true) }),
    ).build(),
  'parallel agents': () =>
    builderWith(
      followingDriver([
        toolCalls(
          ['one', 'two', 'three'].map((name) => ({ name, args: { input: 'go' } })),
          'I ask.',
        ),
        final('Done.'),
      ]),
      ...['one', 'two', 'three'].map(nested),
    ).build(),
};

/** Wraps the store of a process that dies at commit `last`, before or after it is written. */
function mortal(store: SessionStore, last: number, ending: 'before' | 'after') {
  const never = new Promise<never>(() => {});
  let commits = 0;
  const isDead = (): boolean => commits >= last;
  const guarded = Object.fromEntries(
    Object.entries(store).map(([name, method]: [string, unknown]) => [
      name,
      typeof method === 'function'
        ? (...args: unknown[]) =>
            isDead() ? never : (method as (...a: unknown[]) => unknown)(...args)
        : method,
    ]),
  ) as unknown as SessionStore;
  const commit: SessionStore['commit'] = async (given) => {
    if (isDead()) return never;
    commits += 1;
    if (isDead() && ending === 'before') return never;
    const receipt = await store.commit(given);
    return isDead() ? never : receipt;
  };
  return { isDead, commits: () => commits, store: { ...guarded, commit } };
}

/** Returns the log of a session after one process died and another continued. */
async function logOf(make: () => Agent, last: number, ending: 'before' | 'after') {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const client = clientOn(store, make());
  const { isDead, commits, store: dying } = mortal(store, last, ending);
  const { id } = await client.create({ ...ann, id: 's' });
  await client.send(id, 'Go.', ann);
  let worker = runtimeOn(dying, make());
  await worker.recover();
  for (;;) {
    const wasDead = isDead();
    const session = await until(async () => {
      const now = await client.get(id, ann);
      return isDead() !== wasDead || now.status !== 'in_progress' ? now : null;
    });
    if (isDead() !== wasDead) {
      worker = runtimeOn(store, make());
      clock.jump(20_000);
    } else if (session.status !== 'paused') break;
    for (const callId of callIds(await client.get(id, ann))) await client.approve(id, callId, ann);
    await worker.recover();
  }
  await isSound(client, id);
  const state = await client.state(id, ann);
  const events = (await client.events(id, ann)).events.map(({ event }) => event);
  const reported = events.flatMap((event) => (event.type === 'MessageAdded' ? [event] : []));
  const starts = events.flatMap((e) =>
    e.type === 'AgentStarted' && e.parentAgentId === null ? [e.previousStatus] : [],
  );
  return { state, reported, starts, commits: commits() };
}

describe.each(Object.entries(scenarios))('D22: each message in the log of %s', (_name, make) => {
  it.each(['before', 'after'] as const)(
    'is logged once, wherever a process dies (%s a commit)',
    async (ending) => {
      const whole = await logOf(make, Infinity, ending);
      const texts = whole.reported.map(({ content }) => content).toSorted();
      expect(whole.starts[0]).toBe('pending');
      expect(texts).toHaveLength(new Set(texts).size);
      const points = Array.from({ length: whole.commits }, (_p, i) => i + 1);
      await Promise.all(
        points.map(async (last) => {
          const { state, reported } = await logOf(make, last, ending);
          const seen = reported.map(({ content }) => content).toSorted();
          expect({ last, seen }).toEqual({ last, seen: texts });
          const ours = reported.filter(({ parentAgentId }) => parentAgentId === null);
          const kept = [...state.messages].filter((m) => m.isUser() || m.isAssistant());
          expect(ours.map(({ messageId }) => messageId)).toEqual(kept.map(({ id }) => id));
        }),
      );
    },
    30_000,
  );
});

describe('the log of an execution', () => {
  it('has the status in_progress when another process recovers the run, and the message once', async () => {
    const make = scenarios['plain tools']!;
    const { starts } = await logOf(make, 3, 'after');
    expect(starts).toEqual(['pending', 'in_progress']);
    // the process dies right after its first commit
    const { starts: early, reported } = await logOf(make, 1, 'after');
    expect(early).toEqual(['pending', 'in_progress']);
    expect(reported[0]).toMatchObject({ role: 'user', content: 'Go.', stepNumber: 0 });
  });

  it('has the start and the message in the first commit', async () => {
    const store = memoryPlace().open();
    const first: string[] = [];
    const commit: SessionStore['commit'] = (given) => {
      if (first.length === 0) first.push(JSON.stringify(given.events ?? []));
      return store.commit(given);
    };
    const runtime = runtimeOn({ ...store, commit }, agentWith([final('Hello.')]));
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'Hi', waiting);
    expect(first[0]).toContain('AgentStarted');
    expect(first[0]).toContain('MessageAdded');
  });

  it('has only the messages of its own turn', async () => {
    const runtime = runtimeOn(memoryPlace().open(), agentWith([final('One.'), final('Two.')]));
    const { id } = await runtime.create(ann);
    const said = async (): Promise<string[]> => {
      const { events } = await runtime.events(id, ann);
      return events.flatMap(({ event }) => (event.type === 'MessageAdded' ? [event.content] : []));
    };
    await runtime.send(id, 'a', waiting);
    expect(await said()).toEqual(['a', 'One.']);
    await runtime.send(id, 'b', waiting);
    expect(await said()).toEqual(['b', 'Two.']);
  });

  it('leaves out an answer that is too large to store, but has the user message', async () => {
    const store = memoryPlace({ maxBytes: 20_000 }).open();
    const runtime = runtimeOn(store, agentWith([final('x'.repeat(60_000))]));
    const { id } = await runtime.create(ann);
    const session = await runtime.send(id, 'Write a book.', waiting);
    expect(session.status).toBe('failed');
    const { events } = await runtime.events(id, ann);
    const reported = events.flatMap(({ event }) =>
      event.type === 'MessageAdded' ? [event.content] : [],
    );
    expect(reported).toEqual(['Write a book.']);
    expect(events.at(-1)?.event).toMatchObject({ type: 'AgentFailed', outputText: '' });
  });
});
