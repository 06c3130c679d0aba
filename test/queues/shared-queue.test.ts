import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf, workWith } from '../setup/queue-work.ts';

vi.setConfig({ testTimeout: 60_000 });

describeServers('a queue that processes share', (_server, newQueues) => {
  it('distributes sessions over the processes, each once', async () => {
    const open = newQueues();
    const sender = open();
    const workers = [open({ concurrency: 4 }), open({ concurrency: 4 })].map((queue) =>
      workWith(queue, { ms: 20 }),
    );
    const all = idsOf('s', 80);
    for (const id of all) await sender.add(id, { owner: id, agent: 'a' });
    const begun = (): string[] => workers.flatMap(({ began }) => began);
    await expect.poll(() => begun().length).toBe(all.length);
    expect(begun().toSorted()).toEqual(all.toSorted());
    for (const { began } of workers) expect(began.length).toBeGreaterThan(10);
    expect(sender.errors).toEqual([]);
  });

  it('gives a running session one more turn, however often it is added', async () => {
    const open = newQueues();
    const sender = open();
    const { began, end } = workWith(open());
    await sender.add('s');
    await expect.poll(() => began).toEqual(['s']);
    for (let n = 0; n < 5; n++) await sender.add('s');
    end('s');
    await expect.poll(() => began).toEqual(['s', 's']);
    end('s');
    await sender.add('next');
    await expect.poll(() => began).toEqual(['s', 's', 'next']);
  });

  it('loses no session, at whatever moment it is added', async () => {
    const open = newQueues();
    const senders = [open(), open()];
    const asked = new Map<string, number>();
    const begun = new Map<string, number>();
    let moment = 0;
    for (const worker of [open({ concurrency: 3 }), open({ concurrency: 3 })])
      worker.start(async (id) => {
        begun.set(id, ++moment);
        await wait(Math.random() * 8);
      });
    const ids = idsOf('s', 8);
    const send = async (n: number): Promise<void> => {
      for (let times = 0; times < 60; times++) {
        const id = ids[(n * 7 + times * 3) % ids.length]!;
        asked.set(id, ++moment);
        await senders[n % senders.length]!.add(id, { owner: id });
        await wait(Math.random() * 10);
      }
    };
    await Promise.all([0, 1, 2, 3].map(send));
    const owed = (): string[] => ids.filter((id) => (begun.get(id) ?? 0) < (asked.get(id) ?? 0));
    await expect.poll(owed).toEqual([]);
  });

  it('lets owners take turns', async () => {
    const open = newQueues();
    const sender = open();
    for (const id of idsOf('a', 30)) await sender.add(id, { owner: 'a' });
    for (const owner of ['b', 'c']) await sender.add(`${owner}0`, { owner });
    const { began } = workWith(open({ concurrency: 1 }), { ms: 0 });
    await expect.poll(() => began.length).toBe(32);
    // a second session of an owner may come first if time has passed
    expect(began.slice(0, 6)).toEqual(expect.arrayContaining(['a0', 'b0', 'c0']));
    expect(began.filter((id) => id.startsWith('a'))).toEqual(idsOf('a', 30));
  });

  it('keeps the limits of an owner and an agent while it works on others', async () => {
    const open = newQueues();
    const sender = open();
    for (const id of idsOf('a', 4)) await sender.add(id, { owner: 'a', agent: 'quick' });
    for (const id of idsOf('b', 4)) await sender.add(id, { owner: id, agent: 'slow' });
    await sender.add('c0', { owner: 'c', agent: 'quick' });
    const work = workWith(open({ concurrency: 10, maxPerOwner: 1, agents: { slow: 2 } }));
    const of = (letter: string): number =>
      [...work.running].filter((id) => id.startsWith(letter)).length;
    const most = { a: 0, b: 0 };
    await expect.poll(() => [of('a'), of('b'), of('c')]).toEqual([1, 2, 1]);
    while (work.began.length < 9) {
      await wait(20);
      most.a = Math.max(most.a, of('a'));
      most.b = Math.max(most.b, of('b'));
      work.end();
    }
    expect(most).toEqual({ a: 1, b: 2 });
    expect(new Set(work.began).size).toBe(9);
  });

  it('delivers sessions to processes that have their agents', async () => {
    const open = newQueues();
    const sender = open();
    const [x, y] = [
      workWith(open(), { ms: 0, agents: ['x'] }),
      workWith(open(), { ms: 0, agents: ['y'] }),
    ];
    for (const agent of ['x', 'y'])
      for (const id of idsOf(agent, 10)) await sender.add(id, { owner: id, agent });
    await expect.poll(() => x.began.toSorted()).toEqual(idsOf('x', 10));
    await expect.poll(() => y.began.toSorted()).toEqual(idsOf('y', 10));
  });

  it('starts urgent sessions ahead of others', async () => {
    const open = newQueues();
    const sender = open();
    const worker = open({ concurrency: 1 });
    const { began, end } = workWith(worker);
    for (const id of idsOf('a', 4)) await sender.add(id, { owner: 'a' });
    await expect.poll(() => began).toEqual(['a0']);
    await worker.add('a3', { owner: 'a', isUrgent: true });
    expect(began).toEqual(['a0', 'a3']);
    await sender.add('a2', { owner: 'a', isUrgent: true });
    end('a0');
    await expect.poll(() => began).toEqual(['a0', 'a3', 'a2']);
  });

  it('is full at `maxWaiting` sessions, in all processes', async () => {
    const open = newQueues();
    const [sender, other] = [open({ maxWaiting: 3 }), open({ maxWaiting: 3 })];
    for (const id of idsOf('a', 3)) await sender.add(id);
    await expect.poll(() => [sender.isFull, sender.waiting]).toEqual([true, 3]);
    await expect(sender.add('b')).rejects.toMatchObject({ code: 'queue_full' });
    await sender.add('a0', { isUrgent: true });
    expect(other.isFull).toBe(false);
    await other.add('a1');
    await expect.poll(() => other.isFull).toBe(true);
    await expect(other.add('b')).rejects.toMatchObject({ code: 'queue_full' });
    const worker = workWith(open(), { ms: 0 });
    await expect.poll(() => worker.began.length).toBeGreaterThanOrEqual(3);
    await expect.poll(() => [sender.isFull, other.waiting]).toEqual([false, 0]);
  });

  it('returns the jobs of a draining process to the queue when their work has ended', async () => {
    const open = newQueues();
    const [sender, leaving] = [open(), open({ concurrency: 1 })];
    const first = workWith(leaving);
    await sender.add('a');
    await expect.poll(() => first.began).toEqual(['a']);
    await sender.add('b');
    const drained = leaving.drain();
    const second = workWith(open());
    await expect.poll(() => second.began).toEqual(['b']);
    first.end('a');
    await drained;
    await expect.poll(() => second.began).toEqual(['b', 'a']);
    second.end();
    expect([first.began, leaving.errors]).toEqual([['a'], []]);
  });
});
