import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Quarantine, type QuarantineTimes, type Stay } from './quarantine.ts';

const quick: QuarantineTimes = {
  calmMs: 20,
  holdMs: 60,
  leaveMs: 60,
  restMs: 200,
  aloneMs: 2_000,
  lostMs: 40,
};
const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const gate = (times: Partial<QuarantineTimes> = {}) => new Quarantine({ ...quick, ...times });

/** Records the stay once it is settled. */
function watched(stay: Stay | null | Promise<Stay | null>) {
  const seen: { stay: Stay | null | undefined } = { stay: undefined };
  void Promise.resolve(stay).then((given) => (seen.stay = given));
  return seen;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('Quarantine', () => {
  it('runs an isolated session alone while others wait for its end', async () => {
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

  it('lets others run beside an isolated session once it shares the process', async () => {
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

  it('waits for running sessions to end, and starts nothing new if that takes long', async () => {
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

  it('asks running sessions to leave after their step, and gives up for a while if that takes too long', async () => {
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

  it('holds no lost session back while it waits for running sessions to end', async () => {
    const quarantine = gate();
    const running = await quarantine.join('a');
    const poison = watched(quarantine.isolate('poison'));
    await pause(50);
    const other = watched(quarantine.join('b'));
    const lost = quarantine.join('lost', true) as Stay;
    expect([lost.isAlone, lost.mustLeave]).toEqual([false, false]);
    await pause(60);
    // it leaves with the others, also where it came after they were asked to
    const late = quarantine.join('late', true) as Stay;
    expect([running, lost, late].map((stay) => stay!.mustLeave)).toEqual([true, true, true]);
    expect(other.stay).toBeUndefined();
    for (const stay of [running, lost, late]) stay!.leave();
    await pause(1);
    expect(poison.stay).toMatchObject({ isAlone: true });
  });

  it('ends the isolation of a session when no other worker has taken a lost one', async () => {
    const quarantine = gate();
    const alone = await quarantine.isolate('poison');
    const other = watched(quarantine.join('other'));
    void quarantine.join('taken', true);
    const lost = watched(quarantine.join('lost', true));
    quarantine.letPass('taken');
    await pause(39);
    expect([other.stay, lost.stay]).toEqual([undefined, undefined]);
    await pause(2);
    expect([other.stay, lost.stay]).toMatchObject([{ isAlone: false }, { isAlone: false }]);
    alone!.leave();
  });

  it('dismisses waiting sessions, so that lost ones get their turns', async () => {
    const quarantine = gate();
    const alone = await quarantine.isolate('poison');
    const waiting = ['a', 'b', 'c'].map((id) => watched(quarantine.join(id)));
    const lost = watched(quarantine.join('lost', true));
    quarantine.dismiss(2);
    await pause(1);
    expect(waiting.map(({ stay }) => stay)).toEqual([null, null, undefined]);
    quarantine.dismiss(10);
    await pause(1);
    expect([waiting[2]!.stay, lost.stay]).toEqual([null, undefined]);
    alone!.leave();
  });

  it('lets others run beside an isolated session after `aloneMs`', async () => {
    const quarantine = gate({ aloneMs: 30 });
    await quarantine.isolate('poison');
    const other = watched(quarantine.join('a'));
    await pause(50);
    expect(other.stay).toMatchObject({ isAlone: false });
  });

  it('admits a waiting session that is being stopped, and rejects the others on close', async () => {
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
