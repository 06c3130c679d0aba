import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { agentServer, type AgentServer } from 'onward/server';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';

const publish = defineTool({
  name: 'publish',
  description: 'Puts an article on the front page.',
  parameters: z.object({ title: z.string() }),
  needsApproval: true,
  execute: ({ title }) => `"${title}" is on the front page`,
});

// a real one: const model = openai('gpt-5-mini'), from 'onward/drivers/openai'
/** Wants to publish whatever stands in quotes, and then reports the result. */
const model: InferenceDriver = {
  name: 'scripted',
  infer: async ({ messages }) => {
    const last = messages.last();
    const title = /"(.+)"/.exec(last?.text ?? '')?.[1];
    const said = { content: 'What title?', toolCalls: [], finishReason: 'stop', usage: null };
    if (last?.isTool()) return { ...said, content: `Done: ${last.text}.` };
    if (!title) return said;
    return { ...said, content: '', toolCalls: [{ name: 'publish', args: { title } }] };
  },
};

function start(): AgentServer {
  const editor = createAgent({ name: 'editor', model, tools: [publish] });
  const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
  const runtime = new SessionRuntime({ store, agents: [editor] });
  runtime.start(); // also with what a process before this one has left
  // replaces a sign-in, since any client can send this header: a real app reads its session here
  return agentServer({ runtime, owner: ({ headers }) => headers.get('x-user') });
}

/** One for the process: Next loads this file again with each change, and two would work against each other. */
const kept = globalThis as { agents?: AgentServer };
export const agents = (): AgentServer => (kept.agents ??= start());
