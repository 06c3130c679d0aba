import { AgentBuilder, SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/read-trace.ts';
import { stores } from '../setup/four-stores.ts';
import { HOUR, jumps } from '../setup/lease-clocks.ts';
import { ann, waiting } from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

function setUp(store: SessionStore) {
  const clock = fakeClock(new Date().toISOString());
  const driver = DeterministicDriver.fromSteps(
    toolCalls([{ name: 'read' }, { name: 'pay' }]),
    toolCall('read'),
    final('paid'),
  );
  const agent = AgentBuilder.base()
    .withName('support')
    .withDriver(driver)
    .withTools(
      mockTool('read', () => clock.jump(2_000)),
      mockTool('pay', () => clock.jump(3_000), { needsApproval: true }),
    )
    .withCumulativeTimeout({ seconds: 30 })
    .withClock(clock)
    .build();
  const runtime = (): SessionRuntime => new SessionRuntime({ store, agents: [agent], clock });
  return { clock, runtime };
}

describe.each(stores)('%s', (_name, open) => {
  it.each(jumps)(
    'keeps the working time in the session and the trace if the wall clock jumps by %d ms during a pause',
    async (jump) => {
      const { clock, runtime } = setUp(open());
      const first = runtime();
      const { id } = await first.create(ann);
      const paused = await first.send(id, 'pay the bill', waiting);
      expect(paused.status).toBe('paused');
      await first.close();
      clock.jump(60_000);
      clock.jumpWall(jump);
      const second = runtime();
      const done = await second.approve(id, 'call_2', waiting);
      expect(done).toMatchObject({ output: 'paid', status: 'completed' });
      expect(done.info.cumulativeExecutionSeconds).toBe(7);
      const { steps, pauses, totals } = await readTrace(second, id, ann);
      expect(totals.seconds).toEqual({ used: 7, limit: 30 });
      for (const { durationMs } of pauses) expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(totals.pausedMs).toBeGreaterThanOrEqual(0);
      for (const step of steps) {
        expect(step.durationMs).toBeGreaterThanOrEqual(0);
        for (const bar of step.bars) {
          expect(bar.durationMs).toBeGreaterThanOrEqual(0);
          expect(bar.at + bar.durationMs).toBeLessThanOrEqual(step.at + step.durationMs + 1);
        }
      }
      const { events } = await second.events(id, {
        ...ann,
        executionId: done.executionId ?? '',
      });
      const times = events.map(({ event }) => event.at);
      expect(times).toEqual(times.toSorted());
      await second.close();
    },
  );

  it('lists every session even if the clock jumps back and forth between changes', async () => {
    const store = open();
    const { clock, runtime } = setUp(store);
    const sessions = runtime();
    const owner = { owner: `own-${crypto.randomUUID()}` };
    const ids: string[] = [];
    const offsets = [0, -24 * HOUR, HOUR, -HOUR, 24 * HOUR, 0, -HOUR];
    for (const offset of offsets) {
      clock.jumpWall(offset - (clock.now() - clock.monotonic()));
      ids.push((await sessions.create(owner)).id);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<SessionRuntime['list']>> = await sessions.list({
        ...owner,
        limit: 2,
        ...(cursor !== null && { cursor }),
      });
      seen.push(...page.sessions.map(({ id }) => id));
      ({ cursor } = page);
      // change a session that is not listed yet, under a clock that was set back
      const next = ids.find((id) => !seen.includes(id));
      clock.jumpWall(-HOUR);
      const at = new Date(clock.now()).toISOString();
      const command = { kind: 'message', executionId: 'e', body: '{}', at } as const;
      if (next !== undefined) await store.accept(next, command, { phases: ['idle', 'open'] });
    } while (cursor !== null);
    expect([...new Set(seen)].toSorted()).toEqual(ids.toSorted());
    await sessions.close();
  });
});
