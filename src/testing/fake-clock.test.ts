import { describe, expect, it } from 'vitest';
import { fakeClock } from './fake-clock.ts';

describe('fakeClock', () => {
  it('does not move by itself', async () => {
    const clock = fakeClock('2026-01-16T12:00:00.000Z');
    expect(clock.now()).toBe(Date.parse('2026-01-16T12:00:00.000Z'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.now()).toBe(Date.parse('2026-01-16T12:00:00.000Z'));
    await clock.advance(1_500);
    expect(clock.now()).toBe(Date.parse('2026-01-16T12:00:01.500Z'));
    expect(fakeClock(7).now()).toBe(7);
  });

  it('fires timers in the order of their times, each at its time', async () => {
    const clock = fakeClock(0);
    const fired: [string, number][] = [];
    const note = (name: string) => (): void => void fired.push([name, clock.now()]);
    clock.after(300, note('c'));
    clock.after(100, note('a'));
    clock.after(200, note('b'));
    clock.after(201, note('late'));
    await clock.advance(200);
    expect(fired).toEqual([
      ['a', 100],
      ['b', 200],
    ]);
    expect(clock.pendingTimers).toBe(2);
  });

  it('promises and timers of a timer run before the next timer', async () => {
    const clock = fakeClock(0);
    const fired: string[] = [];
    const wait = (ms: number): Promise<void> =>
      new Promise((resolve) => void clock.after(ms, resolve));
    const work = async (): Promise<void> => {
      await wait(100);
      fired.push(`woke at ${clock.now()}`);
      await wait(50);
      fired.push(`woke again at ${clock.now()}`);
    };
    const working = work();
    clock.after(120, () => fired.push(`between at ${clock.now()}`));
    await clock.advance(1_000);
    await working;
    expect(fired).toEqual(['woke at 100', 'between at 120', 'woke again at 150']);
    expect(clock.now()).toBe(1_000);
  });

  it('a cancelled timer does not fire', async () => {
    const clock = fakeClock(0);
    const fired: number[] = [];
    const cancel = clock.after(10, () => fired.push(1));
    cancel();
    await clock.advance(20);
    expect(fired).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a jump moves time without firing; timers fire with the next move', async () => {
    const clock = fakeClock(0);
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.now()));
    clock.jump(3_600_000);
    expect([clock.now(), fired]).toEqual([3_600_000, []]);
    await clock.advance(0);
    expect(fired).toEqual([3_600_000]);
  });

  it('a jump of the wall clock moves neither monotonic time nor timers', async () => {
    const clock = fakeClock(1_000_000);
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.monotonic()));
    clock.jumpWall(-400_000);
    expect([clock.now(), clock.monotonic()]).toEqual([600_000, 1_000_000]);
    await clock.advance(9);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual([1_000_010]);
    clock.jumpWall(400_000);
    expect(clock.now()).toBe(1_000_010);
  });
});
