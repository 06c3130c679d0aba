/** The server side of `server.mjs`: `onward` with a real agent over SQLite, or `bare`, which says the same by hand. */
import { createServer } from 'node:http';
import { AgentBuilder, defineTool, SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';

const [, , kind, path] = process.argv;
const port = kind === 'onward' ? await onward() : await bare();

process.on('message', async ({ what }) => {
  if (what === 'cpu') {
    const { user, system } = process.cpuUsage();
    return report(what, { ms: (user + system) / 1000 });
  }
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed: heap } = process.memoryUsage();
  report(what, { rss, heap });
});
report('ready', { port });

function report(what, value) {
  process.send({ what, value });
}

async function onward() {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  /** Answers at once: what is measured is everything else. */
  const driver = {
    name: 'scripted',
    async infer({ messages }) {
      const isDone = messages.last()?.isTool() === true;
      const toolCalls = isDone ? [] : [{ name: 'add', args: { a: 1, b: 2 } }];
      const usage = { input: 10, output: 5, total: 15 };
      const finishReason = isDone ? 'stop' : 'tool_calls';
      return { content: isDone ? 'The sum is 3.' : '', toolCalls, finishReason, usage };
    },
  };
  const agent = AgentBuilder.base().withName('adder').withDriver(driver).withTools(add).build();
  const runtime = new SessionRuntime({ store: sqliteStore({ path }), agents: [agent] });
  runtime.start();
  const api = agentServer({
    runtime,
    owner: ({ headers }) => headers.get('x-user'),
    // counted as ever, but these clients are not people
    rateLimit: { requests: 1_000_000, seconds: 1 },
  });
  return (await serve({ fetch: api, port: 0 })).port;
}

/** Of about the same size as the real ones, and as many. */
async function bare() {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const detail = {
    id,
    owner: 'bench',
    agent: 'adder',
    status: 'processing',
    filler: 'x'.repeat(900),
  };
  const session = JSON.stringify(detail);
  const frame = (type, payload) =>
    `id: 1@${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, session_id: id, execution_id: id, seq: 1, prev: 0, payload })}\n\n`;
  const steps = Array.from({ length: 14 }, () => frame('agent.step', { filler: 'x'.repeat(400) }));
  const events = [
    frame('agent.status', { status: 'processing' }),
    ...steps,
    frame('agent.status', { status: 'completed' }),
  ];
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === 'POST') {
      let text = '';
      for await (const piece of incoming.setEncoding('utf8')) text += piece;
      JSON.parse(text);
      outgoing.writeHead(201, { 'content-type': 'application/json' });
      outgoing.end(session);
    } else {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const each of events) outgoing.write(each);
    }
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}
