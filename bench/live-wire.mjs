import { fork } from 'node:child_process';
import { once } from 'node:events';

const CHUNKS_PER_SECOND = 20;
const SESSIONS = 500;
const IDLE = 1_000;

/** One session, at a pace that leaves the machine idle. The time is from the model's chunk to the client's parser. */
export async function* latency() {
  for (const server of ['bare', 'onward'])
    yield {
      case: 'latency',
      ...(await streaming(server, { sessions: 1, seconds: 5, perSecond: 100 })),
    };
}

/**
 * Real agents that stream through a runtime over the memory store, each session with a client of its own. The bare
 * server has timers that write the same bytes.
 */
export async function* manySessions() {
  yield { case: 'sessions', ...(await streaming('bare', { sessions: SESSIONS, seconds: 10 })) };
  yield { case: 'sessions', ...(await streaming('onward', { sessions: SESSIONS, seconds: 30 })) };
}

/** What connections that wait for something cost the server. */
export async function* idleClients() {
  for (const server of ['bare', 'onward']) {
    const sides = await start(server, IDLE, 0, 1);
    const before = await ask(sides.server, 'memory');
    await ask(sides.clients, 'connect');
    const after = await ask(sides.server, 'memory');
    stop(sides);
    const each = (name) => Math.round((after[name] - before[name]) / IDLE);
    yield {
      case: 'idle',
      server,
      clients: IDLE,
      heap_bytes_each: each('heap'),
      rss_bytes_each: each('rss'),
    };
  }
}

async function streaming(server, { sessions, seconds, perSecond = CHUNKS_PER_SECOND }) {
  const chunks = seconds * perSecond;
  const sides = await start(server, sessions, chunks, perSecond);
  await ask(sides.clients, 'connect');
  const finished = reply(sides.clients, 'finished');
  const sent = await ask(sides.server, 'stream', (seconds + 60) * 1000);
  // where something is missing the end may be too
  const timer = setTimeout(() => sides.clients.send('finish'), 10_000);
  const seen = await finished;
  clearTimeout(timer);
  stop(sides);
  return {
    server,
    sessions,
    chunks_per_second: sessions * perSecond,
    chunks: sessions * chunks,
    ...seen,
    ...sent,
  };
}

async function start(server, sessions, chunks, perSecond) {
  const epoch = String(Date.now());
  const parameters = [server, String(sessions), String(chunks), String(perSecond), epoch];
  const child = fork(new URL('live-server.mjs', import.meta.url), parameters, {
    execArgv: ['--expose-gc'],
  });
  const { port } = await reply(child, 'ready');
  const clients = fork(new URL('live-clients.mjs', import.meta.url), [
    String(port),
    String(sessions),
    String(chunks),
    epoch,
  ]);
  await reply(clients, 'ready');
  return { server: child, clients };
}

function stop({ server, clients }) {
  clients.kill();
  server.kill();
}

async function ask(child, what, patienceMs = 60_000) {
  const answer = reply(child, what, patienceMs);
  child.send(what);
  return answer;
}

async function reply(child, what, patienceMs = 120_000) {
  const signal = AbortSignal.timeout(patienceMs); // a child that died says no more
  for (;;) {
    const [message] = await once(child, 'message', { signal });
    if (message.what === what) return message.value;
  }
}
