import { AgentState, type AgentBuilder } from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { modelView } from '../src/agent/model-view.ts';
import { call, longAgent, longModel, type LongModel } from './setup/long-conversations.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  isSound,
  runtimeOn,
  until,
  waiting,
} from './setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** A model that reads until it has what a summary stands for. */
const reading = (): LongModel =>
  longModel({
    answer: (_, n) =>
      n < 14
        ? { ...call('look', { page: n }), content: 'word '.repeat(100) }
        : { content: 'Done.' },
  });
const compacts = { atTokens: 3_000, clearToolResults: false };

describe('D68: a run that ends between a compaction and its step', () => {
  const endings = [
    ['a signal', 'user_requested'],
    ['its deadline', 'time_limit'],
  ] as const;

  const kinds = [
    ['summary', compacts],
    ['tool_results', { atTokens: 3_000, keepTurns: 1, summarize: false }],
  ] as const;
  const runs = endings.flatMap((end) => kinds.map((kind) => [...end, ...kind] as const));
  it.each(runs)('by %s (%s) keeps a %s, books it and asks no model', async (...given) => {
    const [by, reason, kind, settings] = given;
    const clock = fakeClock();
    const stop = new AbortController();
    const model = kind === 'summary' ? reading() : longModel();
    const agent = longAgent(model, 1_000)
      .withCompaction(settings)
      .withTimeout({ seconds: 60 })
      .withClock(clock)
      .build();
    let calls = 0;
    const unlisten = agent.on('ContextCompacted', () => {
      unlisten();
      calls = model.requests.length;
      if (by === 'a signal') stop.abort('enough');
      else clock.jump(61_000);
    });
    let state = AgentState.empty();
    for (let turn = 0; state.compactions.length === 0 && turn < 20; turn++)
      state = await agent.run(state.withUserMessage('Read it.'), { signal: stop.signal });
    const [compaction] = state.compactions;
    expect([state.stopReason, compaction?.kind, state.compactions.length]).toEqual([
      reason,
      kind,
      1,
    ]);
    expect(model.requests).toHaveLength(calls);
    expect(model.summaries).toHaveLength(kind === 'summary' ? 1 : 0);
    const { usage } = compaction!;
    expect(state.steps.at(-1)).toMatchObject({
      type: 'cut',
      compactions: [{ id: compaction!.id, kind }],
      usage,
      ...(kind === 'summary' && { compactionUsage: usage }),
    });
    expect(state.info.usage.total).toBe(
      [...state.steps].reduce((sum, step) => sum + step.usage.total, 0),
    );
    expect(modelView(state.messages, state.compactions).pairingProblem()).toBeNull();

    const stored = AgentState.from(JSON.parse(JSON.stringify(state)) as never);
    const next = await agent.run(stored.withUserMessage('And now?'));
    expect(next.compactions[0]).toEqual(compaction);
    expect(
      model.requests[calls]!.messages.some(({ text }) => /^(<record|\[Left out)/.test(text)),
    ).toBe(true);
  });

  /** A store that does something while the first compaction is being written, or right after. */
  function around(store: SessionStore, when: 'before' | 'after', act: () => Promise<void> | void) {
    let isDone = false;
    const commit: SessionStore['commit'] = async (given) => {
      const isFirst = !isDone && given.compactions !== undefined;
      isDone ||= isFirst;
      if (isFirst && when === 'before') await act();
      const receipt = await store.commit(given);
      if (isFirst && when === 'after') await act();
      return receipt;
    };
    return { ...store, commit };
  }

  const moments = ['before', 'after'] as const;
  const cases = endings.flatMap(([by, reason]) =>
    moments.flatMap((when) =>
      [false, true].map((isNested) => [by, when, isNested, reason] as const),
    ),
  );
  it.each(cases)(
    'by %s %s its commit is there, once and paid once, in the store (nested: %s)',
    async (by, when, isNested, reason) => {
      const clock = fakeClock();
      const model = reading();
      const outer = followingDriver([toolCall('deeper', { input: 'Read.' })], [final('Done.')]);
      const timed = (builder: AgentBuilder): AgentBuilder =>
        builder.withTimeout({ seconds: 60 }).withClock(clock);
      const make = () => {
        const inner = longAgent(model).withCompaction(compacts);
        if (!isNested) return timed(inner.withName('support')).build();
        const tool = inner
          .withClock(clock)
          .build()
          .asTool({ name: 'deeper', description: 'Reads.' });
        return timed(builderWith(outer, tool)).build();
      };
      const own = memoryStore();
      const client = clientOn(own, make());
      let calls = 0;
      const seen = gate();
      const store = around(own, when, async () => {
        calls = model.requests.length;
        // a stop by another process comes with the receipt of the commit
        if (by === 'a signal') await (when === 'before' ? client : runtime).stop('s', ann);
        else await clock.advance(61_000);
        seen.open();
      });
      const runtime = runtimeOn(store, make());
      await runtime.create({ ...ann, id: 's' });
      await runtime.send('s', 'go', ann);
      await seen.passed;
      const session = await until(async () => {
        const now = await client.get('s', ann);
        return now.status === 'in_progress' ? null : now;
      });
      expect(session.stopReason).toBe(reason);
      expect([model.requests.length, model.summaries.length]).toEqual([calls, 1]);
      expect(await own.compactions('s', '')).toHaveLength(isNested ? 0 : 1);
      const used = model.requests.length + model.summaries.length;
      expect(used).toBeGreaterThan(1);
      const state = await client.state('s', ann);
      expect(session.usage.total).toBe(state.info.usage.total);
      await isSound(client, 's');
      expect(await runtime.send('s', 'and now?', waiting)).toMatchObject({ status: 'completed' });
    },
  );
});
