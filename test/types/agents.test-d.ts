import {
  AgentBuilder,
  createAgent,
  defineCapability,
  defineTool,
  type Agent,
  type AgentDeps,
  type AgentOutput,
  type AgentState,
  type AnyAgent,
  type AnyTool,
  type ContinuationCriterion,
  type DeepPartial,
  type Hook,
  type RunOptions,
  type Tool,
  type ToolContext,
} from 'onward';
import { mockTool } from 'onward/testing';
import {
  audit,
  clock,
  crm,
  driver,
  findLeads,
  Invoice,
  mailer,
  same,
  sendMail,
  type Audit,
  type Crm,
  type Mailer,
} from './fixtures.ts';

// text output, no dependencies
const plain = createAgent({ driver });
same<typeof plain, Agent<{}, string, 'agent', never>>();
const said = await plain.run('hi');
same<typeof said, AgentState<string>>();
same<typeof said.output, string | null>();

// tools and a response format
const billing = createAgent({
  name: 'billing',
  driver,
  tools: [findLeads, sendMail, clock],
  responseFormat: Invoice,
});
same<AgentOutput<typeof billing>, Invoice>();
same<AgentDeps<typeof billing>, { crm: Crm } & { mailer: Mailer }>();
const done = await billing.run('bill them', { deps: { crm, mailer } });
same<typeof done.output, Invoice | null>();
same<typeof done.partialOutput, DeepPartial<Invoice> | null>();
const firstLine: string | undefined = done.partialOutput?.lines?.[0]?.text;
const next = done.withUserMessage('and again').withMetadata({ a: 1 });
same<typeof next.output, Invoice | null>();

// @ts-expect-error deps are missing
await billing.run('x');
// @ts-expect-error deps are missing
await billing.run('x', {});
// @ts-expect-error the mailer is missing
await billing.run('x', { deps: { crm } });
// @ts-expect-error not a mailer
await billing.run('x', { deps: { crm, mailer: { send: 1 } } });
// @ts-expect-error deps are missing
await billing.resume(done);
// @ts-expect-error deps are missing
billing.stream('x');
// @ts-expect-error deps are missing
billing.iterate('x');
// @ts-expect-error deps are missing
await billing.nextStep('x');
// @ts-expect-error total is a number
const wrong: string = done.output?.total;
billing.stop(done, { reason: 'enough', by: 'ada' });

// tool names
const deps = { crm, mailer };
await billing.run('x', { deps, activeTools: ['clock', 'find_leads'] });
// @ts-expect-error there is no such tool
await billing.run('x', { deps, activeTools: ['find_lead'] });
createAgent({ driver, tools: [clock], toolChoice: { tool: 'clock' } });
// @ts-expect-error there is no such tool
createAgent({ driver, tools: [clock], toolChoice: { tool: 'clok' } });
await createAgent({ driver, tools: [mockTool('look')] }).run('x', { activeTools: ['look'] });
// options without tool names are valid for every agent
declare const general: RunOptions;
await billing.run('x', { ...general, deps });
await plain.run('x', general);

// the builder keeps these types, and branches
const base = AgentBuilder.base()
  .withName('billing')
  .withDriver(driver)
  .withTools(findLeads)
  .withMaxSteps(5);
const built = base
  .withResponseFormat(Invoice)
  .withTools(sendMail, clock)
  .withToolChoice({ tool: 'clock' })
  .build();
same<AgentOutput<typeof built>, Invoice>();
same<AgentDeps<typeof built>, { crm: Crm } & { mailer: Mailer }>();
same<typeof built.name, 'billing'>();
same<AgentDeps<ReturnType<typeof base.build>>, { crm: Crm }>();
// @ts-expect-error it is not one of the tools so far
base.withToolChoice({ tool: 'clock' });
// a builder with a plain annotation: any that needs no dependencies
const wideBuilder: AgentBuilder = AgentBuilder.new().withName('x').withTools(clock);
await wideBuilder.withDriver(driver).build().run('x');
// @ts-expect-error it needs a CRM
const narrowBuilder: AgentBuilder = base;

// hooks, criteria and capabilities add their dependencies
const audited: Hook<{ audit: Audit }> = {
  name: 'audited',
  aroundToolCall: (input, run, context) => {
    context.deps.audit.write(input.tool);
    return run(input);
  },
};
const traced: Hook<{ mailer: Mailer }> = {
  name: 'traced',
  aroundStep: async (input, run, context) => {
    await context.deps.mailer.send('ops', String(input.stepNumber));
    return run(input);
  },
};
const bigEnough: ContinuationCriterion<AgentState<Invoice>, { limit: number }> = {
  name: 'BigEnough',
  evaluate: (state, context) =>
    (state.output?.total ?? 0) > context.deps.limit ? 'forbid' : 'allow',
};
const crmSkill = defineCapability({ name: 'crm', tools: [findLeads], hooks: [audited] });
const full = createAgent({
  driver,
  capabilities: [crmSkill],
  hooks: [traced],
  criteria: [bigEnough],
  responseFormat: Invoice,
});
same<
  AgentDeps<typeof full>,
  { crm: Crm } & { audit: Audit } & { mailer: Mailer } & { limit: number }
>();
await full.run('x', { deps: { crm, audit, mailer, limit: 3 }, activeTools: ['find_leads'] });
// @ts-expect-error the limit is missing
await full.run('x', { deps: { crm, audit, mailer } });
// @ts-expect-error a criterion for invoices does not fit an agent that answers with text
createAgent({ driver, criteria: [bigEnough] });
const fluent = AgentBuilder.base()
  .withDriver(driver)
  .withCapability(crmSkill)
  .withResponseFormat(Invoice)
  .withHooks(traced, audited)
  .addContinuationCriteria(bigEnough)
  .build();
await fluent.run('x', { deps: { crm, audit, mailer, limit: 3 } });
// @ts-expect-error the limit is missing
await fluent.run('x', { deps: { crm, audit, mailer } });

// inline hooks and criteria know the output of the agent, and unannotated dependencies are unknown
createAgent({
  driver,
  responseFormat: Invoice,
  criteria: [
    {
      name: 'InPlace',
      evaluate: (state, context) => {
        same<typeof state.output, Invoice | null>();
        same<typeof context.deps, unknown>();
        return 'allow';
      },
    },
  ],
  hooks: [
    {
      name: 'in-place',
      aroundExecution: async (input, run) => {
        same<typeof input.state, AgentState<Invoice>>();
        return run(input);
      },
    },
  ],
});

// agents as tools
const boss = createAgent({
  name: 'boss',
  driver,
  tools: [billing.asTool({ name: 'bill', description: 'Bills.' }), clock],
});
same<AgentDeps<typeof boss>, { crm: Crm } & { mailer: Mailer }>();
// @ts-expect-error the inner agent needs a mailer
await boss.run('x', { deps: { crm } });
await boss.run('x', { deps, activeTools: ['bill'] });

// an inline tool without a context needs no dependencies
const inPlace = createAgent({
  driver,
  tools: [
    defineTool({ name: 'here', description: 'Answers.', execute: () => Promise.resolve('ok') }),
    defineTool({
      name: 'there',
      description: 'Answers.',
      execute: (_args, context: ToolContext<{ crm: Crm }>) => context.deps.crm.find('x'),
    }),
  ],
});
same<AgentDeps<typeof inPlace>, { crm: Crm }>();
await createAgent({
  driver,
  tools: [defineTool({ name: 'alone', description: 'Answers.', execute: () => 'ok' })],
}).run('x');

// a stored state
const back = await billing.restore(JSON.parse('{}'));
same<typeof back, AgentState<Invoice>>();
const anyState: AgentState = back;
await billing.resume(anyState, { deps, grant: { steps: 1 } });
// @ts-expect-error a state with any output is not a state with an invoice
const invoiceState: AgentState<Invoice> = anyState;

// assignability of agents
export const all: AnyAgent[] = [plain, billing, boss, full];
const short: Agent<{ crm: Crm; mailer: Mailer }, Invoice> = billing;
await short.run('x', { deps, activeTools: ['any name'] });
const wide: Agent<{ crm: Crm; mailer: Mailer }> = billing;
same<AgentOutput<typeof wide>, unknown>();
// @ts-expect-error it needs more dependencies
const narrow: Agent<{ crm: Crm }, Invoice> = billing;
// @ts-expect-error it has another output
const other: Agent<{ crm: Crm; mailer: Mailer }, { subject: string }> = billing;

// code that is generic over agents
async function ask<D, O>(agent: Agent<D, O>, given: D): Promise<O | null> {
  return (await agent.withDeps(given).run('x')).output;
}
const answer = await ask(billing, deps);
same<typeof answer, Invoice | null>();

// optional dependencies can be left out
const relaxed: Agent<{ log?: (line: string) => void }, string> = plain;
await relaxed.run('x');
await relaxed.run('x', { deps: { log: () => {} } });

// handwritten tools are accepted, and their dependencies are unknown
declare const byHand: Omit<AnyTool, '~needs' | '~call'>;
const mixed = createAgent({ driver, tools: [findLeads, byHand] });
same<AgentDeps<typeof mixed>, { crm: Crm }>();
await mixed.run('x', { deps: { crm }, activeTools: ['any name'] });
// a list that is only known at run time declares its dependencies
declare const plugins: readonly Tool<{ crm: Crm }>[];
same<AgentDeps<typeof plugged>, { crm: Crm }>();
const plugged = createAgent({ driver, tools: plugins });
const both = createAgent({ driver, tools: [...plugins, sendMail] });
same<AgentDeps<typeof both>, { crm: Crm } & { mailer: Mailer }>();
declare const someHooks: readonly Hook<{ audit: Audit }>[];
const hooked = createAgent({ driver, hooks: someHooks });
same<AgentDeps<typeof hooked>, { audit: Audit }>();
const spread = createAgent({
  driver,
  hooks: [...someHooks, traced, { name: 'in-place', aroundStep: (input, run) => run(input) }],
});
same<AgentDeps<typeof spread>, { audit: Audit } & { mailer: Mailer }>();

// two tools that need different types under one name need both
const left = defineTool({
  name: 'left',
  description: 'Reads a.',
  execute: (_args, context: ToolContext<{ db: { a: 1 } }>) => context.deps.db.a,
});
const right = defineTool({
  name: 'right',
  description: 'Reads b.',
  execute: (_args, context: ToolContext<{ db: { b: 2 } }>) => context.deps.db.b,
});
const pair = createAgent({ driver, tools: [left, right] });
await pair.run('x', { deps: { db: { a: 1, b: 2 } } });
// @ts-expect-error b is missing
await pair.run('x', { deps: { db: { a: 1 } } });

// JSON Schema as the format
const json = createAgent({
  driver,
  responseFormat: {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
  },
});
same<AgentOutput<typeof json>, { readonly ok: boolean }>();

void [firstLine, wrong, narrowBuilder, invoiceState, narrow, other];
