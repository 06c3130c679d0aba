/**
 * An agent in an Express app, beside the routes it already has: /api belongs to the agent, and people sign in as the
 * rest of the app wants it, here with a session id in a header.
 *
 *   npm run build && node build/examples/server-express/server.js
 *
 *   curl localhost:3002/sign-in -d 'name=ada'                                  gives the session id
 *   curl localhost:3002/api/sessions -H 'x-session: …' --json '{"message":"Cancel the meeting at 15:00"}'
 *   curl localhost:3002/api/sessions/…/events -H 'x-session: …' -N
 *
 * The model is scripted, so that it runs without a key. A real one is one line:
 *   const model = openai('gpt-5-mini'); // from 'onward/drivers/openai'
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { agentServer } from 'onward/server';
import { nodeListener } from 'onward/server/node';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';

const cancelMeeting = defineTool({
  name: 'cancel_meeting',
  description: 'Deletes a meeting from the calendars of all guests.',
  parameters: z.object({ time: z.string() }),
  needsApproval: true,
  execute: ({ time }) => `the meeting at ${time} is cancelled`,
});

/** Wants to cancel whatever meeting it reads of, and then reports the result. */
const model: InferenceDriver = {
  name: 'scripted',
  infer: async ({ messages }) => {
    const last = messages.last();
    const time = /\d+:\d\d/.exec(last?.text ?? '')?.[0];
    const said = { content: 'At what time?', toolCalls: [], finishReason: 'stop', usage: null };
    if (last?.isTool()) return { ...said, content: `Done: ${last.text}.` };
    if (!time) return said;
    return { ...said, content: '', toolCalls: [{ name: 'cancel_meeting', args: { time } }] };
  },
};

const assistant = createAgent({ name: 'assistant', model, tools: [cancelMeeting] });
const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: [assistant] });
runtime.start(); // also with what a process before this one has left

const signedIn = new Map<string, string>();
const api = agentServer({
  runtime,
  owner: ({ headers }) => signedIn.get(headers.get('x-session') ?? '') ?? null,
});

const app = express();
app.use('/api', nodeListener(api));
app.post('/sign-in', express.urlencoded(), (req, res) => {
  const { name } = z.object({ name: z.string().min(1) }).parse(req.body);
  const id = randomUUID();
  signedIn.set(id, name); // a real app asks for more than a name
  res.send(id);
});

const server = app.listen(Number(process.env['PORT'] ?? 3002), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

/** Streams end, and the step under way is finished and written: another process can continue with what is left. */
async function stop(): Promise<void> {
  await api.close();
  server.close();
  await runtime.close();
  await store.close();
}
process.once('SIGTERM', () => void stop());
