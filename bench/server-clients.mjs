/** The client side of `server.mjs`: so many at once, each with one session after the other. */
import { Agent, request } from 'node:http';

const [, , port, clientCount] = process.argv;
const clients = Number(clientCount);
const wait = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const LONGEST_MS = 30_000;

process.on('message', async ({ what, value: { seconds, turns = 1, perSecond = Infinity } }) => {
  const until = performance.now() + seconds * 1000;
  const seen = { first: [], end: [], turns: 0, sessions: 0, errors: 0, lastError: null };
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_c, i) => {
      // with a pace: spread evenly, as people would be
      const everyMs = (clients * 1000) / perSecond;
      for (let next = began + (everyMs * i) / clients; next < until; next += everyMs) {
        await wait(next - performance.now());
        if (performance.now() >= until) break;
        await converse(`user-${i}`, turns, seen);
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  report(what, {
    sessions_per_second: Number((seen.sessions / took).toFixed(1)),
    ...times('first_event', seen.first),
    ...times('end', seen.end),
    turns: seen.turns,
    errors: seen.errors,
    ...(seen.lastError && { last_error: seen.lastError }),
  });
});
report('ready', {});

function report(what, value) {
  process.send({ what, value });
}

/** A session with its first message, and further messages when the turn before has ended. */
async function converse(user, turns, seen) {
  try {
    let began = performance.now();
    const { id } = await post(user, '/api/sessions', { message: 'What is 1 + 2?' });
    let after = null;
    for (let turn = 1; turn <= turns; turn++) {
      if (turn > 1) {
        began = performance.now();
        await post(user, `/api/sessions/${id}/messages`, { content: 'And again?' });
      }
      after = await follow(user, id, after, (name) => seen[name].push(performance.now() - began));
      seen.turns += 1;
    }
    seen.sessions += 1;
  } catch (error) {
    seen.errors += 1;
    seen.lastError = String(error);
  }
}

function post(user, path, body) {
  const headers = { 'x-user': user, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent });
    asked.setTimeout(LONGEST_MS, () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece)).on('error', reject);
      response.on('end', () => {
        if (response.statusCode >= 300) reject(new Error(`${response.statusCode} ${text}`));
        else resolve(JSON.parse(text));
      });
    });
    asked.end(JSON.stringify(body));
  });
}

/** Reads live events up to the end of the turn, and leaves. Returns where to continue. */
function follow(user, id, after, tick) {
  const headers = { 'x-user': user, ...(after && { 'last-event-id': after }) };
  return new Promise((resolve, reject) => {
    const path = `/api/sessions/${id}/events`;
    const asked = request({ port, host: '127.0.0.1', path, headers, agent: false });
    asked.setTimeout(LONGEST_MS, () => asked.destroy(new Error('no end in time')));
    asked.on('error', reject).on('response', (response) => {
      if (response.statusCode !== 200) return reject(new Error(`events: ${response.statusCode}`));
      let text = '';
      let place = after;
      let isFirst = true;
      response.setEncoding('utf8').on('error', reject);
      response.on('end', () => reject(new Error('the stream ended early')));
      response.on('data', (piece) => {
        text += piece;
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          if (!event.includes('event: agent.')) continue;
          place = /^id: (.*)$/m.exec(event)?.[1] ?? place;
          if (isFirst) tick('first');
          isFirst = false;
          if (!event.includes('event: agent.status') || event.includes('"status":"processing"'))
            continue;
          if (!event.includes('"status":"completed"'))
            return reject(new Error(`bad end: ${event}`));
          tick('end');
          resolve(place);
          asked.destroy();
          return;
        }
      });
    });
    asked.end();
  });
}

function times(name, values) {
  const sorted = Float64Array.from(values).toSorted();
  const at = (share) => Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
  return { [`${name}_p50_ms`]: at(0.5), [`${name}_p99_ms`]: at(0.99) };
}
