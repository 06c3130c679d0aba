import { expect, it } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { rateLimiter } from './rate-limit.ts';
import type { ApiRefusal } from './refusal.ts';

const waitOf = (take: () => void): string | null => {
  try {
    take();
    return null;
  } catch (error) {
    return (error as ApiRefusal).headers['retry-after'] ?? '';
  }
};

it('refills evenly, and never beyond its maximum', async () => {
  const clock = fakeClock();
  const take = rateLimiter({ requests: 2, seconds: 10 }, clock);
  const asks = (): (string | null)[] => [1, 2, 3].map(() => waitOf(() => take('ann')));
  expect(asks()).toEqual([null, null, '5']);
  await clock.advance(4_900);
  expect(waitOf(() => take('ann'))).toBe('1');
  await clock.advance(100);
  expect(waitOf(() => take('ann'))).toBeNull();
  await clock.advance(3_600_000);
  expect(asks()).toEqual([null, null, '5']);
});

it('a refused request does not extend the wait', async () => {
  const clock = fakeClock();
  const take = rateLimiter({ requests: 1, seconds: 10 }, clock);
  take('ann');
  for (let i = 0; i < 100; i += 1) expect(waitOf(() => take('ann'))).toBe('10');
  await clock.advance(10_000);
  expect(waitOf(() => take('ann'))).toBeNull();
});

it('drops the owner that was idle longest', () => {
  const take = rateLimiter({ requests: 1, seconds: 10 }, fakeClock(), 2);
  take('ann');
  take('bob');
  expect(waitOf(() => take('ann'))).toBe('10');
  take('cyd');
  expect(waitOf(() => take('ann'))).toBe('10');
  expect(waitOf(() => take('bob'))).toBeNull();
});

it.each([-86_400_000, 86_400_000])(
  'a wall clock that jumps by %d ms does not change the number of requests',
  async (jump) => {
    const clock = fakeClock();
    const take = rateLimiter({ requests: 1, seconds: 10 }, clock);
    take('ann');
    clock.jumpWall(jump);
    expect(waitOf(() => take('ann'))).toBe('10');
    await clock.advance(10_000);
    expect(waitOf(() => take('ann'))).toBeNull();
  },
);
