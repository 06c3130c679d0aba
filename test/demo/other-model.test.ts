import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { demoApp } from '../../src/demo/index.ts';
import { callIds, waiting } from '../setup/sessions.ts';
import { demoFolder, startDemo } from './setup.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('the demo agent on another model', () => {
  it('runs the same tools with the same prompt, limits and approvals', async () => {
    const model = DeterministicDriver.fromSteps(
      toolCalls([
        { name: 'search_leads', args: { text: 'öresund' } },
        { name: 'search_programs', args: { renews: 'this_quarter' } },
        { name: 'search_leads', args: { program: 'Atlantis' } },
      ]),
      toolCall('delete_lead', {
        id: 'lead_2104',
        company: 'Öresund Payments AB',
        program: 'Nordlicht',
        reason: 'asked to be removed',
        notify_owner: false,
      }),
      final('Done.'),
    );
    const demo = await startDemo({ model, modelLabel: 'Stand-in' });
    const [entry] = demo.app.agents;
    expect(entry).toMatchObject({ model: 'Stand-in', isDemo: false, title: 'Partner assistant' });
    const paused = await demo.send('Remove Öresund');
    expect(paused.status).toBe('paused');
    const done = await demo.runtime.approve(demo.session.id, callIds(paused)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(demo.data.one("SELECT 1 AS n FROM leads WHERE id = 'lead_2104'")).toBeUndefined();
    expect(model.requests[0]!.system).toContain('You are the partner assistant');
    expect(model.requests[0]!.tools).toHaveLength(8);
    const results = (await demo.messages()).filter((message) => message.isTool());
    expect(results[0]!.text).toContain('lead_2104'); // ignores case and accents
    expect(results[2]!.text).toMatch(
      /^Error: There is no program "Atlantis"\. Programs: Adriatic, /,
    );
  });

  it('LeadHasOwner asks only once if the model does not comply', async () => {
    const model = DeterministicDriver.fromSteps(
      toolCall('create_lead', { company: 'Foo Ltd', program: 'Baltic' }),
      final('Added. Who should own it?'),
      final('I do not know who should own it.'),
    );
    const demo = await startDemo({ model });
    const done = await demo.send('Add Foo Ltd to Baltic');
    expect(done).toMatchObject({ status: 'completed', stepCount: 3 });
    expect(model.requests[2]!.messages.at(-1)!.text).toBe(
      'lead_2208 has no owner yet: set one with update_lead',
    );
    expect((await demo.evaluation('LeadHasOwner', -1)).reason).toContain('was asked once');
  });

  it('NoProgressLimit stops a model that repeats itself', async () => {
    const again = toolCall('search_leads', { text: 'no such lead' });
    const demo = await startDemo({ model: DeterministicDriver.fromSteps(again, again, again) });
    const stopped = await demo.send('go');
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'guard', stepCount: 3 });
  });

  it('labels the model with the given name or its driver', async () => {
    const folder = demoFolder();
    const label = async (options: object): Promise<string | undefined> => {
      const app = await demoApp({ folder, ...options });
      app.close();
      return app.agents[0]!.model;
    };
    expect(await label({})).toBe('Demo model');
    expect(await label({ model: 'openai:gpt-5' })).toBe('openai:gpt-5');
    expect(await label({ model: 'openai:gpt-5', modelLabel: 'GPT-5' })).toBe('GPT-5');
    expect(await label({ model: DeterministicDriver.fromSteps() })).toBe('deterministic');
  });

  it('describe() is readable', async () => {
    const { app } = await startDemo();
    expect(app.name).toBe('Partners');
    expect(app.agents[0]).toMatchObject({ isDemo: true, model: 'Demo model' });
    const { systemPrompt, tools, ...rest } = app.agents[0]!.agent.describe();
    expect(systemPrompt).toContain('partner');
    expect(tools.filter((tool) => tool.needsApproval).map(({ name }) => name)).toEqual([
      'delete_lead',
    ]);
    expect(tools.every(({ idempotent }) => idempotent)).toBe(true);
    expect(rest).toMatchObject({
      name: 'partner-assistant',
      driver: 'demo',
      limits: {
        StepsLimit: 6,
        TokenUsageLimit: 300_000,
        CostLimit: 1,
        ExecutionTimeLimit: 180,
        NoProgressLimit: 3,
      },
    });
    expect(rest.criteria.slice(-2)).toEqual(['NoProgressLimit', 'LeadHasOwner']);
  });
});
