import { AgentBuilder, type SessionEvent, type Tool } from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  pause,
  places,
  runtimeOn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';
import { gated } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const numbered = (received: readonly SessionEvent[]) => received.filter(({ seq }) => seq !== null);

/** Creates an agent that asks for approval two levels deep, beside a slow call. */
function deep(beside: Tool = mockTool('free')) {
  const named = (name: string, steps: ScenarioStep[], tool: Tool) =>
    AgentBuilder.base()
      .withName(name)
      .withDriver(followingDriver(steps))
      .withTools(tool)
      .build()
      .asTool({ name, description: name });
  const inner = named('inner', [toolCall('pay'), final('inner done')], gated());
  const middle = named('middle', [toolCall('inner', { input: 'x' }), final('mid')], inner);
  const calls = [{ name: 'middle', args: { input: 'x' } }, { name: 'free' }];
  return builderWith(followingDriver([toolCalls(calls), final('done')]), middle, beside).build();
}

describe.each(places)('the log of an execution (%s)', (_name, makePlace) => {
  it('has the events that listeners got, numbered from 1 without gaps', async () => {
    const agent = agentWith(
      [toolCall('look', { q: 1 }), toolCall('pay', { amount: 2 }), stream(['do', 'ne'])],
      mockTool('look', { rows: [1, 2] }),
      gated(),
    );
    const runtime = runtimeOn(makePlace().open(), agent);
    const received = receiving(runtime);
    const { id } = await runtime.create(ann);
    const paused = await runtime.send(id, 'go', waiting);
    await runtime.approve(id, callIds(paused)[0]!, waiting);
    const { events, seq, executionId } = await runtime.events(id, ann);
    expect(events.map((entry) => entry.seq)).toEqual(events.map((_e, i) => i + 1));
    expect(seq).toBe(events.length);
    expect(executionId).toBe(paused.executionId);
    const reported = numbered(received);
    expect(plain(events)).toEqual(plain(reported.map(({ seq: n, event }) => ({ seq: n, event }))));
    const outcomes = events.flatMap(({ event }) => ('outcome' in event ? [event.outcome] : []));
    expect(outcomes.length).toBeGreaterThan(5);
    expect(outcomes.at(-1)!.explain()).toContain('Completed');
    expect(outcomes).toEqual(
      reported.flatMap(({ event }) => ('outcome' in event ? [event.outcome] : [])),
    );
  });

  it('leaves out chunks and deltas, which have no number but keep their order', async () => {
    const agent = agentWith([toolCall('look', { q: 1 }), stream(['do', 'ne'])], mockTool('look'));
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agent);
    const received = receiving(runtime);
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    const types = typesOf(received);
    expect(received.flatMap(({ seq, event }) => (seq === null ? [event.type] : []))).toEqual([
      'ToolCallDelta',
      'ToolCallDelta',
      'StreamChunk',
      'StreamChunk',
    ]);
    expect(types.indexOf('ToolCallDelta')).toBeGreaterThan(types.indexOf('AgentStepStarted'));
    expect(types.lastIndexOf('ToolCallDelta')).toBeLessThan(types.indexOf('ToolCallStarted'));
    expect(types.indexOf('StreamChunk')).toBeGreaterThan(types.lastIndexOf('AgentStepStarted'));
    expect(types.lastIndexOf('StreamChunk')).toBeLessThan(types.lastIndexOf('AgentStepCompleted'));
    const kept = (await runtime.events(id, ann)).events.map(({ event }) => event.type);
    expect(kept).not.toContain('StreamChunk');
    expect(kept).not.toContain('ToolCallDelta');
  });

  it('numbers each execution separately, and continues over pause, resume and another process', async () => {
    const place = makePlace();
    const steps = [toolCall('pay'), final('done')];
    const make = () => builderWith(followingDriver(steps, [final('again')]), gated()).build();
    const first = runtimeOn(place.open(), make());
    const { id } = await first.create(ann);
    const paused = await first.send(id, 'go', waiting);
    const half = (await first.events(id, ann)).seq;
    const second = runtimeOn(place.open(), make());
    const received = receiving(second);
    await second.approve(id, callIds(paused)[0]!, waiting);
    expect(numbered(received)[0]).toMatchObject({ seq: half + 1, event: { type: 'AgentStarted' } });
    await isSound(first, id);
    const before = await first.events(id, ann);
    await second.send(id, 'more', waiting);
    const after = await first.events(id, ann);
    expect(after.events[0]).toMatchObject({ seq: 1, event: { type: 'AgentStarted' } });
    expect(after.executionId).not.toBe(before.executionId);
    const again = await first.events(id, { ...ann, executionId: before.executionId! });
    expect(again).toEqual(before);
  });

  it('is read in pages, after a number', async () => {
    const runtime = runtimeOn(
      makePlace().open(),
      agentWith([toolCall('look'), final('done')], mockTool('look')),
    );
    const { id } = await runtime.create(ann);
    expect(await runtime.events(id, ann)).toEqual({ executionId: null, events: [], seq: 0 });
    await runtime.send(id, 'go', waiting);
    const whole = await runtime.events(id, ann);
    const read: unknown[] = [];
    for (let after = 0; ;) {
      const page = await runtime.events(id, { ...ann, after, limit: 4 });
      expect(page.seq).toBe(whole.seq);
      if (page.events.length === 0) break;
      expect(page.events.length).toBeLessThanOrEqual(4);
      read.push(...page.events);
      after = page.events.at(-1)!.seq;
    }
    expect(read).toEqual(whole.events);
    expect((await runtime.events(id, { ...ann, executionId: 'no such' })).events).toEqual([]);
  });

  it('has the events of nested agents, with their outcomes', async () => {
    const runtime = runtimeOn(makePlace().open(), deep());
    const received = receiving(runtime);
    const { id } = await runtime.create(ann);
    const paused = await runtime.send(id, 'go', waiting);
    await runtime.approve(id, callIds(paused)[0]!, waiting);
    const { events } = await runtime.events(id, ann);
    expect(plain(events)).toEqual(
      plain(numbered(received).map(({ seq, event }) => ({ seq, event }))),
    );
    expect(new Set(events.map(({ event }) => event.agentId)).size).toBe(3);
    await isSound(runtime, id);
  });
});

/** Delays commits, and records when one is written. */
function slow(store: SessionStore, ms: number) {
  const written = { seq: 0 };
  const commit: SessionStore['commit'] = async (given) => {
    await pause(ms);
    const receipt = await store.commit(given);
    written.seq = given.seq ?? written.seq;
    return receipt;
  };
  return { written, store: { ...store, commit } };
}

describe('D22: no event is emitted before it is written', () => {
  const hook = {
    name: 'after',
    aroundExecution: async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
      const state = await next(input);
      await pause(15);
      return state;
    },
  };
  const agents = {
    plain: () => agentWith([toolCall('pay'), final('done')], gated()),
    'with a slow hook': () =>
      builderWith(followingDriver([toolCall('pay'), final('done')]), gated())
        .withHooks(hook)
        .build(),
    nested: () => deep(),
    'nested, beside a slow call': () => deep(mockTool('free', () => pause(40).then(() => 'ok'))),
  };

  it.each(Object.entries(agents))(
    'listeners get each event after its commit (%s)',
    async (_n, make) => {
      const { store, written } = slow(memoryPlace().open(), 3);
      const runtime = runtimeOn(store, make());
      const early: unknown[] = [];
      runtime.wiretap(({ seq, event }) => {
        if (seq !== null && seq > written.seq) early.push([seq, event.type]);
      });
      const { id } = await runtime.create(ann);
      const paused = await runtime.send(id, 'go', waiting);
      await runtime.approve(id, callIds(paused)[0]!, waiting);
      expect(early).toEqual([]);
      expect((await runtime.get(id, ann)).output).toBe('done');
    },
  );

  const words = ['ToolApprovalRequested', 'AgentPaused'] as const;
  const cases = Object.entries(agents).flatMap(([name, make]) =>
    words.map((word) => [word, name, make] as const),
  );
  it.each(cases)('an answer on the first %s is accepted (%s)', async (word, _name, make) => {
    const { store } = slow(memoryPlace().open(), 10);
    const runtime = runtimeOn(store, make());
    const { id } = await runtime.create(ann);
    const answers: Promise<unknown>[] = [];
    const asked = gate();
    runtime.wiretap(({ event }) => {
      if (event.type !== word || answers.length > 0) return;
      const callId = 'toolCallId' in event ? event.toolCallId : event.pendingApprovals[0]!.callId;
      answers.push(runtime.approve(id, callId, ann));
      asked.open();
    });
    await runtime.send(id, 'go', ann);
    await asked.passed;
    await answers[0];
    const done = await until(async () => {
      const session = await runtime.get(id, ann);
      return session.status === 'completed' ? session : null;
    });
    expect(done.output).toBe('done');
    await isSound(runtime, id);
  });
});
