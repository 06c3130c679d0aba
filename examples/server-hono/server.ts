/**
 * An agent behind Hono: sessions, live events, approvals and the trace under /api, kept in a SQLite file.
 *
 *   npm run build && node build/examples/server-hono/server.js
 *
 *   curl localhost:3001/api/sessions -H 'authorization: Bearer for-ada' --json '{"message":"Pay order A-1001 back"}'
 *   curl localhost:3001/api/sessions/…/events -H 'authorization: Bearer for-ada' -N
 *   curl localhost:3001/api/sessions/…/approvals/… -H 'authorization: Bearer for-ada' --json '{"decision":"approve"}'
 *
 * The model is scripted, so that it runs without a key. A real one is one line:
 *   const model = openai('gpt-5-mini'); // from 'onward/drivers/openai'
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { agentServer } from 'onward/server';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }) => `order ${order} is paid back`,
});

/** Wants to pay back whatever order it reads of, and then reports the result. */
const model: InferenceDriver = {
  name: 'scripted',
  infer: async ({ messages }) => {
    const last = messages.last();
    const order = /[A-Z]-\d+/.exec(last?.text ?? '')?.[0];
    const said = {
      content: 'Which order is it?',
      toolCalls: [],
      finishReason: 'stop',
      usage: null,
    };
    if (last?.isTool()) return { ...said, content: `Done: ${last.text}.` };
    if (!order) return said;
    return { ...said, content: '', toolCalls: [{ name: 'refund', args: { order } }] };
  },
};

const support = createAgent({ name: 'support', model, tools: [refund] });
const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: [support] });
runtime.start(); // also with what a process before this one has left

/** Who has which token. Yours asks the identity provider, or reads the session of a cookie. */
const people = new Map([
  ['Bearer for-ada', 'ada'],
  ['Bearer for-ben', 'ben'],
]);
const api = agentServer({
  runtime,
  owner: ({ headers }) => people.get(headers.get('authorization') ?? '') ?? null,
});

const app = new Hono();
app.get('/', (c) => c.text('The agents are under /api.'));
app.all('/api/*', (c) => api(c.req.raw));

const port = Number(process.env['PORT'] ?? 3001);
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (address) => {
  console.log(`http://127.0.0.1:${address.port}`);
});

/** Streams end, and the step under way is finished and written: another process can continue with what is left. */
async function stop(): Promise<void> {
  await api.close();
  server.close();
  await runtime.close();
  await store.close();
}
process.once('SIGTERM', () => void stop());
