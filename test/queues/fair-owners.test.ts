import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf, workWith } from '../setup/queue-work.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 90_000 });

const WORKERS = 4;
const PLACES = 5;

describeServers('an owner who sends to 10,000 sessions at once', (_server, newQueues) => {
  it.each([
    ['without other limits', {}],
    ['at a limit for each owner', { maxPerOwner: 2 }],
  ])('delays another owner by no more than what runs (%s)', async (_name, limits) => {
    const open = newQueues();
    const sender = open();
    const ids = idsOf('a', 10_000);
    const refused: unknown[] = [];
    for (let at = 0; at < ids.length; at += 200)
      for (const added of await Promise.allSettled(
        ids.slice(at, at + 200).map(async (id) => sender.add(id, { owner: 'a' })),
      ))
        if (added.status === 'rejected') refused.push(added.reason);
    // the owner cannot fill the queue: others are still accepted
    expect(refused[0]).toMatchObject({ code: 'queue_full' });
    expect(sender.waiting).toBeGreaterThan(8_000);
    expect([sender.isFull, sender.isFullFor?.('a'), sender.isFullFor?.('b')]).toEqual([
      false,
      true,
      false,
    ]);
    const workers = Array.from({ length: WORKERS }, () =>
      workWith(open({ concurrency: PLACES, ...limits }), { ms: 100 }),
    );
    const began = (): string[] => workers.flatMap((work) => work.began);
    while (began().length < 40) await wait(5);
    const before = began().length;
    await sender.add('b0', { owner: 'b' });
    while (!began().includes('b0')) await wait(2);
    // it comes after what runs, and after what a process had taken already
    expect(began().length - before).toBeLessThan(3 * WORKERS * PLACES);
    expect(began().filter((id) => id === 'b0')).toEqual(['b0']);
  });
});
