import { setTimeout as rest } from 'node:timers/promises';
import { createAgent, defineTool, SessionRuntime, type Messages } from 'onward';
import type { InferenceDriver, InferenceResponse } from 'onward/drivers';
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
/** In the place of a model: wants to publish whatever stands in quotes, and then reports the result. */
const model: InferenceDriver = {
  name: 'scripted',
  infer: async ({ messages }) => answer(messages),
  async *stream({ messages }, { signal }) {
    const response = answer(messages);
    for (const text of response.content.split(/(?<= )/)) {
      yield { type: 'content', text };
      await rest(30, undefined, { signal });
    }
    yield { type: 'done', response };
  },
};

function answer(messages: Messages): InferenceResponse {
  const last = messages.last();
  const title = /"(.+)"/.exec(last?.text ?? '')?.[1];
  const said = { content: '', toolCalls: [], finishReason: 'stop', usage: null };
  if (last?.isTool()) return { ...said, content: `Well: ${last.text}.` };
  if (title === undefined)
    return { ...said, content: 'What is its title? Put it in quotes, and I publish it.' };
  const toolCalls = [{ name: 'publish', args: { title } }];
  return { ...said, content: `I publish ${title}.`, toolCalls, finishReason: 'tool_calls' };
}

function start(): SessionRuntime {
  const editor = createAgent({ name: 'editor', model, tools: [publish] });
  const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
  const runtime = new SessionRuntime({ store, agents: [editor] });
  runtime.start(); // also with what a process before this one has left
  return runtime;
}

/** One for the process: Next loads this file again with each change, and two would work against each other. */
const kept = globalThis as { runtime?: SessionRuntime };
export const sessions = (): SessionRuntime => (kept.runtime ??= start());
