import {
  createAgent,
  SessionRuntime,
  type Agent,
  type AgentState,
  type AnyAgent,
  type AnySessionRuntime,
  type Session,
  type SessionHandle,
} from 'onward';
import { mcpServer } from 'onward/mcp/server';
import { agentServer } from 'onward/server';
import { memoryStore } from 'onward/stores/memory';
import * as z from 'zod';
import {
  clock,
  crm,
  driver,
  findLeads,
  Invoice,
  mailer,
  same,
  sendMail,
  type Crm,
} from './fixtures.ts';

const support = createAgent({ name: 'support', driver, tools: [clock] });
const billing = createAgent({
  name: 'billing',
  driver,
  tools: [findLeads, sendMail],
  responseFormat: Invoice,
});
const calendar = createAgent({
  name: 'calendar',
  driver,
  responseFormat: z.object({ on: z.coerce.date() }),
});
const store = memoryStore();

// one agent: no name needed
const simple = new SessionRuntime({ store, agents: [support] });
const chat = await simple.create({ owner: 'ada' });
same<typeof chat, Awaited<ReturnType<typeof simple.create<'support'>>>>();
await simple.create({ owner: 'ada', agent: 'support' });
// @ts-expect-error there is no such agent
await simple.create({ owner: 'ada', agent: 'billing' });
const view = await chat.send('hi', { wait: true });
same<typeof view.output, string | null>();
same<typeof view.agent, 'support'>();
// a handle is not the session: read changing data with `get`
same<typeof chat.id, string>();
// @ts-expect-error the title comes from get()
void chat.title;
// @ts-expect-error the status comes from get()
void chat.status;
// @ts-expect-error a handle has methods, a session has data
export const notOne: Session = chat;
same<Awaited<ReturnType<typeof chat.get>>, Session<string, 'support'>>();
same<Awaited<ReturnType<typeof chat.fork>>, typeof chat>();
// @ts-expect-error the handle knows the owner
await chat.send('hi', { owner: 'eve' });
// methods with an id and an owner also work
const flat = await simple.send(chat.id, 'hi', { owner: 'ada', wait: true });
same<typeof flat, Session>();
const again = simple.session(chat.id, { owner: 'ada' });
await again.approve('c1', { args: { a: 1 }, wait: true });
await again.deny('c1', 'too much');
await again.stop();
for await (const text of again.stream('hello').textStream) same<typeof text, string>();
again.stream('hello', { whenBusy: 'queue', executionId: 'mine' });
// @ts-expect-error a stream has no wait option
again.stream('hello', { wait: true });
// @ts-expect-error a resume has its own options
again.stream({ resume: true }, { whenBusy: 'queue' });
// @ts-expect-error there is no message to queue
again.stream({ whenBusy: 'queue' });
const ended = await again.stream({ resume: true, approvals: { c1: { approve: true } } }).state;
same<typeof ended, Session<string, 'support'>>();
for await (const part of again.stream().partialOutputStream) same<typeof part, string>();

// several agents: names are known, dependencies are checked
const deps = { crm, mailer };
const runtime = new SessionRuntime({
  store,
  agents: [support, billing, calendar],
  deps: ({ owner }) => ({ ...deps, owner }),
});
void new SessionRuntime({ store, agents: [support, billing], deps: async () => deps });
void new SessionRuntime({ store, agents: [support, billing], deps });
// @ts-expect-error deps are missing
void new SessionRuntime({ store, agents: [support, billing] });
// @ts-expect-error the mailer is missing
void new SessionRuntime({ store, agents: [support, billing], deps: { crm } });
// @ts-expect-error the mailer is missing
void new SessionRuntime({ store, agents: [support, billing], deps: () => ({ crm }) });

const bills = await runtime.create({ owner: 'ada', agent: 'billing' });
same<NonNullable<Awaited<ReturnType<typeof bills.get>>['output']>, Invoice>();
for await (const call of bills.stream('x').toolCalls)
  if (call.ok) same<typeof call.tool, 'find_leads' | 'send_mail'>();
for await (const part of bills.stream('x').partialOutputStream)
  same<typeof part.total, number | undefined>();
same<Awaited<ReturnType<typeof bills.state>>, AgentState<Invoice>>();
// @ts-expect-error it has several agents
await runtime.create({ owner: 'ada' });
// @ts-expect-error it has several agents
await runtime.create({ owner: 'ada', agent: undefined });
// @ts-expect-error there is no such agent
await runtime.create({ owner: 'ada', agent: 'bilings' });
// @ts-expect-error the owner is missing
await runtime.create({ agent: 'billing' });
declare const chosen: 'support' | 'billing';
const either = await (await runtime.create({ owner: 'ada', agent: chosen })).get();
same<typeof either.agent, 'support' | 'billing'>();
const create: (name: 'support' | 'calendar') => Promise<SessionHandle> = (agent) =>
  runtime.create({ owner: 'ada', agent });
void create;
// @ts-expect-error there is no such agent
runtime.session('s1', { owner: 'ada', agent: 'bilings' });
// @ts-expect-error the owner is missing
runtime.session('s1', {});

// stored output is JSON
const dates = await runtime.session('s1', { owner: 'ada', agent: 'calendar' }).get();
same<typeof dates.output, { readonly on: string } | null>();

// without an agent name it is a union, and its agent field distinguishes them
const some = await runtime.session('s1', { owner: 'ada' }).get();
switch (some.agent) {
  case 'support':
    same<typeof some.output, string | null>();
    break;
  case 'billing':
    same<typeof some.output, Invoice | null>();
    break;
  case 'calendar':
    break;
  default:
    some satisfies never;
}
const { sessions } = await runtime.list({ owner: 'ada', agent: 'billing', status: 'paused' });
for (const session of sessions) if (session.agent === 'billing') session.output?.total.toFixed();

// functions that take any agent and any runtime accept these
const short: Agent<{ crm: Crm }, Invoice> = createAgent({
  name: 'short',
  driver,
  tools: [findLeads],
  responseFormat: Invoice,
});
agentServer({
  runtime,
  owner: () => 'ada',
  agents: [support, billing, { agent: short, title: 'Short' }],
});
agentServer({ runtime: simple, owner: () => null });
agentServer({ runtime: simple, owner: () => null, mcp: mcpServer({ runtime: simple }) });
const loose: AnySessionRuntime = runtime;
const handle: SessionHandle = loose.session('s1', { owner: 'ada' });
same<Awaited<ReturnType<typeof handle.get>>['output'], unknown>();
const registered = new SessionRuntime({ store, agents: [short], deps: { crm } });
await registered.create({ owner: 'ada' });
// lists that are only known at run time
declare const found: readonly Agent[];
const dynamic = new SessionRuntime({ store, agents: found });
await dynamic.create({ owner: 'ada', agent: 'any name' });
await dynamic.create({ owner: 'ada' });
void new SessionRuntime({ store, agents: [billing.withDeps(deps)] });
declare const registry: readonly AnyAgent[];
const served = new SessionRuntime({ store, agents: registry, deps: { crm } });
// their number is only known at run time and checked there
await served.create({ owner: 'ada' });
await served.create({ owner: 'ada', agent: 'any name' });
declare const mixed: readonly [typeof support, ...AnyAgent[]];
await new SessionRuntime({ store, agents: mixed }).create({ owner: 'ada' });
await loose.create({ owner: 'ada' });
agentServer({ runtime: served, owner: () => 'ada', agents: registry });
