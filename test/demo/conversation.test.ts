import { describe, expect, it } from 'vitest';
import { ann, callIds, receiving, until, waiting } from '../setup/sessions.ts';
import { startDemo, type Demo } from './setup.ts';

const lead = ({ data }: Demo, id: string) => data.one('SELECT * FROM leads WHERE id = ?', id);

const lastCall = async (demo: Demo) =>
  (await demo.messages()).flatMap(({ toolCalls }) => toolCalls).at(-1);

describe('the demo model reads the message', () => {
  it('says that it did not understand, also in a later turn', async () => {
    const demo = await startDemo();
    await demo.send('gold programs');
    const session = await demo.send('sing me a song');
    expect(session.output).toMatch(/^I am the demo model and did not understand/);
  });

  it('takes numbers and names from the database', async () => {
    const demo = await startDemo();
    demo.data.run(
      "UPDATE leads SET value = 999999, company = 'Ganz Anders AG' WHERE id = 'lead_2118'",
    );
    const { output } = await demo.send('new leads in Alpine');
    expect(output).toContain('lead_2118 Ganz Anders AG: new, €999,999');
    demo.data.run("UPDATE leads SET status = 'won' WHERE program_id = 'prg_102'");
    expect((await demo.send('new leads in Alpine')).output).toContain(
      'There is no lead with status new in Alpine',
    );
  });
});

describe('follow-ups', () => {
  it('"yes" does what was offered, and "no" does not', async () => {
    const demo = await startDemo();
    await demo.send('Which programs renew this quarter?');
    const { output } = await demo.send('yes please');
    expect(output).toMatch(/8 leads in Nordlicht/);
    await demo.send('find duplicates');
    expect((await demo.send('no thanks')).output).toContain('leave it');
  });

  it('an offered delete needs approval and keeps its reason', async () => {
    const demo = await startDemo();
    await demo.send('Add a lead for Helvetia Robotics');
    const paused = await demo.send('Yes!');
    expect(paused.status).toBe('paused');
    expect(paused.pendingApprovals).toMatchObject([
      { args: { id: 'lead_2207', company: 'Helvetia Robotic', reason: 'duplicate of lead_2208' } },
    ]);
    await demo.runtime.approve(demo.session.id, callIds(paused)[0]!, waiting);
    expect(lead(demo, 'lead_2207')).toBeUndefined();
    expect(lead(demo, 'lead_2208')).toBeDefined();
  });

  it.each([
    ['the second one', 1, 'get_lead'],
    ['number 3', 2, 'get_lead'],
    ['show me the last one', -1, 'get_lead'],
    ['delete the first one', 0, 'delete_lead'],
  ])('"%s" refers to that lead of the last list', async (text, place, tool) => {
    const demo = await startDemo();
    await demo.send('leads in Nordlicht');
    const list = (await demo.messages()).findLast((message) => message.isTool())!;
    const { leads } = JSON.parse(list.text) as { leads: { id: string }[] };
    await demo.send(text);
    expect(await lastCall(demo)).toMatchObject({ name: tool, args: { id: leads.at(place)!.id } });
  });

  it('"delete it" refers to the last lead that was mentioned', async () => {
    const demo = await startDemo();
    await demo.send('show lead_2106');
    const paused = await demo.send('delete it because they went elsewhere');
    expect(paused.pendingApprovals).toMatchObject([
      { args: { id: 'lead_2106', reason: 'they went elsewhere' } },
    ]);
  });

  it('asks for a missing program and accepts its bare name as the answer', async () => {
    const demo = await startDemo();
    const asked = await demo.send('Add a lead for Foo Industries');
    expect(asked.output).toContain('Which program should Foo Industries go to?');
    const done = await demo.send('Danube');
    expect(done.output).toContain('Foo Industries to Danube');
    expect(demo.data.one("SELECT owner FROM leads WHERE company = 'Foo Industries'")).toEqual({
      owner: 'Greta Hofer',
    });
  });

  it('answers thanks', async () => {
    const demo = await startDemo();
    await demo.send('gold programs');
    expect((await demo.send('thanks!')).output).toBe('You are welcome.');
  });
});

describe('failures and edits in the demo', () => {
  it('reports a lead that does not exist', async () => {
    const demo = await startDemo();
    const session = await demo.send('delete lead_1');
    expect(session.status).toBe('completed');
    expect(session.output).toContain('There is no lead "lead_1"');
  });

  it('follows arguments that the approver edited', async () => {
    const demo = await startDemo();
    const paused = await demo.send('delete lead_2207');
    const [{ callId, args }] = paused.pendingApprovals as [(typeof paused.pendingApprovals)[0]];
    const changed = { ...args, id: 'lead_2106', company: 'Skagerrak Foods AS' };
    const done = await demo.runtime.approve(demo.session.id, callId, { ...waiting, args: changed });
    expect(done.status).toBe('completed');
    expect(done.output).toContain('Deleted lead_2106 Skagerrak Foods AS');
    expect(lead(demo, 'lead_2207')).toBeDefined();
    expect(lead(demo, 'lead_2106')).toBeUndefined();
  });

  it('never deletes a company other than the approved one', async () => {
    const demo = await startDemo();
    const paused = await demo.send('delete lead_2207');
    const [{ callId, args }] = paused.pendingApprovals as [(typeof paused.pendingApprovals)[0]];
    const done = await demo.runtime.approve(demo.session.id, callId, {
      ...waiting,
      args: { ...args, id: 'lead_2106' },
    });
    expect(done.output).toContain('Nothing was deleted');
    expect(lead(demo, 'lead_2106')).toBeDefined();
  });

  it('LeadHasOwner asks once for a missing owner, and the run continues', async () => {
    const demo = await startDemo();
    const session = await demo.send('Add a lead for Tatra Steel to Baltic without an owner');
    expect(session.status).toBe('completed');
    expect(
      demo.data.one(
        "SELECT owner FROM leads WHERE company = 'Tatra Steel as' AND program_id = 'prg_103'",
      ),
    ).toEqual({
      owner: 'Jonas Weber',
    });
    const evaluations = (await demo.steps()).map(
      ({ outcome }) =>
        outcome!.evaluations.find(({ criterion }) => criterion === 'LeadHasOwner')!.decision,
    );
    expect(evaluations).toEqual(['allow', 'allow', 'allow', 'request', 'stop', 'stop']);
  });

  it('"act busy" gets one 429, waits and answers', async () => {
    const demo = await startDemo();
    const session = await demo.send('Which programs renew this quarter, and act busy');
    expect(session).toMatchObject({ status: 'completed', stepCount: 3 });
    expect(session.output).toContain('renew this quarter');
    const [refused, next] = await demo.steps();
    expect(refused).toMatchObject({
      type: 'error',
      waitMs: 20,
      errors: [{ type: 'rate_limit', status: 429, retryable: true, retryAfterMs: 20 }],
    });
    expect(next).toMatchObject({ attempt: 2, type: 'tool_calls' });
    expect(next!.waitedMs).toBeGreaterThan(0);
    const later = await demo.send('act busy');
    expect(later).toMatchObject({ status: 'completed' });
    expect(later.output).toContain('429');
  });

  it('a lookup of the slow company times out and is retried', async () => {
    const demo = await startDemo();
    const session = await demo.send('look up tajo-maritima.example');
    expect(session.output).toContain('Tajo Marítima SL: 230 people, Lisboa');
    const [first] = await demo.steps();
    expect(first!.results).toMatchObject([{ kind: 'timeout', error: { code: 'tool_timeout' } }]);
  });

  it('a stop ends the run at once, and a grant continues it', async () => {
    const demo = await startDemo({ chunkDelayMs: 25 });
    const { id } = demo.session;
    const received = receiving(demo.runtime);
    // this lookup never answers, so only the stop ends the wait before the tool timeout of three
    // seconds
    await demo.runtime.send(id, 'look up tajo-maritima.example', ann);
    await until(() => received.some(({ event }) => event.type === 'ToolCallStarted'));
    const stopped = await demo.runtime.stop(id, waiting);
    expect(stopped.stopReason).toBe('user_requested');
    expect((await demo.steps()).at(-1)!.results).toMatchObject([{ kind: 'aborted' }]);
    const done = await demo.runtime.resume(id, { ...waiting, grant: { steps: 6 } });
    expect(done.status).toBe('completed');
    expect(done.output).toContain('Tajo Marítima SL');
  }, 20_000);
});
