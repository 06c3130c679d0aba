import { createPostgresBackend, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { bullQueue } from 'onward/queues/bullmq';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf, workWith } from '../setup/queue-work.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

const poison: readonly unknown[] = [
  null,
  7,
  'text',
  [],
  {},
  { sessionId: null },
  { sessionId: { $ne: null } },
  { sessionId: '../etc' },
  { sessionId: 'x'.repeat(100_000) },
  { sessionId: 'odd-owner', owner: { toString: 1 }, agent: 5 },
  { sessionId: 'long-owner', owner: '\u202e"\'\\;😀'.repeat(2_000), agent: 'here' },
  { sessionId: 'proto', owner: '__proto__', agent: '__proto__' },
];
let prefixes = 0;

describeServers('jobs that another program has written', (server) => {
  it('are dropped, or are a session that the store does not have, and delay no other job', async () => {
    const { url } = server();
    const prefix = `poisoned_${prefixes++}`;
    const isPostgres = url.startsWith('postgres');
    const errors: Error[] = [];
    const open = () => {
      const onError = (error: Error): void => void errors.push(error);
      const queue = bullQueue({ connection: url, prefix, concurrency: 2, onError });
      onTestFinished(() => queue.drain());
      return queue;
    };
    const sender = open();
    await sender.add('first', { owner: 'a', agent: 'here' });
    const other = new Queue(
      'sessions',
      {
        prefix,
        connection: isPostgres ? { connectionString: url, schema: prefix } : { url },
      },
      ...((isPostgres ? [createPostgresBackend] : []) as never[]),
    );
    other.on('error', () => {}); // the test ends its server
    onTestFinished(() => other.close());
    for (const data of poison) await other.add('session', data);
    const broken = await other.add('session', {});
    if (!isPostgres) {
      const redis = new Redis(url);
      expect(await redis.hset(`${prefix}:sessions:${broken.id}`, 'data', '{bad')).toBe(0);
      redis.disconnect();
    }
    for (const id of idsOf('s', 20)) await sender.add(id, { owner: 'a', agent: 'here' });
    const work = workWith(open(), { ms: 0, agents: ['here'] });
    await expect.poll(() => work.began.filter((id) => /^(?:s\d+|first)$/.test(id)).length).toBe(21);
    const left = () => other.getJobCountByTypes('waiting', 'prioritized', 'active');
    // BullMQ can never read a job whose data is no JSON: it stays, and delays no other
    await expect.poll(left).toBeLessThanOrEqual(isPostgres ? 0 : 1);
    for (const id of idsOf('t', 20)) await sender.add(id, { owner: 'a', agent: 'here' });
    await expect.poll(() => work.began.filter((id) => /^t\d+$/.test(id)).length).toBe(20);
    const odd = ['first', 'odd-owner', 'long-owner', 'proto'];
    const known = new Set([...idsOf('s', 20), ...idsOf('t', 20), ...odd]);
    expect(work.began.filter((id) => !known.has(id))).toEqual([]);
    // one report for all of them
    expect(errors.length).toBeLessThanOrEqual(1);
    for (const { message } of errors) expect(message.length).toBeLessThan(1_000);
  });
});
