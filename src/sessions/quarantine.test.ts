import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Quarantine, type QuarantineTimes, type Stay } from './quarantine.ts';

const quick: QuarantineTimes = {
  calmMs: 20,
  holdMs: 60,
  leaveMs: 60,
  restMs: 200,
  aloneMs: 2_000,
};
const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const gate = (times: Partial<QuarantineTimes> = {}) => new Quarantine({ ...quick, ...times });

/** What came of it so far. */
function watched(stay: Stay | null | Promise<Stay | null>) {
  const seen: { stay: Stay | null | undefined } = { stay: undefined };
  void Promise.resolve(stay).then((given) => (seen.stay = given));
  return seen;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a session in quarantine', () => {
  it('runs while nothing else does, and others wait for its end', async () => {
    const quarantine = gate();
    const alone = await quarantine.isolate('poison');
    expect(alone).toMatchObject({ isAlone: true });
    const others = [watched(quarantine.join('a')), watched(quarantine.join('b'))];
    const second = watched(quarantine.isolate('poison 2'));
    await pause(10);
    expect(others.map(({ stay }) => stay)).toEqual([undefined, undefined]);
    alone!.leave();
    await pause(1);
    expect(others.map(({ stay }) => stay?.isAlone)).toEqual([false, false]);
    expect(second.stay).toBeUndefined();
  });

  it('shares the process once it has shown that it can run', async () => {
    const quarantine = gate();
    const alone = await quarantine.isolate('poison');
    const other = watched(quarantine.join('a'));
    alone!.share();
    await pause(1);
    expect(other.stay).toMatchObject({ isAlone: false });
    const next = watched(quarantine.isolate('poison 2'));
    other.stay!.leave();
    await pause(1);
    expect(next.stay).toBeUndefined();
    alone!.leave();
    await pause(1);
    expect(next.stay).toMatchObject({ isAlone: true });
  });

  it('waits for the end of what runs; nothing new begins when that takes long', async () => {
    const quarantine = gate();
    const running = await quarantine.join('a');
    const poison = watched(quarantine.isolate('poison'));
    const beside = await quarantine.join('b');
    await pause(50);
    const late = watched(quarantine.join('c'));
    running!.leave();
    beside!.leave();
    await pause(1);
    expect(poison.stay).toMatchObject({ isAlone: true });
    expect(late.stay).toBeUndefined();
    poison.stay!.leave();
    await pause(1);
    expect(late.stay).toMatchObject({ isAlone: false });
  });

  it('asks what runs to leave after its step, and gives up for a while where that takes too long', async () => {
    const quarantine = gate();
    const running = await quarantine.join('a');
    const poison = watched(quarantine.isolate('poison'));
    await pause(70);
    expect(running!.mustLeave).toBe(false);
    await pause(60);
    expect(running!.mustLeave).toBe(true);
    const late = watched(quarantine.join('b'));
    await pause(100);
    expect(poison.stay).toBeNull();
    expect(running!.mustLeave).toBe(false);
    expect(late.stay).toMatchObject({ isAlone: false });
    // others have the process for a while
    const again = watched(quarantine.isolate('poison'));
    await pause(60);
    expect(again.stay).toBeNull();
    expect(await quarantine.join('c')).toMatchObject({ isAlone: false });
  });

  it('a session that runs for long does not block others forever', async () => {
    const quarantine = gate({ aloneMs: 30 });
    await quarantine.isolate('poison');
    const other = watched(quarantine.join('a'));
    await pause(50);
    expect(other.stay).toMatchObject({ isAlone: false });
  });

  it('passes when it is to be stopped, as those do that wait for its end', async () => {
    const quarantine = gate();
    const alone = await quarantine.isolate('poison');
    const [a, b, c] = ['a', 'b', 'c'].map((id) => watched(quarantine.join(id)));
    const second = watched(quarantine.isolate('poison 2'));
    for (const id of ['a', 'poison 2', 'unknown']) quarantine.letPass(id);
    await pause(1);
    expect([a, second].map((one) => one!.stay?.isAlone)).toEqual([false, false]);
    expect(b!.stay).toBeUndefined();
    a!.stay!.leave();
    quarantine.close();
    await pause(1);
    expect([b, c].map((one) => one!.stay)).toEqual([null, null]);
    alone!.leave();
  });
});
