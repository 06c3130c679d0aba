import { appendFileSync } from 'node:fs';
import { AgentBuilder, AgentError, defineTool, SessionRuntime, type Tool } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';

/**
 * A process of a release that works on sessions and takes commands over its channel. It uses only features of every
 * release. `test/fixtures/releases/0.1.0-worker.mjs.gz` is this file bundled with the sources of release 0.1.0 (commit
 * 34b2880), minified and without packages. `bundleRelease` in `release-processes.ts` creates such a file.
 */
const job = JSON.parse(process.argv[2] ?? '') as {
  readonly name: string;
  readonly effects: string;
  readonly path?: string;
  readonly connectionString?: string;
  readonly schema?: string;
};
const store =
  job.path === undefined
    ? postgresStore({
        connectionString: job.connectionString ?? '',
        schema: job.schema ?? '',
      })
    : sqliteStore({ path: job.path });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `tool*3` means three steps with one call each, then an answer. */
const agent = AgentBuilder.base()
  .withName('support')
  .withDriver({
    name: 'planned',
    model: 'planned',
    async infer({ messages }) {
      const all = [...messages];
      const at = all.findLastIndex((message) => message.role === 'user');
      const [name = '', times = '0'] = all[at]?.text.split('*') ?? [];
      const done = all.slice(at).filter((message) => message.role === 'assistant').length;
      const usage = { input: 10, output: 5 };
      await sleep(2);
      if (done >= Number(times))
        return { content: `done ${name}`, toolCalls: [], finishReason: 'stop', usage };
      const call = { id: `call_${at}_${done}`, name, args: {} };
      return { content: '', toolCalls: [call], finishReason: 'tool_calls', usage };
    },
  })
  .withTools(tool('work'), tool('slow'), tool('pay', true))
  .withMaxSteps(4)
  .build();

/** A tool that appends a line to a file when it starts. */
function tool(name: string, needsApproval = false): Tool {
  return defineTool({
    name,
    description: `The tool ${name}.`,
    needsApproval,
    async execute(_args, { executionId, callId }) {
      const line = [job.name, executionId, callId, name];
      appendFileSync(job.effects, `${JSON.stringify(line)}\n`);
      await sleep(name === 'slow' ? 400 : 3);
      return `${name} by ${job.name}`;
    },
  });
}

const runtime = new SessionRuntime({
  store,
  agents: [agent],
  lease: { leaseMs: 1500, heartbeatMs: 300, signalMs: 100 },
  onError: () => {},
});

const methods: Record<string, (...args: never[]) => unknown> = {
  start: () => runtime.start(),
  recover: () => runtime.recover(),
  claim: (id: string) => store.claim(id, { worker: `raw of ${job.name}`, ttlMs: 1000 }),
  create: async (options: Parameters<typeof runtime.create>[0]) =>
    (await runtime.create(options)).get(),
  get: (...args: Parameters<SessionRuntime['get']>) => runtime.get(...args),
  send: (...args: Parameters<SessionRuntime['send']>) => runtime.send(...args),
  stop: (...args: Parameters<SessionRuntime['stop']>) => runtime.stop(...args),
  approve: (...args: Parameters<SessionRuntime['approve']>) => runtime.approve(...args),
  resume: (...args: Parameters<SessionRuntime['resume']>) => runtime.resume(...args),
  delete: (...args: Parameters<SessionRuntime['delete']>) => runtime.delete(...args),
  close: async () => {
    await runtime.close({ graceMs: 2000 });
    await store.close();
  },
};

process.on('message', ({ id, method, args }: { id: number; method: string; args: never[] }) => {
  Promise.resolve()
    .then(() => methods[method]?.(...args))
    .then(
      (value) =>
        process.send?.({ id, value: JSON.parse(JSON.stringify(value ?? null)) as unknown }),
      (error: unknown) =>
        process.send?.({
          id,
          error: { code: AgentError.is(error) ? error.code : null, message: String(error) },
        }),
    );
});
process.on('disconnect', () => process.exit(1));
process.send?.({ id: 0, value: 'ready' });
