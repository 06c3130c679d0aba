/** The server side of `live-wire.mjs`: `onward` with real agents, or `bare`, which writes the same bytes by hand. */
import { createServer } from 'node:http';
import { AgentBuilder, inProcessQueue, SessionRuntime } from 'onward';
import { sseEndpoint, sseHub } from 'onward/broadcasting';
import { memoryStore } from 'onward/stores/memory';

const [, , kind, sessionCount, chunkCount, perSecond, epoch] = process.argv;
const sessions = Number(sessionCount);
const chunks = Number(chunkCount);
const everyMs = 1000 / Number(perSecond);
const owner = 'bench';

/** Milliseconds that all processes of this bench count from the same moment. */
const now = () => performance.timeOrigin + performance.now() - Number(epoch);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Text that says when it was made. */
async function* texts() {
  const began = performance.now();
  for (let i = 0; i < chunks; i++) {
    await wait(Math.max(0, began + i * everyMs - performance.now()));
    yield `at ${now().toFixed(3)} `;
  }
}

const { handle, stream } = kind === 'onward' ? await onward() : bare();
const server = createServer(handle);
server.listen(0, '127.0.0.1', () => report('ready', { port: server.address().port }));
server.keepAliveTimeout = 0;

process.on('message', async (what) => {
  if (what === 'memory') {
    for (let i = 0; i < 4; i++) {
      globalThis.gc();
      await wait(100);
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    report(what, { rss, heap: heapUsed + external });
  }
  if (what === 'stream') {
    const cpu = process.cpuUsage();
    const began = performance.now();
    const counted = await stream();
    const { user, system } = process.cpuUsage(cpu);
    const share = (user + system) / 1000 / (performance.now() - began);
    report(what, { ...counted, server_cpu: Number(share.toFixed(2)) });
  }
});

function report(what, value) {
  process.send({ what, value });
}

async function onward() {
  const driver = {
    name: 'scripted',
    infer: () => Promise.reject(new Error('not streamed')),
    async *stream() {
      let content = '';
      for await (const text of texts()) {
        content += text;
        yield { type: 'content', text };
      }
      yield {
        type: 'done',
        response: { content, toolCalls: [], finishReason: 'stop', usage: null },
      };
    },
  };
  const runtime = new SessionRuntime({
    store: memoryStore(),
    agents: [AgentBuilder.base().withDriver(driver).build()],
    queue: inProcessQueue({ concurrency: sessions }),
  });
  const hub = sseHub();
  const live = sseEndpoint({ runtime, hub, owner: () => owner });
  for (let i = 0; i < sessions; i++) await runtime.create({ owner, id: `s${i}` });
  return {
    handle: (incoming, outgoing) => {
      bridge(live, incoming, outgoing).catch(() => outgoing.destroy());
    },
    async stream() {
      const ended = Array.from({ length: sessions }, async (_s, i) => {
        // spread over the time between two chunks, as users would be
        await wait((i * everyMs) / sessions);
        const { status } = await runtime.send(`s${i}`, 'go', { owner, wait: true });
        if (status !== 'completed') throw new Error(`bad run: ${status}`);
      });
      await Promise.all(ended);
      const { slow, behind } = hub.counters;
      return { dropped: 0, readers_let_go: slow, readers_behind: behind };
    },
  };
}

/** What an adapter for Node does: one request in, one response out, with backpressure and hang-ups passed on. */
async function bridge(handler, incoming, outgoing) {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const request = new Request(`http://localhost${incoming.url}`, { signal: gone.signal });
  const response = await handler(request, incoming.url.slice(1));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const piece of response.body) {
    if (gone.signal.aborted) break;
    if (!outgoing.write(piece))
      await new Promise((resolve) => {
        outgoing.once('drain', resolve);
      });
  }
  outgoing.end();
}

function bare() {
  const readers = new Map();
  const frame = (session, index, content, type = 'agent.stream.chunk') => {
    const at = new Date().toISOString();
    const payload = { message_id: session, step: 1, attempt: 1, chunk_index: index, content };
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    const ids = { session_id: session, execution_id: id, agent_id: id, seq: null, prev: null };
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...ids, timestamp: at, payload })}\n\n`;
  };
  return {
    handle: (incoming, outgoing) => {
      readers.set(incoming.url.slice(1), outgoing);
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write('retry: 2000\n\n');
    },
    async stream() {
      const ended = Array.from({ length: sessions }, async (_s, i) => {
        await wait((i * everyMs) / sessions);
        const session = `s${i}`;
        const reader = readers.get(session);
        let index = 0;
        for await (const text of texts()) reader.write(frame(session, index++, text));
        reader.write(frame(session, index, 'completed', 'agent.status'));
      });
      await Promise.all(ended);
      return { dropped: 0, readers_let_go: 0, readers_behind: 0 };
    },
  };
}
