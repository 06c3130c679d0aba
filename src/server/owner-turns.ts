import { ApiRefusal } from './refusal.ts';

/** Maximum concurrent requests of one owner, and maximum waiting ones. */
const MAX_CONCURRENT = 6;
const MAX_WAITING = 200;

/** Runs a few requests of an owner at a time, the others in order: each may need memory. */
export type OwnerTurns = <T>(owner: string, work: () => Promise<T>) => Promise<T>;

export function ownerTurns(
  atOnce: number = MAX_CONCURRENT,
  mostWaiting: number = MAX_WAITING,
): OwnerTurns {
  const owners = new Map<string, { running: number; readonly waiting: Set<() => void> }>();
  return async (owner, work) => {
    const turns = owners.get(owner) ?? { running: 0, waiting: new Set<() => void>() };
    owners.set(owner, turns);
    if (turns.running >= atOnce) {
      if (turns.waiting.size >= mostWaiting) throw tooMany(atOnce + mostWaiting);
      await new Promise<void>((resolve) => turns.waiting.add(resolve));
    } else turns.running += 1;
    try {
      return await work();
    } finally {
      const [next] = turns.waiting;
      if (next) {
        // pass the turn on
        turns.waiting.delete(next);
        next();
      } else {
        turns.running -= 1;
        if (turns.running === 0) owners.delete(owner);
      }
    }
  };
}

const tooMany = (most: number): ApiRefusal =>
  new ApiRefusal(
    'rate_limited',
    `More than ${most} requests are waiting for a response. Wait for some of them, then try again.`,
    { details: { most }, headers: { 'retry-after': '1' } },
  );
