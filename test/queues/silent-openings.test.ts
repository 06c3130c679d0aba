import { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bullQueue } from '../../src/queues/bullmq/index.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { tcpProxy } from '../setup/tcp-proxy.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

const prefixOf = (moment: number): string => `silent_${moment}`;

/** Creates the tables, so that opening takes as many statements at each moment. */
async function prepare(moment: number): Promise<void> {
  const queue = bullQueue({ connection: server.url, prefix: prefixOf(moment) });
  queue.start(async () => {});
  await expect.poll(() => queue.isDown, patient).toBe(false);
  await queue.drain();
}

/** Opens a queue whose server is silent from a moment on, drains it, and waits until none of its sockets is open. */
async function end(moment: number): Promise<void> {
  const proxy = await tcpProxy(server.url);
  const silent = proxy.silenceAfter(moment);
  const sockets: Socket[] = [];
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  const queue = bullQueue({
    connection: { postgres: { connectionString: proxy.url, stream } },
    prefix: prefixOf(moment),
    onError: () => {},
  });
  queue.start(async () => {});
  await silent;
  await queue.drain();
  await expect.poll(() => sockets.filter(({ destroyed }) => !destroyed).length, patient).toBe(0);
  await proxy.close();
}
const patient = { timeout: 60_000, interval: 50 };

// a half-closed socket keeps a process running for as long as its server is silent
it('a queue whose server falls silent while it opens leaves no socket open after drain', async () => {
  const moments = Array.from({ length: 24 }, (_, i) => i + 1);
  for (const moment of moments) await prepare(moment);
  const ended = await Promise.allSettled(moments.map(end));
  expect(moments.filter((_moment, i) => ended[i]?.status === 'rejected')).toEqual([]);
}, 180_000);
