import { AgentError, ErrorPolicy } from 'onward';
import type { SessionStore } from 'onward/stores';
import { BroadcastConfig, readRefill, type Envelope } from 'onward/broadcasting';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ended, gated as pay } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  callIds,
  followingDriver,
  gate,
  memoryPlace,
  places,
  until,
  waiting,
} from '../setup/sessions.ts';
import { isUnbroken, numbered, ofType, plain, presets } from './live-run.ts';
import { processOn } from './process-on.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;

const statuses = (envelopes: readonly Envelope[]): string[] =>
  ofType(envelopes, 'agent.status').map(({ payload }) => payload.status);
/** Removes `prev`, which depends on the reader. */
const unchained = (envelopes: readonly Envelope[]) =>
  numbered(envelopes).map(({ prev: _prev, ...rest }) => plain(rest));

describe.each(places)('all sessions of a runtime (%s)', (_name, makePlace) => {
  it.each(presets)('with preset %s send the same envelopes as the log', async (preset) => {
    const config = BroadcastConfig[preset]();
    const inner = builderWith(followingDriver([toolCall('look'), stream(['in', 'ner'])]))
      .withName('inner')
      .withTools(mockTool('look', { text: 'long '.repeat(3_000) }))
      .build()
      .asTool({ name: 'ask', description: 'Asks.' });
    const driver = followingDriver(
      [
        toolCalls([{ name: 'ask', args: { input: 'x' } }, { name: 'nowhere' }], 'Let me ask.'),
        toolCalls([{ name: 'pay', args: { to: 'Ann' } }, { name: 'pay' }]),
        final('answer '.repeat(3_000)),
      ],
      [stream(['Aga', 'in.'])],
    );
    const { runtime, sent } = processOn(
      makePlace().open(),
      builderWith(driver, inner, pay()).withErrorPolicy(ErrorPolicy.retryAll()).build(),
      {
        config,
      },
    );
    const { id } = await runtime.create(ann);
    const paused = await runtime.send(id, 'question '.repeat(2_000), waiting);
    const [first, second] = callIds(paused);
    await runtime.approve(id, first!, waiting);
    await runtime.deny(id, second!, { ...waiting, reason: 'not twice' });
    const whole = await readRefill(runtime, id, { ...ann, config });
    expect(whole).toMatchObject({ session_id: id, execution_id: paused.executionId, more: false });
    const live = await sent(id);
    expect(unchained(live)).toEqual(unchained(whole.envelopes));
    isUnbroken(live);
    isUnbroken(whole.envelopes);
    expect(statuses(live).filter((s) => s !== 'processing')).toEqual([
      'paused',
      'paused',
      'completed',
    ]);

    // a new turn is a new execution with numbers from 1
    await runtime.send(id, 'again', waiting);
    const next = (await sent(id)).slice(live.length);
    isUnbroken(next);
    expect(next[0]).toMatchObject({ type: 'agent.status', seq: 1, prev: 0 });
    const again = await readRefill(runtime, id, { ...ann, config });
    expect(unchained(next)).toEqual(unchained(again.envelopes));
    const before = await readRefill(runtime, id, {
      ...ann,
      config,
      executionId: paused.executionId!,
    });
    expect(before).toEqual(whole);
  });

  it('continue in another process with the next number and its `prev`', async () => {
    const place = makePlace();
    const make = () =>
      builderWith(followingDriver([toolCall('pay', {}, 'Paying.'), final('done')]), pay()).build();
    for (const preset of presets) {
      const config = BroadcastConfig[preset]();
      const a = processOn(place.open(), make(), { config });
      const b = processOn(place.open(), make(), { config });
      const { id } = await a.runtime.create(ann);
      const paused = await a.runtime.send(id, 'go', waiting);
      const half = await a.sent(id);
      const { seq } = await a.runtime.events(id, ann);
      await b.runtime.approve(id, callIds(paused)[0]!, waiting);
      const rest = await b.sent(id);
      expect(rest[0]).toMatchObject({
        type: 'agent.status',
        seq: seq + 1,
        prev: seq,
        payload: { status: 'processing', previous_status: 'paused' },
      });
      // the first process sends nothing after the pause
      isUnbroken([...half, ...rest]);
      expect(statuses([...half, ...rest])).toEqual([
        'processing',
        'paused',
        'processing',
        'completed',
      ]);
    }
  });

  it('of one agent run concurrently without mixing their envelopes', async () => {
    const driver = followingDriver([toolCall('look'), stream(['do', 'ne'])]);
    const agent = builderWith(driver, mockTool('look')).build();
    const { runtime, sent, broadcasts } = processOn(makePlace().open(), agent);
    const ids = ['s1', 's2', 's3'];
    for (const id of ids) await runtime.create({ ...ann, id });
    await Promise.all(ids.map((id) => runtime.send(id, `I am ${id}`, waiting)));
    for (const id of ids) {
      const envelopes = await sent(id);
      isUnbroken(envelopes);
      expect(new Set(envelopes.map(({ session_id }) => session_id))).toEqual(new Set([id]));
      expect(ofType(envelopes, 'agent.message')[0]!.payload.content).toBe(`I am ${id}`);
      expect(statuses(envelopes)).toEqual(['processing', 'completed']);
    }
    expect(broadcasts.sessions).toBe(0);
  });
});

describe('a process that ends during a run', () => {
  /** Returns a store that fails after some commits and does not renew its lease. */
  function dying(store: SessionStore, commits: number) {
    let left = commits;
    return {
      isDead: () => left < 0,
      store: {
        ...store,
        commit: async (commit) => {
          if (left-- > 0) return store.commit(commit);
          throw new AgentError('stale_owner', 'killed');
        },
        renew: async ({ worker }) => store.signals(worker),
      } satisfies SessionStore,
    };
  }

  it.each([1, 2, 3, 4, 5, 6])(
    'by a crash after %i commits: another process continues and readers get each envelope once',
    async (commits) => {
      for (const preset of presets) {
        const config = BroadcastConfig[preset]();
        const clock = fakeClock();
        const store = memoryStore({ clock });
        const make = () =>
          builderWith(
            followingDriver([toolCall('look', {}, 'One.'), toolCall('look'), final('done')]),
            mockTool('look', 'ok', { idempotent: true }),
          ).build();
        const doomed = dying(store, commits);
        const a = processOn(doomed.store, make(), { config });
        const { id } = await a.runtime.create(ann);
        await a.runtime.send(id, 'go', ann);
        const isOver = async () => (await a.runtime.get(id, ann)).status === 'completed';
        await until(async () => doomed.isDead() || (await isOver()));
        const before = await a.sent(id);
        clock.jump(60_000);
        const b = processOn(store, make(), { config });
        await b.runtime.recover();
        await until(async () => (await b.runtime.get(id, ann)).status === 'completed');
        const after = await b.sent(id);

        // a reader that gets the envelopes of both processes and refills each gap
        const known: Envelope[] = [];
        const place = (): number => known.at(-1)?.seq ?? 0;
        for (const envelope of numbered([...before, ...after])) {
          if (envelope.prev! > place()) {
            const { envelopes } = await readRefill(b.runtime, id, {
              ...ann,
              config,
              after: place(),
            });
            known.push(...envelopes.filter(({ seq }) => seq! < envelope.seq!));
          }
          expect(envelope.seq!).toBeGreaterThan(place());
          known.push(envelope);
        }
        const log = await readRefill(b.runtime, id, { ...ann, config });
        expect(unchained(known)).toEqual(unchained(log.envelopes));
        expect(statuses(known).filter((s) => s !== 'processing')).toEqual(['completed']);
      }
    },
  );

  it('by a close: the status stays "processing" during the handover', async () => {
    const place = memoryPlace();
    const open = gate();
    const slow = mockTool('slow', () => open.passed.then(() => 'ok'));
    const make = () =>
      builderWith(followingDriver([toolCall('slow'), final('done')]), slow).build();
    const a = processOn(place.open(), make());
    const { id } = await a.runtime.create(ann);
    await a.runtime.send(id, 'go', ann);
    await until(() => slow.calls.length > 0);
    const closing = a.runtime.close();
    open.open();
    await closing;
    const half = await a.sent(id);
    expect(statuses(half)).toEqual(['processing', 'processing']);
    expect(a.broadcasts.sessions).toBe(0);
    const b = processOn(place.open(), make());
    await b.runtime.recover();
    await ended(b.runtime, id);
    const rest = await b.sent(id);
    isUnbroken([...half, ...rest]);
    expect(statuses(rest)).toEqual(['processing', 'completed']);
  });
});
