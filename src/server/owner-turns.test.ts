import { expect, it } from 'vitest';
import { ownerTurns } from './owner-turns.ts';

function job() {
  let finish = (): void => {};
  let isStarted = false;
  const done = new Promise<void>((resolve) => (finish = resolve));
  return {
    work: () => {
      isStarted = true;
      return done;
    },
    finish: () => finish(),
    get isStarted() {
      return isStarted;
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('runs a few requests of an owner at a time in order, and those of others immediately', async () => {
  const turns = ownerTurns(2);
  const jobs = Array.from({ length: 4 }, job);
  const running = jobs.map(({ work }) => turns('ann', work));
  const other = job();
  const otherDone = turns('bob', other.work);
  await settled();
  expect(jobs.map(({ isStarted }) => isStarted)).toEqual([true, true, false, false]);
  expect(other.isStarted).toBe(true);
  jobs[1]!.finish();
  await settled();
  expect(jobs.map(({ isStarted }) => isStarted)).toEqual([true, true, true, false]);
  for (const { finish } of [...jobs, other]) finish();
  await Promise.all([...running, otherDone]);
  expect(jobs.every(({ isStarted }) => isStarted)).toBe(true);
});

it('passes the turn on when a request fails', async () => {
  const turns = ownerTurns(1);
  const failing = turns('ann', () => Promise.reject(new Error('no')));
  const next = turns('ann', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

it('refuses a request if too many wait', async () => {
  const turns = ownerTurns(1, 1);
  const first = job();
  const running = [turns('ann', first.work), turns('ann', async () => {})];
  await expect(turns('ann', async () => {})).rejects.toMatchObject({ code: 'rate_limited' });
  await turns('bob', async () => {});
  first.finish();
  await Promise.all(running);
});
