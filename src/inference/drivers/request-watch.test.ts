import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { patienceOf, RequestWatch } from './request-watch.ts';

const never = new Promise<never>(() => {});

function watched(firstMs = 100, idleMs = 50) {
  const clock = fakeClock();
  const caller = new AbortController();
  const watch = new RequestWatch(caller.signal, firstMs, idleMs, clock);
  return { clock, caller, watch };
}

describe('RequestWatch', () => {
  it('ends a request that never starts, even if it ignores its signal', async () => {
    const { clock, watch } = watched();
    let closed = 0;
    watch.onOver(() => closed++);
    const waiting = watch.race(never).catch((error: unknown) => error);
    await clock.advance(99);
    expect(watch.isOver).toBe(false);
    await clock.advance(1);
    expect(await waiting).toBeInstanceOf(Error);
    expect(watch.silence).toMatchObject({ type: 'timeout', code: 'idle_timeout' });
    expect(watch.silence?.message).toBe('The model sent nothing for 100 ms.');
    expect([watch.isOver, watch.isCancelled, closed]).toEqual([true, false, 1]);
  });

  it.each([-3_600_000, 3_600_000])(
    'a wall clock that jumps by %d ms does not change the timeout',
    async (jump) => {
      const { clock, watch } = watched();
      await clock.advance(40);
      watch.received(true);
      watch.listen();
      clock.jumpWall(jump);
      await clock.advance(49);
      expect(watch.isOver).toBe(false);
      await clock.advance(1);
      expect(watch.silence?.message).toBe('The model sent nothing more for 50 ms.');
    },
  );

  it('a keep-alive does not count as an answer: the first limit still applies', async () => {
    const { clock, watch } = watched();
    for (let i = 0; i < 9; i++) {
      await clock.advance(10);
      watch.received(false);
      watch.listen();
    }
    expect(watch.isOver).toBe(false);
    await clock.advance(10);
    expect(watch.silence?.message).toBe('The model sent nothing for 100 ms.');
  });

  it('the idle limit applies from the first chunk and restarts with each chunk', async () => {
    const { clock, watch } = watched();
    for (let i = 0; i < 5; i++) {
      await clock.advance(40);
      watch.received(true);
      watch.listen();
    }
    await clock.advance(49);
    expect(watch.isOver).toBe(false);
    await clock.advance(1);
    expect(watch.silence?.message).toBe('The model sent nothing more for 50 ms.');
  });

  it('does not count the time of the reader', async () => {
    const { clock, watch } = watched();
    watch.received(true);
    await clock.advance(500);
    expect(watch.isOver).toBe(false);
    watch.listen();
    await clock.advance(49);
    expect(watch.isOver).toBe(false);
    await clock.advance(60);
    expect(watch.isOver).toBe(true);
  });

  it("follows the caller's signal and reports it as canceled", async () => {
    const { caller, watch } = watched();
    let closed = 0;
    watch.onOver(() => closed++);
    const waiting = watch.race(never).catch((error: unknown) => error);
    caller.abort('enough');
    expect(await waiting).toBe('enough');
    expect([watch.isOver, watch.isCancelled, watch.silence, closed]).toEqual([true, true, null, 1]);
  });

  it("ends immediately if the caller's signal is already aborted", async () => {
    const clock = fakeClock();
    const watch = new RequestWatch(AbortSignal.abort('gone'), 100, 50, clock);
    let closed = 0;
    watch.onOver(() => closed++);
    await expect(watch.race(never)).rejects.toBe('gone');
    expect(closed).toBe(1);
  });

  it('leaves no timer and no listener', async () => {
    const { clock, caller, watch } = watched();
    let closed = 0;
    watch.onOver(() => closed++);
    watch.release();
    expect(clock.pendingTimers).toBe(0);
    caller.abort();
    expect([watch.isOver, closed]).toEqual([false, 0]);
  });

  it('never times out with Infinity', () => {
    const { clock, watch } = watched(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    watch.received(true);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('patienceOf', () => {
  it('gives a whole answer more time by default', () => {
    expect(patienceOf({})).toEqual({ streamMs: 120_000, wholeMs: 600_000, idleMs: 60_000 });
    expect(patienceOf({ firstTokenTimeoutMs: 5, idleTimeoutMs: 7 })).toEqual({
      streamMs: 5,
      wholeMs: 5,
      idleMs: 7,
    });
  });

  it.each([[0], [-1], [Number.NaN], ['1'], [null]])('rejects %s', (ms) => {
    expect(() => patienceOf({ idleTimeoutMs: ms as number })).toThrow(/idleTimeoutMs/);
  });
});
