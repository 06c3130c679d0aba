import { AgentBuilder, createAgent, defineCapability, type AgentDeps, type DepsOf } from 'onward';
import { clock, crm, driver, findLeads, same, type Crm } from './fixtures.ts';

// names of tools are typed
createAgent({ driver, tools: [clock], activeTools: ['clock'] });
// @ts-expect-error there is no such tool
createAgent({ driver, tools: [clock], activeTools: ['clok'] });
createAgent({
  driver,
  tools: [clock],
  prepareStep: ({ stepNumber, attempt, state, signal }) => {
    if (stepNumber === 1 || attempt > 1 || signal.aborted) return undefined;
    return { activeTools: [], toolChoice: 'none', model: driver, system: state.outputText };
  },
});
createAgent({
  driver,
  tools: [clock],
  // @ts-expect-error there is no such tool
  prepareStep: () => ({ activeTools: ['clok'] }),
});
createAgent({
  driver,
  tools: [clock],
  // @ts-expect-error there is no such tool
  prepareStep: async () => ({ toolChoice: { tool: 'clok' } }),
});
// @ts-expect-error a step has no temperature of that type
createAgent({ driver, prepareStep: () => ({ system: 1 }) });

// it adds its dependencies, and without an annotation they are unknown
const byTier = ({ deps }: { readonly deps: { tier: string } }) =>
  deps.tier === 'free' ? { activeTools: [] } : undefined;
const tiered = createAgent({ driver, tools: [clock, findLeads], prepareStep: byTier });
same<AgentDeps<typeof tiered>, { crm: Crm } & { tier: string }>();
await tiered.run('x', { deps: { crm, tier: 'free' } });
// @ts-expect-error the tier is missing
await tiered.run('x', { deps: { crm } });
createAgent({
  driver,
  prepareStep: ({ deps }) => {
    same<typeof deps, unknown>();
    return undefined;
  },
});

// the builder knows the names so far
const built = AgentBuilder.base()
  .withDriver(driver)
  .withTools(clock)
  .withActiveTools('clock')
  .withPrepareStep(byTier)
  .build();
same<AgentDeps<typeof built>, { tier: string }>();
// @ts-expect-error there is no such tool
AgentBuilder.base().withTools(clock).withActiveTools('find_leads');
AgentBuilder.base()
  .withTools(clock)
  // @ts-expect-error there is no such tool
  .withPrepareStep(() => ({ activeTools: ['find_leads'] }));

// capabilities do not know the tools of their agents
const phases = defineCapability({
  name: 'phases',
  prepareStep: ({ deps }: { readonly deps: { tier: string } }) => ({ activeTools: [deps.tier] }),
});
same<DepsOf<typeof phases>, { tier: string }>();
await createAgent({ driver, capabilities: [phases] }).run('x', { deps: { tier: 'clock' } });
// @ts-expect-error the tier is missing
await createAgent({ driver, capabilities: [phases] }).run('x');
const plainCapability = defineCapability({ name: 'plain', prepareStep: () => undefined });
await createAgent({ driver, capabilities: [plainCapability] }).run('x');
