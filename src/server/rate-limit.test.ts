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

it('fills up evenly, and never beyond what it holds', async () => {
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

it('who is refused does not wait longer for asking again', async () => {
  const clock = fakeClock();
  const take = rateLimiter({ requests: 1, seconds: 10 }, clock);
  take('ann');
  for (let i = 0; i < 100; i += 1) expect(waitOf(() => take('ann'))).toBe('10');
  await clock.advance(10_000);
  expect(waitOf(() => take('ann'))).toBeNull();
});

it('remembers only so many: the one that was silent longest is forgotten', () => {
  const take = rateLimiter({ requests: 1, seconds: 10 }, fakeClock(), 2);
  take('ann');
  take('bob');
  expect(waitOf(() => take('ann'))).toBe('10');
  take('cyd');
  expect(waitOf(() => take('ann'))).toBe('10');
  expect(waitOf(() => take('bob'))).toBeNull();
});

it.each([-86_400_000, 86_400_000])(
  'a wall clock that is set by %d ms gives no requests and takes none',
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
