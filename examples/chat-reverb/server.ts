/** The chat of ../chat-hono-react on Laravel Reverb's wire. README.md says how to start it. */
import { Hono } from 'hono';
import { SessionRuntime } from 'onward';
import { BroadcastConfig, broadcastSessions } from 'onward/broadcasting';
import { pusherBroadcaster } from 'onward/broadcasting/pusher';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { sqliteStore } from 'onward/stores/sqlite';
import { support } from '../chat-hono-react/agent.ts';
import { builtPage } from '../chat-hono-react/build-page.ts';
import { ownerOf, signIn } from '../chat-hono-react/sign-in.ts';
import { reverbOf } from './reverb.ts';

const reverb = reverbOf(process.env);
const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: [support] });

// the same for the wire and for what a page reads afterwards, so that both show the same
const config = BroadcastConfig.standard();
const broadcasts = broadcastSessions(runtime, { broadcaster: pusherBroadcaster(reverb), config });
runtime.start(); // also with what a process before this one has left
const api = agentServer({ runtime, owner: ownerOf, pusher: reverb, broadcast: config });

const app = new Hono();
app.route('/', signIn);
app.get('/reverb', (c) => {
  const { key, host, port, useTLS } = reverb;
  return c.json({ key, host, port, useTLS }); // never the secret
});
app.all('/api/*', (c) => api(c.req.raw));
app.get('*', await builtPage(new URL('page/', import.meta.url)));

const port = Number(process.env['PORT'] ?? 3004);
const server = await serve({ fetch: (request) => app.fetch(request), port });
console.log(`${server.url}  (ada, lovelace)`);

/** The step under way is finished, stored and sent: another process can continue with what is left. */
async function stop(): Promise<void> {
  await api.close();
  await server.close(); // also with pages open, which keep their connections
  await runtime.close();
  await broadcasts.close();
  await store.close();
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
