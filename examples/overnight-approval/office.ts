import { appendFileSync } from 'node:fs';
import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import * as z from 'zod';

export const owner = 'accounting';
/** What has really happened outside, one line each: the ledger of a bank that we do not own. */
export const ledger: string = process.env['LEDGER'] ?? 'ledger.log';
const happened = (what: string): void =>
  appendFileSync(ledger, `${what} (process ${process.pid})\n`);

const reserve = defineTool({
  name: 'reserve_budget',
  description: 'Sets money aside in the books.',
  parameters: z.object({ euros: z.number() }),
  execute: ({ euros }) => {
    happened(`${euros} euros reserved`);
    return 'reserved';
  },
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice. Cannot be undone.',
  parameters: z.object({ invoice: z.string(), euros: z.number().positive() }),
  needsApproval: true,
  execute: ({ invoice, euros }) => {
    happened(`${euros} euros paid for ${invoice}`);
    return `${euros} euros paid for ${invoice}`;
  },
});

// a real one: const model = openai('gpt-5-mini'), from 'onward/drivers/openai'
/** In the place of a model: reserves what it reads of, pays, and reports the result. */
const model: InferenceDriver = {
  name: 'scripted',
  infer: async ({ messages }) => {
    const all = [...messages];
    const text = all.find((message) => message.isUser())?.text ?? '';
    const results = all.filter((message) => message.isTool());
    const invoice = /[A-Z]+-\d+/.exec(text)?.[0] ?? 'INV-1';
    const euros = Number(/(\d+) euros/.exec(text)?.[1] ?? 100);
    const step = { content: '', toolCalls: [], finishReason: 'tool_calls', usage: null };
    if (results.length === 0)
      return { ...step, toolCalls: [{ name: 'reserve_budget', args: { euros } }] };
    if (results.length === 1)
      return { ...step, toolCalls: [{ name: 'pay', args: { invoice, euros } }] };
    // where a person changed the arguments, a line above the result says so to the model
    const [result] = results.at(-1)?.text.split('\n').slice(-1) ?? [];
    return { ...step, content: `Settled: ${result}`, finishReason: 'stop' };
  },
};

/** What each process opens: the same file and the same agent are all that two of them have in common. */
export function openOffice(): { runtime: SessionRuntime; close: () => Promise<void> } {
  const agent = createAgent({ name: 'payments', model, tools: [reserve, pay] });
  const store = sqliteStore({ path: process.env['SESSIONS'] ?? 'sessions.db' });
  const runtime = new SessionRuntime({ store, agents: [agent] });
  const close = async (): Promise<void> => {
    await runtime.close();
    await store.close();
  };
  return { runtime, close };
}
