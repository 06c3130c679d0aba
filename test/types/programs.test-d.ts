/** Eight typical programs, without casts and without type arguments that can be inferred. */
import {
  AgentBuilder,
  createAgent,
  defineCapability,
  defineTool,
  SessionRuntime,
  type Agent,
  type AgentEvent,
  type Approvals,
  type DeepPartial,
  type Hook,
  type PendingApproval,
  type ToolContext,
} from 'onward';
import { agentServer } from 'onward/server';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver } from 'onward/testing';
import * as z from 'zod';
import { same } from './fixtures.ts';

const driver = DeterministicDriver.fromResponses('hello');
interface Shelf {
  count(article: string): Promise<{ article: string; pieces: number }>;
}
declare const shelf: Shelf;
declare const print: (text: string) => void;
declare const files: {
  read(name: string): Promise<string>;
  write(name: string, text: string): void;
};

// 1: one question, one answer
const greeter = createAgent({ driver });
const greeting = await greeter.run('Say hello.');
print(greeting.output ?? greeting.lastContinuationOutcome?.explain() ?? 'no outcome');

// 2: a structured answer
const Parcel = z.object({
  weight: z.number(),
  to: z.object({ city: z.string(), zip: z.string() }),
  items: z.array(z.object({ article: z.string(), pieces: z.number() })),
});
type Parcel = z.infer<typeof Parcel>;
const packer = AgentBuilder.base()
  .withName('packer')
  .withDriver(driver)
  .withResponseFormat(Parcel)
  .withMaxSteps(4)
  .build();
const packed = await packer.run('Pack two lamps for Ada.');
if (packed.output !== null) {
  const { weight, to, items } = packed.output;
  print(`${weight.toFixed(1)} kg to ${to.city}: ${items.map(({ article }) => article).join()}`);
}
// @ts-expect-error a parcel has no price
print(packed.output?.price);

// 3: a tool in its own file declares its dependencies, and a run requires them
const countPieces = defineTool({
  name: 'count_pieces',
  description: 'Counts the pieces of an article in stock.',
  parameters: z.object({ article: z.string().min(1) }),
  execute: ({ article }, { deps }: ToolContext<{ shelf: Shelf }>) => deps.shelf.count(article),
});
const order = defineTool({
  name: 'order',
  description: 'Orders pieces of an article.',
  parameters: z.object({ article: z.string(), pieces: z.number().default(1) }),
  needsApproval: ({ pieces }) => pieces > 5,
  execute: ({ article, pieces }) => ({ article, pieces, on: new Date(0) }),
});
const clerk = createAgent({ name: 'clerk', driver, tools: [countPieces, order] });
await clerk.run('How many lamps do we have?', { deps: { shelf } });
// @ts-expect-error the shelf is missing
await clerk.run('How many lamps do we have?');
// @ts-expect-error no dependency has this name
await clerk.run('How many lamps do we have?', { deps: { shelves: shelf } });

// 4: an approval in the evening, an answer in the morning, and the rest of the run as a stream
const evening = await clerk.run('Order ten lamps.', { deps: { shelf } });
if (evening.status === 'paused') files.write('clerk.json', JSON.stringify(evening));
const morning = await clerk.restore(JSON.parse(await files.read('clerk.json')));
const answer = ({ executionId, argsHash, tool }: PendingApproval): Approvals[string] =>
  tool === 'order' ? { approve: true, executionId, argsHash } : { deny: 'Not that.' };
const approvals: Approvals = Object.fromEntries(
  morning.pendingApprovals.map((pending) => [pending.callId, answer(pending)]),
);
const rest = clerk.stream({ resume: morning, approvals, by: 'ada' }, { deps: { shelf } });
for await (const text of rest.textStream) print(text);
// @ts-expect-error the shelf is missing
clerk.stream({ resume: morning, approvals });
// @ts-expect-error an approval is not a string
await clerk.resume(morning, { approvals: { c1: 'yes' }, deps: { shelf } });

// 5: an answer in the UI while it arrives
const draw = ({ to, items = [] }: DeepPartial<Parcel>): void =>
  print(`${to?.city ?? '…'}: ${items.map((item) => item?.article ?? '…').join()}`);
const packing = packer.stream('Pack two lamps for Ada.');
for await (const part of packing.partialOutputStream) draw(part);
const end = await packing.state;
same<typeof end.output, Parcel | null>();
print(end.status);

// 6: agents as tools
const manager = createAgent({
  name: 'manager',
  driver,
  tools: [
    packer.asTool({ name: 'pack', description: 'Packs a parcel.' }),
    clerk.asTool({ name: 'ask_clerk', description: 'Knows the stock.' }),
  ],
});
for await (const call of manager.stream('Send Ada two lamps.', { deps: { shelf } }).toolCalls) {
  if (!call.ok) print(`${call.tool} failed: ${call.error}`);
  else if (call.tool === 'pack') print(`${call.args.input} -> ${call.result.weight} kg`);
  else same<typeof call.result, string>();
}
// @ts-expect-error the clerk behind it needs the shelf
manager.stream('Send Ada two lamps.');

// 7: sessions in a store, for several agents
const runtime = new SessionRuntime({
  store: memoryStore(),
  agents: [clerk, packer],
  deps: ({ owner }) => ({ shelf, owner }),
});
const session = await runtime.create({ owner: 'ada', agent: 'packer' });
const sent = await session.send('Pack two lamps.', { wait: true });
print(`${sent.output?.weight} kg`);
for (const { callId, executionId, argsHash } of sent.pendingApprovals)
  await session.approve(callId, { executionId, argsHash, wait: true });
const again = runtime.session(session.id, { owner: 'ada' });
const found = await again.get();
if (found.agent === 'packer') print(`${found.output?.to.zip}`);
else same<typeof found.output, string | null>();
for await (const { event } of again.follow())
  if (event.type === 'gap') print('read the conversation again');
  else if (event.type === 'StreamChunk') print(event.content);
for await (const text of again.stream('And a chair.').textStream) print(text);
agentServer({ runtime, owner: (request) => request.headers.get('x-user') });
// @ts-expect-error the agent is missing
await runtime.create({ owner: 'ada' });

// 8: hooks, a capability, events
const timed: Hook<{ now(): number }> = {
  name: 'timed',
  async aroundToolCall(input, next, { deps }) {
    const start = deps.now();
    const result = await next(input);
    print(`${input.tool} took ${deps.now() - start} ms`);
    return result;
  },
};
const stock = defineCapability({
  name: 'stock',
  systemPrompt: 'Count before you order.',
  tools: [countPieces, order],
  hooks: [timed],
});
const stockKeeper = createAgent({ name: 'stock_keeper', driver, capabilities: [stock] });
const kept: Agent<{ shelf: Shelf; now(): number }, string> = stockKeeper;
await kept.run('Count the chairs.', { deps: { shelf, now: () => 0 } });
await stockKeeper.run('Count.', { deps: { shelf, now: () => 0 }, activeTools: ['count_pieces'] });
// @ts-expect-error the hook needs a clock
await stockKeeper.run('Count the chairs.', { deps: { shelf } });
type Ending = Extract<AgentEvent, { type: 'AgentPaused' | 'AgentFinished' | 'AgentFailed' }>;
function endingText(event: Ending): string {
  switch (event.type) {
    case 'AgentPaused':
      return event.kind === 'approval' ? 'needs approval' : event.kind;
    case 'AgentFinished':
      return event.status === 'completed' ? 'done' : event.status;
    case 'AgentFailed':
      return event.status;
    default:
      return event satisfies never;
  }
}
stockKeeper.on('AgentPaused', (event) => print(endingText(event)));
stockKeeper.on('AgentFinished', (event) => print(endingText(event)));
stockKeeper.wiretap((event) => {
  // @ts-expect-error a pause has no such kind
  if (event.type === 'AgentPaused' && event.kind === 'aproval') print('never');
});
// @ts-expect-error there is no such event
stockKeeper.on('AgentPause', () => {});
