/**
 * How long one owner's requests hold the event loop, by the time that the server works in one turn (`cpu_ms`, with its
 * garbage collector) and by the clock (`held_ms`), and how long another owner's small request waits meanwhile: each route
 * with the largest contents that it can have, on each store. Prints one JSON line per route and, last, which are above
 * the bar. Words choose routes. Never fails: figures are not tests.
 *
 *   npm run bench:blocking -- [words]
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { round } from './measure.mjs';

/** What one owner may make others wait for. */
const BAR_MS = 100;
const ROUNDS = 3;
/** Requests of the owner at the same time. */
const AT_ONCE = 4;
const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'onward-bench-blocking-'));
const over = [];
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
console.log(JSON.stringify({ case: 'bars', bar_ms: BAR_MS, over }));

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
    for (const [name, route] of chosen) {
      const line = { case: name, store, ...(await measured(server, port, route)) };
      console.log(JSON.stringify(line));
      if (line.cpu_ms > BAR_MS) over.push(`${name} (${store})`);
    }
  } finally {
    server.kill();
  }
}

/** The best of a few rounds: what the garbage of another route costs is not this one's. */
async function measured(server, port, [method, path, body]) {
  let best = null;
  for (let round_ = 0; round_ < ROUNDS; round_++) {
    const paths = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        if (!path.startsWith('fork:')) return path;
        const fork = await ask(port, 'ann', 'POST', `/sessions/${path.slice(5)}/fork`, {});
        return `/sessions/${JSON.parse(fork.text).id}`;
      }),
    );
    await tell(server, 'begin');
    let isOver = false;
    const began = performance.now();
    const heavy = Promise.all(paths.map((each) => ask(port, 'ann', method, each, body))).finally(
      () => (isOver = true),
    );
    let otherMs = 0;
    while (!isOver) {
      const asked = performance.now();
      await ask(port, 'bob', 'GET', '/sessions/bob');
      otherMs = Math.max(otherMs, performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const [{ status, bytes }] = await heavy;
    const ms = performance.now() - began;
    const { heldMs, cpuMs } = await tell(server, 'end');
    const seen = {
      status,
      bytes,
      cpu_ms: round(cpuMs, 1),
      held_ms: round(heldMs, 1),
      other_ms: round(otherMs, 1),
      ms: round(ms, 1),
    };
    if (best === null || seen.cpu_ms < best.cpu_ms) best = seen;
  }
  return best;
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

function tell(server, what) {
  const answer = reply(server, what);
  server.send({ what });
  return answer;
}

function reply(server, what) {
  return new Promise((resolve, reject) => {
    const gone = (code) => reject(new Error(`the server ended with ${code} before "${what}"`));
    const hear = (message) => {
      if (message.what !== what) return;
      server.off('message', hear).off('exit', gone);
      resolve(message.value);
    };
    server.on('message', hear).on('exit', gone);
  });
}
