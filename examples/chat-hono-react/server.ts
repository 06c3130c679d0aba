/** A chat: Hono, server-sent events, a React page and a SQLite file. README.md says how to start it. */
import { Hono } from 'hono';
import { SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { sqliteStore } from 'onward/stores/sqlite';
import { support } from './agent.ts';
import { builtPage } from './build-page.ts';
import { ownerOf, signIn } from './sign-in.ts';

const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: [support] });
runtime.start(); // also with what a process before this one has left
const api = agentServer({ runtime, owner: ownerOf });

const app = new Hono();
app.route('/', signIn);
app.all('/api/*', (c) => api(c.req.raw));
app.get('*', await builtPage(new URL('page/', import.meta.url)));

const port = Number(process.env['PORT'] ?? 3003);
const server = await serve({ fetch: (request) => app.fetch(request), port });
console.log(`${server.url}  (ada, lovelace)`);

/** Streams end, and the step under way is finished and written: another process can continue with what is left. */
async function stop(): Promise<void> {
  await api.close();
  await server.close(); // also with pages open, which keep their connections
  await runtime.close();
  await store.close();
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
