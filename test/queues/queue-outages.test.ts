import { expect, it, vi } from 'vitest';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf, workWith } from '../setup/queue-work.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describeServers('a shared queue', (server, newQueues) => {
  it('works on sessions that were added while the queue server was down at the start (D88)', async () => {
    await server().kill();
    const open = newQueues();
    const [sender, queue] = [open(), open({ concurrency: 1 })];
    const worker = workWith(queue);
    await sender.add('from-a-sender');
    await queue.add('from-a-worker');
    // a process works on sessions that it accepts itself, up to its capacity
    expect(worker.began).toEqual(['from-a-worker']);
    await queue.add('for-later');
    await expect.poll(() => [sender.errors.length, queue.errors.length]).toEqual([1, 1]);
    await server().restart();
    worker.end();
    const all = ['for-later', 'from-a-sender', 'from-a-worker'];
    await expect
      .poll(() => {
        worker.end();
        return worker.began.toSorted();
      })
      .toEqual(all);
    expect([sender.errors.length, queue.errors.length]).toEqual([1, 1]);
    expect(queue.errors[0]).toMatchObject({ code: 'queue_failed' });
  });

  it('accepts sessions while the server is down, and reports each outage once', async () => {
    const open = newQueues();
    const [sender, queue] = [open(), open()];
    const worker = workWith(queue);
    await sender.add('before');
    await expect.poll(() => worker.began).toEqual(['before']);
    await server().kill();
    for (const id of idsOf('meanwhile', 5)) await sender.add(id);
    await server().restart();
    await expect.poll(() => worker.began).toEqual(expect.arrayContaining(idsOf('meanwhile', 5)));
    worker.end();
    await sender.add('after');
    await expect.poll(() => worker.began).toContain('after');
    expect(worker.began.filter((id) => id.endsWith('twice'))).toEqual([]);
    expect([sender.errors.length, queue.errors.length]).toEqual([1, 1]);
  });

  it('refuses nothing during an outage, and enforces its limit again afterward', async () => {
    const queue = newQueues()({ maxWaiting: 3 });
    for (const id of idsOf('before', 3)) await queue.add(id);
    expect(queue.isFull).toBe(true);
    await server().kill();
    await expect.poll(() => [queue.isDown, queue.isFull]).toEqual([true, false]);
    // the store has them, and a worker finds them there
    for (const id of idsOf('meanwhile', 5)) await queue.add(id);
    expect(queue.isFull).toBe(false);
    await server().restart();
    await expect.poll(() => [queue.isDown, queue.isFull]).toEqual([false, true]);
    await expect(async () => queue.add('after')).rejects.toMatchObject({ code: 'queue_full' });
  });

  it('works on sessions that are added after the server lost all its data', async () => {
    const open = newQueues();
    const [sender, queue] = [open(), open({ concurrency: 1 })];
    const worker = workWith(queue);
    await sender.add('before');
    await expect.poll(() => worker.began).toEqual(['before']);
    await sender.add('lost');
    await server().clear();
    await sender.add('after');
    worker.end();
    await expect.poll(() => worker.began).toEqual(['before', 'after']);
    worker.end();
    expect(queue.errors.length).toBeLessThanOrEqual(1);
    await sender.add('lost');
    await expect.poll(() => worker.began).toContain('lost');
  });

  it('drains while the server is down', async () => {
    const open = newQueues();
    const [sender, queue] = [open(), open()];
    const worker = workWith(queue);
    await sender.add('s');
    await expect.poll(() => worker.began).toEqual(['s']);
    await server().kill();
    worker.end();
    await Promise.all([sender.drain(), queue.drain()]);
    await sender.add('ignored');
    await server().restart();
    expect(worker.began).toEqual(['s']);
  });

  it('adds and drains without waiting for a server that does not answer', async () => {
    const open = newQueues();
    const [sender, leaving, queue] = [open(), open(), open()];
    const left = workWith(leaving);
    await sender.add('before');
    await expect.poll(() => left.began).toEqual(['before']);
    const answerAgain = await server().freeze();
    await sender.add('meanwhile');
    left.end();
    await leaving.drain();
    await answerAgain();
    const worker = workWith(queue);
    await expect.poll(() => worker.began).toContain('meanwhile');
    expect(sender.errors).toHaveLength(1);
  });

  it('connects on first use, and keeps secrets out of errors', async () => {
    const secret = 'correct-horse';
    const url = new URL(server().url);
    url.username = 'unknown';
    url.password = secret;
    const queue = newQueues()({ connection: url.href });
    expect(queue.errors).toEqual([]);
    await queue.add('s');
    await expect.poll(() => queue.errors.length).toBe(1);
    const [error] = queue.errors;
    expect(error).toMatchObject({
      code: 'queue_failed',
      message: expect.not.stringContaining(secret),
    });
    expect(JSON.stringify([error, error?.cause, error?.stack])).not.toContain(secret);
  });
});
