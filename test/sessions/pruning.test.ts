import type { Agent, SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  callIds,
  followingDriver,
  isSound,
  memoryPlace,
  places,
  runtimeOn,
  takesAnotherTurn,
  waiting,
  type FollowingDriver,
} from '../setup/sessions.ts';

const { toolCalls, toolCall, final } = ScenarioStep;
const later = (): Date => new Date(Date.now() + 60_000);

describe.each(places)('D41: prune (%s)', (_name, makePlace) => {
  it('drops logs and the steps of earlier executions, but nothing that the next turn needs', async () => {
    const place = makePlace();
    const turn = [toolCall('look'), final('done')];
    const driver = followingDriver(turn, turn, turn);
    const runtime = runtimeOn(place.open(), builderWith(driver, mockTool('look', 'seen')).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', waiting);
    await runtime.send('s', 'two', waiting);
    const before = await runtime.messages('s', ann);
    const session = await runtime.get('s', ann);
    const { rows, sessions } = await runtime.prune({ olderThan: later() });
    expect(sessions).toBe(1);
    expect(rows).toBeGreaterThan(4);
    expect(await runtime.get('s', ann)).toEqual(session);
    expect(await runtime.messages('s', ann)).toEqual(before);
    expect((await runtime.steps('s', ann)).items.map(({ number }) => number)).toEqual([1, 2]);
    expect((await runtime.events('s', ann)).events).toEqual([]);
    expect(await runtime.prune({ olderThan: later() })).toEqual({ sessions: 0, rows: 0 });
    expect((await runtime.send('s', 'three', waiting)).stepCount).toBe(6);
    await isSound(runtime, 's');
    await takesAnotherTurn(place, 's');
  });

  it('skips sessions that wait for approval, are busy or have changed since', async () => {
    const place = makePlace();
    const clock = fakeClock(Date.now());
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([final('one')], [toolCall('pay'), final('two')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, pay).build(), { clock });
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const early = new Date(clock.now() - 1);
    expect(await runtime.prune({ olderThan: early })).toEqual({ sessions: 0, rows: 0 });
    const paused = await runtime.send('s', 'more', waiting);
    expect(await runtime.prune({ olderThan: later() })).toEqual({ sessions: 0, rows: 0 });
    expect((await runtime.events('s', ann)).events.length).toBeGreaterThan(3);
    expect((await runtime.approve('s', callIds(paused)[0]!, waiting)).output).toBe('two');
  });
});

type Deed =
  | { readonly kind: 'turn'; readonly steps: readonly (readonly ('look' | 'pay')[])[] }
  | { readonly kind: 'prune' | 'restart' | 'fork' };

const deeds = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('turn' as const),
        steps: fc.array(
          fc.array(fc.constantFrom('look' as const, 'pay' as const), {
            minLength: 1,
            maxLength: 2,
          }),
          {
            maxLength: 3,
          },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('prune' as const, 'restart' as const, 'fork' as const),
      }),
    },
  ),
  { minLength: 2, maxLength: 7 },
);

const LIMIT = 2;

/** Runs the history of a session. Returns the model's requests, the totals and the number of tool calls. */
async function live(history: readonly Deed[], prunes: boolean) {
  const turns = history.flatMap((deed) =>
    deed.kind === 'turn'
      ? [[...deed.steps.map((names) => toolCalls(names.map((name) => ({ name })))), final('done')]]
      : [],
  );
  const store: SessionStore = memoryPlace().open();
  const driver: FollowingDriver = followingDriver(...turns);
  let ran = 0;
  const answer = () => `result ${++ran}`;
  const make = (): Agent =>
    builderWith(driver, mockTool('look', answer), mockTool('pay', answer, { needsApproval: true }))
      .withMaxSteps(LIMIT)
      .build();
  let runtime: SessionRuntime = runtimeOn(store, make());
  let { id } = await runtime.create(ann);
  for (const deed of history) {
    if (deed.kind === 'restart') runtime = runtimeOn(store, make());
    else if (deed.kind === 'fork') ({ id } = await runtime.fork(id, ann));
    else if (deed.kind === 'prune') {
      if (prunes) await runtime.prune({ olderThan: later() });
    } else {
      let session = await runtime.send(id, 'go', waiting);
      while (session.status === 'paused' || session.stopReason === 'steps_limit') {
        if (prunes) await runtime.prune({ olderThan: later() });
        session =
          session.status === 'paused'
            ? await runtime.approve(id, callIds(session).at(-1)!, waiting)
            : await runtime.resume(id, { ...waiting, grant: { steps: 1 } });
      }
      expect(session).toMatchObject({ status: 'completed', output: 'done' });
    }
  }
  const session = await runtime.get(id, ann);
  return {
    seen: driver.requests.map(({ messages }) =>
      [...messages].map((m) => [m.role, m.text, m.toolCalls]),
    ),
    accounts: [
      session.usage,
      session.info.usage,
      session.stepCount,
      session.messageCount,
      session.status,
    ],
    ran,
  };
}

describe('D41: over any history of turns, approvals, grants, forks and restarts', () => {
  it('the model sees the same with prune as without, and nothing runs twice', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (history) => {
        const plain = await live(history, false);
        expect(await live(history, true)).toEqual(plain);
        const calls = history.flatMap((deed) => (deed.kind === 'turn' ? deed.steps.flat() : []));
        expect(plain.ran).toBe(calls.length);
      }),
      { numRuns: 20 },
    );
  }, 20_000);
});
