import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf, workWith } from '../setup/queue-work.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

describeServers('an owner with 10,000 waiting sessions', (_server, newQueues) => {
  it.each([
    ['with free capacity only', {}],
    ['at a limit for each owner', { maxPerOwner: 2 }],
  ])('delays another owner by what runs (%s)', async (_name, limits) => {
    const open = newQueues();
    const sender = open();
    const ids = idsOf('a', 10_000);
    const t0 = performance.now();
    for (let at = 0; at < ids.length; at += 200)
      await Promise.all(ids.slice(at, at + 200).map((id) => sender.add(id, { owner: 'a' })));
    console.log('added', Math.round(performance.now() - t0));
    const workers = [1, 2, 3, 4].map(() =>
      workWith(open({ concurrency: 5, ...limits }), { ms: 20 }),
    );
    const began = (): string[] => workers.flatMap((work) => work.began);
    while (began().length < 40) await wait(5);
    await wait(1500);
    const before = began().length;
    const at = performance.now();
    await sender.add('b0', { owner: 'b' });
    while (!began().includes('b0')) await wait(2);
    console.log(_name, 'before', before, 'after', began().length - before, Math.round(performance.now() - at));
    expect(began().length - before).toBeLessThan(100);
  });
});
