import {
  AgentBuilder,
  AgentState,
  createAgent,
  defineCapability,
  defineTool,
  type ContinuationCriterion,
  type Hook,
  type ToolContext,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { refusal } from './setup/sessions.ts';

const { toolCall } = ScenarioStep;

interface Crm {
  find(partner: string): string;
}
const crmOf = (name: string): Crm => ({ find: (partner) => `${name}:${partner}` });
const findLeads = defineTool({
  name: 'find_leads',
  description: 'Finds leads.',
  parameters: z.object({ partner: z.string() }),
  execute: ({ partner }, { deps }: ToolContext<{ crm: Crm }>) => deps.crm.find(partner),
});
const clock = defineTool({
  name: 'clock',
  description: 'Returns the time.',
  execute: () => '09:30',
});
const asks = (...more: readonly string[]) =>
  DeterministicDriver.fromSteps(toolCall('find_leads', { partner: 'Aurora' }), ...more);
const results = (state: AgentState) =>
  [...state.steps].flatMap((step) => step.results.map(({ value }) => value));

describe('dependencies', () => {
  it('reach tools, hooks and criteria', async () => {
    const lines: string[] = [];
    const audit: Hook<{ audit: (line: string) => void }> = {
      name: 'audit',
      aroundToolCall: (input, next, { deps }) => {
        deps.audit(input.tool);
        return next(input);
      },
    };
    const budget: ContinuationCriterion<AgentState, { most: number }> = {
      name: 'Budget',
      evaluate: ({ stepCount }, { deps }) => ({
        decision: 'allow',
        reason: `${stepCount} of ${deps.most}`,
      }),
    };
    const agent = createAgent({
      driver: asks('found'),
      capabilities: [defineCapability({ name: 'crm', tools: [findLeads], hooks: [audit] })],
      criteria: [budget],
    });
    const deps = { crm: crmOf('a'), audit: (line: string) => void lines.push(line), most: 2 };
    const state = await agent.run('go', { deps });
    expect([state.status, results(state), lines]).toEqual([
      'completed',
      ['a:Aurora'],
      ['find_leads'],
    ]);
    const evaluations = state.lastContinuationOutcome?.evaluations ?? [];
    expect(evaluations.find(({ criterion }) => criterion === 'Budget')?.reason).toBe('2 of 2');
  });

  it('withDeps binds them, also in a nested agent whose parent has another dependency of that name', async () => {
    const inner = createAgent({ name: 'inner', driver: asks('inner'), tools: [findLeads] });
    const bound = inner.withDeps({ crm: crmOf('bound') });
    expect(results(await bound.run('go'))).toEqual(['bound:Aurora']);

    const seen: string[] = [];
    const outerFind = defineTool({
      name: 'find_leads',
      description: 'Finds leads.',
      execute: (_args, { deps }: ToolContext<{ crm: string }>) => deps.crm,
    });
    const outer = createAgent({
      name: 'outer',
      driver: DeterministicDriver.fromSteps(toolCall('ask', { input: 'q' }), 'done'),
      tools: [
        createAgent({ name: 'inner', driver: asks('inner'), tools: [findLeads] })
          .withDeps({ crm: crmOf('bound') })
          .asTool({ name: 'ask', description: 'Asks.' }),
        outerFind,
      ],
    });
    await outer.run('go', {
      deps: { crm: 'text' },
      wiretap: (event) => {
        if (event.type === 'ToolCallCompleted') seen.push(String(event.result));
      },
    });
    expect(seen).toContain('bound:Aurora');
  });

  it('withDeps rejects a value that is not an object', async () => {
    const agent = createAgent({ driver: asks(), tools: [findLeads] });
    const error = await refusal(() => agent.withDeps('crm' as never));
    expect(error.message).toBe('withDeps got "crm", expected an object of dependencies.');
  });
});

describe('activeTools', () => {
  const agentOf = (driver: DeterministicDriver) =>
    AgentBuilder.base().withDriver(driver).withTools(findLeads, clock).build();
  const deps = { crm: crmOf('a') };

  it('limit the tools that the model sees', async () => {
    const driver = DeterministicDriver.fromResponses('hello');
    const available: (readonly string[])[] = [];
    await agentOf(driver).run('go', {
      deps,
      activeTools: ['clock'],
      wiretap: (event) => {
        if (event.type === 'AgentStepStarted') available.push(event.availableTools);
      },
    });
    expect(driver.requests[0]?.tools.map(({ name }) => name)).toEqual(['clock']);
    expect(available).toEqual([['clock']]);
  });

  it('prevent calls of other tools', async () => {
    const state = await agentOf(asks('sorry')).run('go', { deps, activeTools: ['clock'] });
    expect(results(state)).toEqual(['Error: There is no tool "find_leads". Available: clock.']);
  });

  it('do not apply to a step that was paused in an earlier run', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      needsApproval: true,
      execute: () => 'paid',
    });
    const driver = DeterministicDriver.fromSteps(toolCall('pay'), 'done');
    const agent = createAgent({ driver, tools: [pay, clock] });
    const paused = await agent.run('go');
    const approvals = { call_1: { approve: true } } as const;
    const state = await agent.resume(paused, { approvals, activeTools: ['clock'] });
    expect([state.status, results(state)]).toEqual(['completed', ['paid']]);
  });

  it.each([
    [['nope'], 'activeTools got "nope", expected only names of its tools (find_leads, clock).'],
    [
      'clock',
      'activeTools got "clock", expected a list of names of its tools (find_leads, clock).',
    ],
  ])('reject %j', async (activeTools, message) => {
    const error = await refusal(() =>
      agentOf(asks()).run('go', { deps, activeTools: activeTools as never }),
    );
    expect(error.message).toBe(message);
  });

  it('set the tool choice to none if the list is empty', async () => {
    const driver = DeterministicDriver.fromResponses('hello');
    await agentOf(driver).run('go', { deps, activeTools: [] });
    expect(driver.requests[0]?.toolChoice).toBe('none');
  });

  it('must contain the tool that the tool choice requires', async () => {
    const agent = createAgent({
      driver: asks(),
      tools: [findLeads, clock],
      toolChoice: { tool: 'clock' },
    });
    const error = await refusal(() => agent.run('go', { deps, activeTools: ['find_leads'] }));
    expect(error.message).toContain('"clock" among them, because the tool choice');
  });
});

describe('restore', () => {
  const Report = z.object({
    title: z.string(),
    on: z.iso.date().transform((text) => new Date(text)),
  });
  const reporter = () =>
    createAgent({
      name: 'reporter',
      driver: DeterministicDriver.fromResponses('{"title":"Leads","on":"2026-01-16"}'),
      responseFormat: Report,
    });
  const kept = (state: AgentState): unknown => JSON.parse(JSON.stringify(state));

  it('parses the output with the schema again', async () => {
    const state = await reporter().run('go');
    const back = await reporter().restore(kept(state));
    expect(back.output).toEqual({ title: 'Leads', on: new Date('2026-01-16') });
    expect(back.messages.toJSON()).toEqual(state.messages.toJSON());
  });

  it('keeps an output that a hook replaced', async () => {
    const state = (await reporter().run('go')).with({
      output: { title: 'Hook', on: '2026-02-01' } as never,
    });
    const back = await reporter().restore(kept(state));
    expect(back.output).toEqual({ title: 'Hook', on: new Date('2026-02-01') });
  });

  it('rejects the state of another agent and an output in another format', async () => {
    const state = await reporter().run('go');
    const other = createAgent({ name: 'other', driver: DeterministicDriver.fromResponses() });
    expect((await refusal(() => other.restore(kept(state)))).code).toBe('foreign_state');
    const changed = createAgent({
      name: 'reporter',
      driver: DeterministicDriver.fromResponses(),
      responseFormat: z.object({ total: z.number() }),
    });
    const error = await refusal(() => changed.restore(kept(state)));
    expect(error.code).toBe('foreign_state');
    expect(error.message).toContain(
      'does not match the response format of agent "reporter": total',
    );
  });

  it('restores an open state', async () => {
    const state = AgentState.empty().withUserMessage('hi');
    expect((await reporter().restore(kept(state))).status).toBe('pending');
  });
});
