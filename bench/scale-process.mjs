/** A process of the scale benchmark: works on sessions, or accepts messages and measures. Its parent talks to it. */
import { createAgent, defineTool, inProcessQueue, SessionRuntime } from 'onward';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';
import { bullQueue } from 'onward/queues/bullmq';
import { postgresStore } from 'onward/stores/postgres';

const job = JSON.parse(process.argv[2]);
const { url, redisUrl, schema, bus, queue, concurrency, agents, work } = job;
const MODEL_MS = 500;
const TOOL_MS = 50;
const owner = 'bench';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Milliseconds that all processes of the machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const send = (news) => process.send(news);

/** A model that waits; the message says how many tool calls come first, or what to stream. */
const driver = {
  name: 'waiting',
  model: 'waiting',
  async infer(request, options) {
    for await (const chunk of driver.stream(request, options))
      if (chunk.type === 'done') return chunk.response;
    throw new Error('It was stopped.');
  },
  async *stream({ messages }, { signal }) {
    const all = [...messages];
    const asked = all.findLastIndex((message) => message.isUser());
    const plan = JSON.parse(all[asked].content);
    const response = { content: '', toolCalls: [], finishReason: 'stop', usage: null };
    if (plan.report !== undefined) send({ started: plan.report, at: now() });
    if (plan.hangs) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return;
    }
    if (plan.chunks) {
      for (let i = 0; i < plan.chunks; i++) {
        response.content += 'streamed ';
        yield { type: 'content', text: 'streamed ' };
        if (i % plan.batch === plan.batch - 1) await sleep(plan.everyMs);
      }
      return yield { type: 'done', response };
    }
    if (plan.modelMs !== 0 && plan.approval === undefined) await sleep(MODEL_MS);
    const done = all.slice(asked).filter((message) => message.isAssistant()).length;
    if (plan.approval !== undefined && done === 0) {
      response.toolCalls = [{ id: 'pay', name: 'pay', args: { report: plan.approval } }];
      response.finishReason = 'tool_calls';
    } else if (done < (plan.calls ?? 0)) {
      response.toolCalls = [{ id: `c${done}`, name: 'work', args: {} }];
      response.finishReason = 'tool_calls';
    } else response.content = 'done';
    yield { type: 'done', response };
  },
};
const tool = defineTool({
  name: 'work',
  description: 'Takes a moment.',
  idempotent: true,
  execute: () => sleep(TOOL_MS).then(() => 'ok'),
});

const pay = defineTool({
  name: 'pay',
  description: 'Needs approval, and reports its start.',
  needsApproval: true,
  parameters: { type: 'object' },
  execute: ({ report }) => {
    send({ started: report, at: now() });
    return 'paid';
  },
});

const store = postgresStore({ connectionString: url, schema });
const open = {
  postgres: () => postgresBus({ listenUrl: url, channel: schema }),
  redis: () => redisBus({ connection: redisUrl, channel: schema }),
};
const queues = {
  none: () => inProcessQueue({ concurrency }),
  postgres: () => bullQueue({ connection: url, prefix: `${schema}_queue`, concurrency }),
  redis: () => bullQueue({ connection: redisUrl, prefix: `${schema}_queue`, concurrency }),
};
const runtime = new SessionRuntime({
  store,
  agents: Array.from({ length: agents }, (_none, n) =>
    createAgent({ name: n === 0 ? 'bench' : `bench-${n}`, driver, tools: [tool, pay] }),
  ),
  ...(bus !== 'none' && { bus: open[bus]() }),
  queue: queues[queue](),
  work,
});

let cpu = process.cpuUsage();
const tasks = {
  /** Sends to many new sessions and waits for all of them. */
  async many({ sessions, calls }) {
    const ids = [];
    for (let i = 0; i < sessions; i++)
      ids.push((await runtime.create({ owner, agent: 'bench' })).id);
    const began = now();
    await Promise.all(
      ids.map((id) => runtime.send(id, JSON.stringify({ calls }), { owner, wait: true })),
    );
    return { ms: now() - began };
  },
  async create() {
    return { id: (await runtime.create({ owner, agent: 'bench' })).id };
  },
  async send({ id, plan, wait }) {
    const at = now();
    await runtime.send(id, JSON.stringify(plan), { owner, wait });
    return { at };
  },
  async stop({ id }) {
    const at = now();
    await runtime.stop(id, { owner, wait: true });
    return { at, ms: now() - at };
  },
  async approve({ id }) {
    const [call] = (await runtime.get(id, { owner })).pendingApprovals;
    const at = now();
    await runtime.approve(id, call.callId, { owner });
    return { at };
  },
  /** One read of the store. */
  async control() {
    const at = now();
    await store.find('none');
    return { ms: now() - at };
  },
  /** Reads a streamed answer to its end. */
  async follow({ id, plan }) {
    const leaving = new AbortController();
    const feed = runtime.follow(id, { owner, signal: leaving.signal });
    const reading = (async () => {
      let chunks = 0;
      for await (const { event } of feed) {
        if (event.type === 'StreamChunk') chunks += 1;
        if (event.type === 'AgentFinished') leaving.abort();
      }
      return chunks;
    })();
    await sleep(200);
    const began = now();
    await runtime.send(id, JSON.stringify(plan), { owner });
    return { chunks: await reading, ms: now() - began };
  },
  /** Milliseconds of CPU since the last question. */
  async cpu() {
    const used = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    return { ms: (used.user + used.system) / 1000 };
  },
};

process.on('message', ({ number, task, options }) => {
  tasks[task](options).then(
    (result) => send({ number, result }),
    (error) => send({ number, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(1));
await store.find('warm-up');
runtime.start();
send({ ready: true });
