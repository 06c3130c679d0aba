/**
 * The server side of `blocking.mjs`: the API over a store whose first owner has the largest contents that are allowed.
 * It reports what the longest turn of its event loop took.
 */
import { AgentBuilder, defineTool, SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { memoryStore } from 'onward/stores/memory';
import { sqliteStore } from 'onward/stores/sqlite';

const [, , kind, path] = process.argv;
/** Calls of one answer, the most that are taken. */
const CALLS = 128;
const store = kind === 'sqlite' ? sqliteStore({ path }) : memoryStore();

/** Many small values: the text that is slowest to read and to write. */
const listOf = (characters) => Array.from({ length: Math.floor(characters / 4) }, () => ({}));
const tool = (name, maxResultChars, execute) =>
  defineTool({
    name,
    description: 'Reads.',
    parameters: { type: 'object', properties: {} },
    maxResultChars,
    execute,
  });

/** What the model asks for is in the message: `name count`; it answers after so many steps. */
const driver = {
  name: 'scripted',
  async infer({ messages }) {
    const asked = [...messages].findLast((message) => message.isUser());
    const [name = '', count = '1', steps = '1'] = asked.text.slice(0, 100).split(' ');
    const since = [...messages].slice([...messages].lastIndexOf(asked));
    const step = since.filter((message) => message.isAssistant()).length;
    const usage = { input: 10, output: 5, total: 15 };
    const isDone = step >= Number(steps) || !['list', 'text', 'small', 'huge'].includes(name);
    if (isDone) return { content: 'done', toolCalls: [], finishReason: 'stop', usage };
    const toolCalls = Array.from({ length: Number(count) }, () => ({ name, args: {} }));
    return { content: '', toolCalls, finishReason: 'tool_calls', usage };
  },
};
let made = 0;
const agent = AgentBuilder.base()
  .withName('reader')
  .withDriver(driver)
  .withMaxSteps(1_000)
  .withTools(
    tool('list', 50_000, () => [made++, ...listOf(48_000)]),
    tool('text', 50_000, () => `${made++}`.padEnd(49_000, 'word ')),
    tool('small', 50_000, () => `${made++}`.padEnd(8_000, 'word ')),
    tool('huge', 16_000_000, () => [made++, ...listOf(15_000_000)]),
  )
  .build();
const runtime = new SessionRuntime({ store, agents: [agent] });
const ann = { owner: 'ann' };
const waiting = { ...ann, wait: true };

const say = async (id, ...messages) => {
  await runtime.create({ ...ann, id });
  for (const message of messages) await runtime.send(id, message, waiting);
};
await say('lists', `list ${CALLS}`);
await say('texts', `text ${CALLS}`);
await say('steps', 'small 16 60');
await say('huge', 'huge 1');
await say(
  'words',
  ...Array.from({ length: 60 }, (_, n) => `hello ${n} `.padEnd(1_000_000, 'word ')),
);
const metadata = Object.fromEntries(
  Array.from({ length: 400 }, (_, n) => [`k${n}`, 'word '.repeat(30)]),
);
for (let n = 0; n < 400; n++) await runtime.create({ ...ann, metadata });
await runtime.create({ owner: 'bob', id: 'bob' });

/** The ref of the last such value in a session's newest log. */
async function refTo(id, type, field) {
  let [last, ref] = [0, ''];
  for (;;) {
    const page = await runtime.events(id, { ...ann, after: last });
    for (const { seq, event } of page.events)
      if (event.type === type) ref = `${seq}.${field}.${page.executionId}`;
    last = page.events.at(-1)?.seq ?? page.seq;
    if (last >= page.seq) return ref;
  }
}
const refs = {};
for (const id of ['lists', 'texts', 'huge'])
  refs[id] = await refTo(id, 'ToolCallCompleted', 'result');

const api = agentServer({
  runtime,
  owner: ({ headers }) => headers.get('x-user'),
  rateLimit: null,
});
const { port } = await serve({ fetch: api, port: 0 });

/** The longest turn by the clock and, on a machine that has other things to do, by the time that this process worked. */
let turn = { heldMs: 0, cpuMs: 0 };
let isMeasuring = false;
function measureTurns(at = performance.now(), used = process.cpuUsage()) {
  const { user, system } = process.cpuUsage(used);
  turn.heldMs = Math.max(turn.heldMs, performance.now() - at);
  turn.cpuMs = Math.max(turn.cpuMs, (user + system) / 1e3);
  const [now, usage] = [performance.now(), process.cpuUsage()];
  if (isMeasuring) setImmediate(measureTurns, now, usage);
}
process.on('message', ({ what }) => {
  if (what === 'begin') {
    globalThis.gc?.();
    turn = { heldMs: 0, cpuMs: 0 };
    isMeasuring = true;
    measureTurns();
    return report(what, {});
  }
  // one more turn, so that a hold that has just ended is counted
  setTimeout(() => {
    isMeasuring = false;
    report(what, turn);
  }, 20);
});
report('ready', { port, refs });

function report(what, value) {
  process.send({ what, value });
}
