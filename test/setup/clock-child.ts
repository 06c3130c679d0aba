import { setTimeout as wait } from 'node:timers/promises';
import { createAgent, defineTool, SessionRuntime, type InferenceDriver } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';

/** A worker under a shifted clock. `works` starts a session, `waits` recovers abandoned ones. */
const [role = '', where = '', schema = ''] = process.argv.slice(2);
const owner = { owner: 'ann' };
const store =
  schema === '' ? sqliteStore({ path: where }) : postgresStore({ connectionString: where, schema });

const driver: InferenceDriver = {
  name: 'clock',
  async infer({ messages }) {
    const isPaid = messages.last()?.role === 'tool';
    const answer = { content: '', toolCalls: [], finishReason: 'stop', usage: null } as const;
    if (isPaid) return { ...answer, content: 'paid' };
    const asked = messages.last()?.text ?? '';
    if (asked === 'hang') {
      console.log('calls the model');
      if (role === 'works') await new Promise(() => {});
      return { ...answer, content: 'answered' };
    }
    return {
      ...answer,
      toolCalls: [{ id: 'call_1', name: 'pay', args: {} }],
      finishReason: 'tool_calls',
    };
  },
};
const pay = defineTool({
  name: 'pay',
  description: 'Takes a moment, in which clocks are set.',
  async execute() {
    console.log('pays');
    await wait(4_000);
    return 'paid';
  },
});
const agent = createAgent({ name: 'support', driver, tools: [pay], timeout: { seconds: 20 } });
const runtime = new SessionRuntime({
  store,
  agents: [agent],
  lease: { leaseMs: 2_000, heartbeatMs: 400, signalMs: 400 },
});
if (role === 'works') {
  const message = process.argv[5] ?? '';
  await runtime.create({ id: 's', ...owner });
  const session = await runtime.send('s', message, { ...owner, wait: true });
  const { items } = await runtime.steps('s', owner);
  const { status, stopReason, info } = session;
  const seconds = info.cumulativeExecutionSeconds;
  const durations = items.map(({ durationMs }) => durationMs);
  console.log(`done ${JSON.stringify({ status, stopReason, seconds, durations })}`);
} else {
  runtime.start();
  console.log('waits');
  const began = performance.now();
  const status = async (): Promise<string> => {
    const session = await runtime.get('s', owner).catch(() => null);
    return session?.status ?? '';
  };
  while ((await status()) !== 'completed') await wait(50);
  const ms = Math.round(performance.now() - began);
  const { cumulativeExecutionSeconds: seconds } = (await runtime.get('s', owner)).info;
  console.log(`saw it completed ${JSON.stringify({ ms, seconds })}`);
}
await runtime.close();
await store.close();
