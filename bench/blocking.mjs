/**
 * How long one owner's requests hold the event loop, by the time that the server works in one turn (`cpu_ms`, with its
 * garbage collector) and by the clock (`held_ms`), and how long another owner's small requests wait meanwhile: each route
 * with the largest contents that it can have, on each store. `cpu_ms` and `held_ms` are of the best of a few rounds,
 * `other_p95_ms` and `other_worst_ms` of all requests of all rounds; `idle` has the same of a server with nothing else to
 * do. Prints one JSON line per route and, last, which are above the bar. Words choose routes. Never fails: figures are
 * not tests.
 *
 *   npm run bench:blocking -- [words]
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile, round } from './measure.mjs';

/** What one owner may make others wait for. */
const BAR_MS = 100;
const ROUNDS = 3;
/** Quick routes get more rounds: a p95 of a few requests says little. */
const MOST_ROUNDS = 20;
/** Requests of the owner at the same time. */
const AT_ONCE = 4;
/** Requests of the other owner that are measured, of an idle server and, if they fit, of each route. */
const REQUESTS = 200;
const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'onward-bench-blocking-'));
const over = [];
const slow = [];
const agent = new Agent({ keepAlive: true });

const mega = 'word '.repeat(200_000);
/** Method, path below `/api`, and body of what is asked for, by the refs that the server has. */
const routes = (refs) => {
  const ref = (id) => ['GET', `/sessions/${id}/refs?ref=${encodeURIComponent(refs[id])}`];
  return {
    'refs: 128 lists in one step': ref('lists'),
    'refs: 128 texts in one step': ref('texts'),
    'refs: a list of 15 MB': ref('huge'),
    list: ['GET', '/sessions?limit=200'],
    'list: search': ['GET', '/sessions?limit=200&search=nothing'],
    'messages: of 1 MB': ['GET', '/sessions/words/messages?limit=500&before=119'],
    'messages: 128 lists': ['GET', '/sessions/lists/messages?limit=500'],
    'messages: older page': ['GET', '/sessions/steps/messages?limit=500&before=700'],
    'messages: a list of 15 MB': ['GET', '/sessions/huge/messages?limit=500&before=3'],
    'log: 128 lists': ['GET', '/sessions/lists/log'],
    'log: many steps': ['GET', '/sessions/steps/log'],
    'log: a list of 15 MB': ['GET', '/sessions/huge/log'],
    'trace: 128 lists': ['GET', '/sessions/lists/trace?limit=500'],
    'trace: many steps': ['GET', '/sessions/steps/trace?limit=500'],
    'trace: a list of 15 MB': ['GET', '/sessions/huge/trace?limit=500'],
    'get: a list of 15 MB': ['GET', '/sessions/huge'],
    'events: 128 lists': ['GET', '/sessions/lists/events?after=0'],
    'events: many steps': ['GET', '/sessions/steps/events?after=0'],
    'post: a message of 1 MB': ['POST', '/sessions/words/messages', { content: mega }],
    'post: a session with 1 MB': ['POST', '/sessions', { message: mega }],
    'post: a message of 50 parts': [
      'POST',
      '/sessions',
      {
        message: Array.from({ length: 50 }, () => ({ type: 'text', text: mega.slice(0, 20_000) })),
      },
    ],
    'post: fork of 128 lists': ['POST', '/sessions/lists/fork', {}],
    'post: fork of 60 MB': ['POST', '/sessions/words/fork', {}],
    'delete: a fork of 128 lists': ['DELETE', 'fork:lists'],
  };
};

try {
  for (const store of ['memory', 'sqlite']) await measureStore(store);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify({ case: 'bars', bar_ms: BAR_MS, over, slow }));

async function measureStore(store) {
  const server = fork(
    new URL('blocking-process.mjs', import.meta.url),
    [store, join(folder, 'sessions.db')],
    { execArgv: ['--expose-gc'] },
  );
  try {
    const { port, refs } = await reply(server, 'ready');
    const chosen = Object.entries(routes(refs)).filter(([name]) =>
      words.every((word) => name.includes(word)),
    );
    const idle = [];
    while (idle.length < REQUESTS) idle.push(await waitOf(port));
    console.log(JSON.stringify({ case: 'idle', store, ...waitsOf(idle) }));
    for (const [name, route] of chosen) {
      const line = { case: name, store, ...(await measured(server, port, route)) };
      console.log(JSON.stringify(line));
      if (line.cpu_ms > BAR_MS) over.push(`${name} (${store})`);
      if (line.other_p95_ms > BAR_MS) slow.push(`${name} (${store})`);
    }
  } finally {
    server.kill();
  }
}

/** How long a small request of the other owner takes, then a moment without any. */
async function waitOf(port) {
  const asked = performance.now();
  await ask(port, 'bob', 'GET', '/sessions/bob');
  const ms = performance.now() - asked;
  await new Promise((resolve) => setTimeout(resolve, 2));
  return ms;
}

function waitsOf(waits) {
  return {
    other_requests: waits.length,
    other_p95_ms: round(quantile(waits, 0.95), 1),
    other_worst_ms: round(Math.max(...waits), 1),
  };
}

/** The best of a few rounds: what the garbage of another route costs is not this one's. Waits are of all of them. */
async function measured(server, port, [method, path, body]) {
  let best = null;
  const waits = [];
  const isEnough = (rounds) =>
    rounds >= MOST_ROUNDS || (rounds >= ROUNDS && waits.length >= REQUESTS);
  for (let rounds = 0; !isEnough(rounds); rounds++) {
    const paths = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        if (!path.startsWith('fork:')) return path;
        const fork = await ask(port, 'ann', 'POST', `/sessions/${path.slice(5)}/fork`, {});
        return `/sessions/${JSON.parse(fork.text).id}`;
      }),
    );
    await report(server, 'begin');
    let isOver = false;
    const began = performance.now();
    const heavy = Promise.all(paths.map((each) => ask(port, 'ann', method, each, body))).finally(
      () => (isOver = true),
    );
    do waits.push(await waitOf(port));
    while (!isOver);
    const [{ status, bytes }] = await heavy;
    const ms = performance.now() - began;
    const { heldMs, cpuMs } = await report(server, 'end');
    const seen = {
      status,
      bytes,
      cpu_ms: round(cpuMs, 1),
      held_ms: round(heldMs, 1),
      ms: round(ms, 1),
    };
    if (best === null || seen.cpu_ms < best.cpu_ms) best = seen;
  }
  return { ...best, ...waitsOf(waits) };
}

/** An event stream is left after a second: what it sends first is what counts. */
function ask(port, user, method, path, body) {
  const isStream = path.includes('/events');
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = {
      'x-user': user,
      ...(text !== undefined && { 'content-type': 'application/json' }),
    };
    const options = { port, method, path: `/api${path}`, headers, agent };
    const sent = request(options, (answer) => {
      let bytes = 0;
      const chunks = [];
      answer.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes < 100_000) chunks.push(chunk);
      });
      const done = () =>
        resolve({ status: answer.statusCode, bytes, text: Buffer.concat(chunks).toString() });
      answer.on('end', done).on('error', reject);
      if (isStream)
        setTimeout(() => {
          answer.removeListener('error', reject).on('error', () => {});
          done();
          sent.destroy();
        }, 1_000);
    });
    sent.on('error', (error) => (isStream ? undefined : reject(error)));
    sent.end(text);
  });
}

function report(server, what) {
  const answer = reply(server, what);
  server.send({ what });
  return answer;
}

function reply(server, what) {
  return new Promise((resolve, reject) => {
    const gone = (code) => reject(new Error(`the server ended with ${code} before "${what}"`));
    const listen = (message) => {
      if (message.what !== what) return;
      server.off('message', listen).off('exit', gone);
      resolve(message.value);
    };
    server.on('message', listen).on('exit', gone);
  });
}
