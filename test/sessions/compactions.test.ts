import { AgentBuilder, type AgentState, type Hook } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { Compaction } from '../../src/agent/compaction.ts';
import { findEarlierResult } from '../../src/sessions/earlier-result.ts';
import { RowReader } from '../../src/sessions/row-reader.ts';
import { compacting, compaction, cutsOf, turnsOf } from '../setup/compactions.ts';
import {
  ann,
  builderWith,
  callIds,
  codeOf,
  isSound,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const look = () => mockTool('look', 'seen '.repeat(200));

/** An agent whose every turn calls a tool twice and answers; each turn begins with these compactions. */
function agentThat(choose: (state: AgentState) => readonly Compaction[], turns = 1) {
  const steps = Array.from({ length: turns }, () => [
    toolCall('look'),
    toolCall('look'),
    final('ok'),
  ]).flat();
  return builderWith(DeterministicDriver.fromSteps(...steps), look())
    .withHooks(compacting(choose))
    .build();
}

/** Summarizes all but the newest turn. */
const summarize = (state: AgentState): readonly Compaction[] => {
  const to = cutsOf(state).at(-1);
  const from = state.compactions.findLast(({ kind }) => kind === 'summary')?.toPosition ?? 0;
  return to === undefined ? [] : [compaction('summary', Math.max(0, from), to)];
};

const positionsOf = (list: readonly Compaction[]): readonly unknown[] =>
  list.map(({ kind, fromPosition, toPosition }) => [kind, fromPosition, toPosition]);

describe.each(places)('compactions of a session (%s)', (_name, makePlace) => {
  it('are stored once, with positions of the session, whatever part of it was loaded', async () => {
    const place = makePlace();
    const first = runtimeOn(
      place.open(),
      agentThat(() => []),
    );
    await first.create({ ...ann, id: 's', messages: [{ role: 'system', content: 'Rules.' }] });
    await first.send('s', 'one', waiting);
    for (const text of ['two', 'three', 'four', 'five'])
      await runtimeOn(place.open(), agentThat(summarize), { maxMessages: 3 }).send(
        's',
        text,
        waiting,
      );
    const runtime = runtimeOn(
      place.open(),
      agentThat(() => []),
    );
    const { items, before } = await runtime.compactions('s', ann);
    // the system message, and 6 messages per turn
    expect(positionsOf(items)).toEqual([
      // only what the window of three messages had
      ['summary', 4, 7],
      ['summary', 7, 13],
      ['summary', 13, 19],
      ['summary', 19, 25],
    ]);
    expect(before).toBeNull();
    const rows = await place.open().compactions('s', '');
    expect(rows.map(({ position, toPosition }) => [position, toPosition])).toEqual([
      [0, 7],
      [1, 13],
      [2, 19],
      [3, 25],
    ]);
    const all = (await runtime.messages('s', ann)).items;
    expect(all).toHaveLength(31);
    expect(all.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      'one',
      'two',
      'three',
      'four',
      'five',
    ]);
    await isSound(runtime, 's');
  });

  it('begin the loaded part behind the newest summary, or at the window if that is earlier', async () => {
    const place = makePlace();
    const grow = runtimeOn(
      place.open(),
      agentThat(() => [], 6),
    );
    await grow.create({ ...ann, id: 's', messages: [{ role: 'system', content: 'Rules.' }] });
    for (let turn = 0; turn < 6; turn++) await grow.send('s', `turn ${turn}`, waiting);
    // behind the third turn: position 19 of 43
    const cut = (state: AgentState): readonly Compaction[] => [
      compaction('summary', 0, turnsOf(state)[3]!),
    ];
    await runtimeOn(place.open(), agentThat(cut)).send('s', 'turn 6', waiting);
    const loaded = async (maxMessages: number) => {
      const runtime = runtimeOn(
        place.open(),
        agentThat(() => []),
        { maxMessages },
      );
      const { messages, compactions } = await runtime.state('s', ann);
      const [summary] = compactions;
      const shown = messages.slice(summary!.toPosition).find((message) => message.isUser());
      return [messages.length, compactions.length, messages.at(0)!.text, shown!.text];
    };
    expect(await loaded(4)).toEqual([25, 1, 'Rules.', 'turn 3']);
    expect(await loaded(30)).toEqual([31, 1, 'Rules.', 'turn 3']);
    expect(await loaded(100)).toEqual([43, 1, 'Rules.', 'turn 3']);
  });

  it('are limited by characters: what does not fit is left out, and no pair is separated', async () => {
    const place = makePlace();
    const grow = runtimeOn(
      place.open(),
      agentThat(() => [], 6),
    );
    await grow.create({ ...ann, id: 's' });
    for (let turn = 0; turn < 6; turn++) await grow.send('s', `turn ${turn}`, waiting);
    const cut = (state: AgentState): readonly Compaction[] => [
      compaction('summary', 0, turnsOf(state)[1]!),
    ];
    await runtimeOn(place.open(), agentThat(cut)).send('s', 'turn 6', waiting);
    for (const maxCharacters of [1, 3_000, 9_000, 20_000]) {
      const runtime = runtimeOn(
        place.open(),
        agentThat(() => []),
        { maxCharacters },
      );
      const { messages, compactions } = await runtime.state('s', ann);
      expect(messages.pairingProblem()).toBeNull();
      expect(messages.length).toBeLessThan(42);
      expect(compactions).toHaveLength(1);
      expect(compactions[0]!.toPosition).toBeLessThanOrEqual(messages.length);
      const text = JSON.stringify(messages.toJSON());
      expect(text.length).toBeLessThan(maxCharacters + 4_000);
    }
  });

  it('of a fork are those of its step, and its own afterwards', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentThat(summarize, 5));
    await runtime.create({ ...ann, id: 's' });
    for (let turn = 0; turn < 4; turn++) await runtime.send('s', `turn ${turn}`, waiting);
    const { items } = await runtime.compactions('s', ann);
    expect(items).toHaveLength(3);
    // each turn has three steps, and compacts before its first one
    for (const [atStep, count] of [
      [1, 0],
      [3, 0],
      [4, 1],
      [6, 1],
      [7, 2],
      [12, 3],
    ] as const) {
      const { id } = await runtime.fork('s', { ...ann, atStep });
      expect((await runtime.compactions(id, ann)).items).toEqual(items.slice(0, count));
      const { compactions } = await runtime.state(id, ann);
      expect(compactions.map((one) => one.id)).toEqual(
        items
          .slice(0, count)
          .slice(-1)
          .map((one) => one.id),
      );
    }
    const whole = await runtime.fork('s', { ...ann, id: 'f' });
    expect((await runtime.compactions(whole.id, ann)).items).toEqual(items);
    await runtime.send('f', 'more', waiting);
    expect((await runtime.compactions('f', ann)).items).toHaveLength(4);
    await runtime.delete('s', ann);
    expect((await runtime.compactions('f', ann)).items.slice(0, 3)).toEqual(items);
    await isSound(runtime, 'f');
  });

  it('require a release that reads them, also if none of them is loaded', async () => {
    const place = makePlace();
    const clear = (): readonly Compaction[] => [compaction('tool_results', 0, 1)];
    const runtime = runtimeOn(place.open(), agentThat(clear));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', waiting);
    expect(await place.open().find('s')).toMatchObject({ requires: 2 });
    const next = runtimeOn(
      place.open(),
      agentThat(() => []),
      { maxMessages: 1 },
    );
    expect((await next.state('s', ann)).compactions).toEqual([]);
    await next.send('s', 'two', waiting);
    expect(await place.open().find('s')).toMatchObject({ requires: 2 });
    expect((await next.compactions('s', ann)).items).toHaveLength(1);
  });

  it('are read page by page, by their owner alone', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentThat(summarize, 6));
    await runtime.create({ ...ann, id: 's' });
    for (let turn = 0; turn < 6; turn++) await runtime.send('s', `turn ${turn}`, waiting);
    const all = (await runtime.compactions('s', ann)).items;
    expect(all).toHaveLength(5);
    const newest = await runtime.compactions('s', { ...ann, limit: 2 });
    expect(newest).toEqual({ items: all.slice(3), before: 3 });
    const earlier = await runtime.compactions('s', { ...ann, limit: 3, before: newest.before! });
    expect(earlier).toEqual({ items: all.slice(0, 3), before: null });
    expect(await codeOf(() => runtime.compactions('s', { owner: 'bob' }))).toBe(
      'session_not_found',
    );
    await runtime.create({ ...ann, id: 'new' });
    expect(await runtime.compactions('new', ann)).toEqual({ items: [], before: null });
    await runtime.delete('s', ann);
    expect(await place.open().compactions('s', '')).toEqual([]);
  });

  it('show no secrets', async () => {
    const place = makePlace();
    const leak = (state: AgentState): readonly Compaction[] =>
      summarize(state).map((one) => ({
        ...one,
        text: 'The key is sk-proj-abcdefghijklmnopqrstuvwxyz012345.',
      }));
    const runtime = runtimeOn(place.open(), agentThat(leak, 2));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', waiting);
    await runtime.send('s', 'two', waiting);
    const { items } = await runtime.compactions('s', ann);
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain('abcdefghijkl');
  });

  it('let earlier results be found by id after a summary and after a prune', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentThat(summarize, 8));
    await runtime.create({ ...ann, id: 's' });
    await runtime.create({ ...ann, id: 'other' });
    await runtime.send('other', 'one', waiting);
    for (let turn = 0; turn < 6; turn++) await runtime.send('s', `turn ${turn}`, waiting);
    await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    const store = place.open();
    const reader = new RowReader(store, (await store.find('s'))!);
    const find = (messageId: string, sessionId = 's', agentId = '') =>
      findEarlierResult(reader, { sessionId, agentId, messageId });
    const { items } = await runtime.messages('s', ann);
    const results = items.filter(({ role }) => role === 'tool').slice(0, -2);
    expect(results.length).toBeGreaterThan(6);
    for (const { id, content } of results) expect(await find(id)).toMatchObject({ id, content });
    for (const id of [
      '',
      'unknown',
      items[0]!.id,
      results[0]!.id.slice(0, -1),
      `${results[0]!.id} 1`,
    ])
      expect(await find(id)).toBeNull();
    expect(await find(results[0]!.id, 's', 'sub')).toBeNull();
    const foreign = (await runtime.messages('other', ann)).items.find(
      ({ role }) => role === 'tool',
    )!;
    expect(await find(foreign.id)).toBeNull();
    expect(await find(results[0]!.id, 'other')).toBeNull();
  });

  it('let the model read an earlier result from the store, in another process', async () => {
    const place = makePlace();
    const first = runtimeOn(place.open(), agentThat(summarize, 2));
    await first.create({ ...ann, id: 's' });
    await first.send('s', 'one', waiting);
    await first.send('s', 'two', waiting);
    await first.prune({ olderThan: new Date(Date.now() + 1_000) });
    const { items: all } = await first.messages('s', ann);
    const result = all.find(({ role }) => role === 'tool');
    const read = (id: string) => toolCall('read_earlier_result', { id });
    const driver = DeterministicDriver.fromSteps(
      read(result!.id),
      read('msg_unknown'),
      final('done'),
    );
    const agent = builderWith(driver, look()).withCompaction({ atTokens: 1_000_000 }).build();
    const second = runtimeOn(place.open(), agent, { maxMessages: 1 });
    const loaded = await second.state('s', ann);
    expect([...loaded.messages].some(({ id }) => id === result!.id)).toBe(false);
    await second.send('s', 'three', waiting);
    const { items } = await second.steps('s', { ...ann, limit: 3 });
    const [found, unknown] = items.flatMap(({ results }) => results);
    expect(found).toMatchObject({ kind: 'ok', value: { text: result!.content } });
    expect(unknown).toMatchObject({ kind: 'error' });
    expect(unknown!.error!.message).toContain('no result with this id');
  });

  it('of a nested agent belong to it, also when another process continues it', async () => {
    const place = makePlace();
    const make = (steps: readonly ScenarioStep[], outer: readonly ScenarioStep[]) => {
      const pay = mockTool('pay', 'paid', { needsApproval: true });
      const inner: Hook = {
        name: 'compacts once',
        aroundModelCall: (request, next) => next(request),
        aroundExecution: ({ state }, next) =>
          next({
            state:
              state.messages.length === 1 && state.compactions.length === 0
                ? state.with({ compactions: [compaction('tool_results', 0, 1)] })
                : state,
          }),
      };
      const helper = AgentBuilder.base()
        .withName('helper')
        .withDriver(DeterministicDriver.fromSteps(...steps))
        .withTools(pay)
        .withHooks(inner)
        .build();
      return builderWith(
        DeterministicDriver.fromSteps(...outer),
        helper.asTool({ name: 'help', description: 'Helps.' }),
      ).build();
    };
    const first = runtimeOn(
      place.open(),
      make([toolCall('pay')], [toolCall('help', { input: 'pay it' })]),
    );
    await first.create({ ...ann, id: 's' });
    const paused = await first.send('s', 'go', waiting);
    expect(paused.status).toBe('paused');
    const store = place.open();
    const row = (await store.find('s'))!;
    expect(row.requires).toBe(2);
    const [agent] = await store.agents('s', row.executionId!);
    expect(await store.compactions('s', agent!.agentId)).toHaveLength(1);
    expect(await store.compactions('s', '')).toEqual([]);
    const second = runtimeOn(place.open(), make([final('inner')], [final('outer')]));
    const state = await second.state('s', ann);
    const [child] = Object.values(state.unfinishedStep!.children);
    expect(positionsOf(child!.compactions ?? [])).toEqual([['tool_results', 0, 1]]);
    const done = await second.approve('s', callIds(paused)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'outer' });
    expect(await store.compactions('s', agent!.agentId)).toHaveLength(1);
    expect((await second.compactions('s', ann)).items).toEqual([]);
  });
});
