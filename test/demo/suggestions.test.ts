import { describe, expect, it } from 'vitest';
import { ann, callIds, isSound, waiting } from '../setup/sessions.ts';
import { demoFolder, openDemo, startDemo, type Demo } from './setup.ts';

/** The tools called in each step. */
const tools = async (demo: Demo): Promise<string[]> =>
  (await demo.steps()).map(({ toolCalls }) => toolCalls.map(({ name }) => name).join(' '));

const kinds = async (demo: Demo): Promise<string[][]> =>
  (await demo.steps()).map(({ results }) => results.map(({ kind }) => kind));

const leadsIn = ({ data }: Pick<Demo, 'data'>, program: string): string[] =>
  data
    .all(
      'SELECT l.id FROM leads l JOIN programs p ON p.id = l.program_id WHERE p.name = ? ORDER BY l.id',
      program,
    )
    .map((row) => String(row['id']));

const inactiveAlpine = ['lead_1874', 'lead_1902', 'lead_1921'];

describe('demo suggestions', () => {
  it('there are six, each tested here', async () => {
    const { app } = await startDemo();
    expect(app.agents[0]!.suggestions).toEqual([
      'Which programs renew this quarter?',
      'Add a lead for Helvetia Robotics with the company data filled in',
      'Clean up inactive Alpine leads',
      'Enrich every lead of the Baltic program',
      'Show the full Nordlicht report',
      'Import the leads from Atlantis',
    ]);
  });

  it('the plain answer comes from the database and names the demo model', async () => {
    const demo = await startDemo();
    const { status, output } = await demo.send('Which programs renew this quarter?');
    expect(status).toBe('completed');
    const month = Math.floor(new Date().getUTCMonth() / 3) * 3;
    const end = new Date(Date.UTC(new Date().getUTCFullYear(), month + 3, 0));
    const due = demo.data.all(
      'SELECT name, owner FROM programs WHERE renews_on <= ?',
      end.toISOString().slice(0, 10),
    );
    expect(due.length).toBeGreaterThanOrEqual(3);
    for (const { name, owner } of due) {
      expect(output).toContain(String(name));
      expect(output).toContain(String(owner));
    }
    expect(output).toContain(`${due.length} programs renew this quarter`);
    expect(output).not.toContain('Carpathia');
    expect(output).toMatch(/demo model/);
    await isSound(demo.runtime, demo.session.id);
  });

  it('the lead is added with its data and owner after a tool failed and was retried', async () => {
    const demo = await startDemo();
    const session = await demo.send(
      'Add a lead for Helvetia Robotics with the company data filled in',
    );
    expect(session.status).toBe('completed');
    expect(await tools(demo)).toEqual([
      'search_leads search_programs',
      'enrich_company',
      'enrich_company',
      'create_lead',
      '',
    ]);
    expect((await kinds(demo)).slice(1, 3)).toEqual([['error'], ['ok']]);
    const [, failed] = await demo.steps();
    expect(failed!.errors[0]!.message).toContain('did not answer (503)');
    expect((await demo.evaluation('ErrorPolicyCriterion', 1)).reason).toContain('(1/3)');
    const lead = demo.data.one(
      "SELECT * FROM leads WHERE company = 'Helvetia Robotics AG' AND id > 'lead_2207'",
    );
    expect(lead).toMatchObject({ employees: 84, city: 'Winterthur', owner: 'Mara Lindqvist' });
    expect(session.output).toContain(
      `Added ${String(lead!['id'])} Helvetia Robotics AG to Nordlicht`,
    );
    expect(session.output).toContain('answered on try 2');
    expect(await demo.evaluation('LeadHasOwner', -1)).toMatchObject({
      decision: 'stop',
      reason: `${String(lead!['id'])} has an owner`,
    });
  });

  it('the second request finds the lead and adds none', async () => {
    const demo = await startDemo();
    const text = 'Add a lead for Helvetia Robotics with the company data filled in';
    await demo.send(text);
    const before = leadsIn(demo, 'Nordlicht');
    const again = await demo.send(text);
    expect(again.status).toBe('completed');
    expect(leadsIn(demo, 'Nordlicht')).toEqual(before);
  });

  it('deletes need approval: approved leads are gone, denied ones stay', async () => {
    const demo = await startDemo();
    const paused = await demo.send('Clean up inactive Alpine leads');
    expect(paused.status).toBe('paused');
    expect(new Set(paused.pendingApprovals.map(({ args }) => args['id']))).toEqual(
      new Set(inactiveAlpine),
    );
    expect(paused.pendingApprovals.find(({ args }) => args['id'] === 'lead_1874')!.args).toEqual({
      id: 'lead_1874',
      company: 'Gotthard Logistics AG',
      program: 'Alpine',
      reason: expect.stringMatching(/^inactive, no activity since \d+ \w+ 20\d\d$/),
      notify_owner: true,
    });
    expect(leadsIn(demo, 'Alpine')).toEqual(expect.arrayContaining(inactiveAlpine));

    const denied = paused.pendingApprovals.find(({ args }) => args['id'] === 'lead_1874')!.callId;
    for (const callId of callIds(paused))
      if (callId === denied)
        await demo.runtime.deny(demo.session.id, callId, { ...ann, reason: 'still talking' });
      else await demo.runtime.approve(demo.session.id, callId, ann);
    const done = await demo.runtime.wait(demo.session.id, ann);
    expect(done.status).toBe('completed');
    expect(leadsIn(demo, 'Alpine').filter((id) => inactiveAlpine.includes(id))).toEqual([
      'lead_1874',
    ]);
    expect(done.output).toContain('2 of 3 leads are gone');
    expect(done.output).toContain(
      'You denied lead_1874 Gotthard Logistics AG (still talking): I left it.',
    );
    expect(done.output).toContain('Greta Hofer was told');
    await isSound(demo.runtime, demo.session.id);
  });

  it('deletes nothing if all calls are denied, and does not ask again', async () => {
    const demo = await startDemo();
    const before = leadsIn(demo, 'Alpine');
    const paused = await demo.send('Clean up inactive Alpine leads');
    const approvals = Object.fromEntries(callIds(paused).map((id) => [id, { deny: 'no' }]));
    const done = await demo.runtime.resume(demo.session.id, { ...waiting, approvals });
    expect(done.status).toBe('completed');
    expect(leadsIn(demo, 'Alpine')).toEqual(before);
    expect(done.output).toContain('0 of 3');
  });

  it('the step limit stops the enrichment, and a grant lets it finish', async () => {
    const demo = await startDemo();
    const stopped = await demo.send('Enrich every lead of the Baltic program');
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', stepCount: 6 });
    const filled = (): number =>
      Number(
        demo.data.one("SELECT count(employees) AS n FROM leads WHERE program_id = 'prg_103'")!['n'],
      );
    const soFar = filled();
    expect(soFar).toBeGreaterThan(0);
    expect(soFar).toBeLessThan(12);
    const grant = (await demo.evaluation('StepsLimit', -1)).remedy!.grant!;
    expect(grant).toEqual({ steps: 6 });
    const done = await demo.runtime.resume(demo.session.id, { ...waiting, grant });
    expect(done.status).toBe('completed');
    expect(done.output).toContain('12 of 12 leads in Baltic have company data now');
    expect(filled()).toBe(12);
    expect((await kinds(demo)).flat().filter((kind) => kind === 'error')).toHaveLength(1);
    await isSound(demo.runtime, demo.session.id);
  });

  it('"continue" instead of a grant resumes the work', async () => {
    const demo = await startDemo();
    await demo.send('Enrich every lead of the Baltic program');
    const done = await demo.send('continue');
    expect(done.status).toBe('completed');
    expect(done.output).toContain('12 of 12 leads in Baltic');
    const looked = (await demo.messages())
      .flatMap(({ toolCalls }) => toolCalls)
      .filter(({ name }) => name === 'enrich_company');
    expect(looked).toHaveLength(13);
  });

  it('the answer is taken from a large report', async () => {
    const demo = await startDemo();
    const session = await demo.send('Show the full Nordlicht report');
    expect(session.status).toBe('completed');
    const report = (await demo.messages()).find((message) => message.isTool());
    expect(report!.text.length).toBeGreaterThan(50_000);
    const { totals } = JSON.parse(report!.text) as { totals: { leads: number; value: number } };
    expect(totals.leads).toBe(leadsIn(demo, 'Nordlicht').length);
    expect(session.output).toContain(
      `${totals.leads} leads worth €${totals.value.toLocaleString('en-US')}`,
    );
    const next = await demo.send('Which programs renew next quarter?');
    expect(next.status).toBe('completed');
  });

  it('the import fails after three retries, and granted retries end with an explanation', async () => {
    const demo = await startDemo();
    const failed = await demo.send('Import the leads from Atlantis');
    expect(failed).toMatchObject({ status: 'failed', stopReason: 'retry_limit', stepCount: 4 });
    const { remedy, reason } = await demo.evaluation('ErrorPolicyCriterion', -1);
    expect(reason).toContain('There is no program');
    const done = await demo.runtime.resume(demo.session.id, { ...waiting, grant: remedy!.grant! });
    expect(done.status).toBe('completed');
    expect(done.output).toContain('nothing was imported');
    expect(done.output).toContain('Nordlicht');
  });

  it('all suggestions work in one long conversation', async () => {
    const { app, runtime } = await openDemo(demoFolder());
    const { id } = await runtime.create(ann);
    for (const text of app.agents[0]!.suggestions!) {
      let session = await runtime.send(id, text, waiting);
      if (session.status === 'paused') {
        const approvals = Object.fromEntries(
          callIds(session).map((callId) => [callId, { approve: true as const }]),
        );
        session = await runtime.resume(id, { ...waiting, approvals });
      }
      expect(['completed', 'stopped', 'failed']).toContain(session.status);
    }
    const state = await runtime.state(id, ann);
    const answers = [...state.messages].filter(
      (m) => m.isAssistant() && /demo model/i.test(m.text),
    );
    expect(answers).toHaveLength(2); // the first message and its answer
    await isSound(runtime, id);
  });
});
