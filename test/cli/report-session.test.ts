import { describe, expect, it } from 'vitest';
import type { AgentEvent } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { reportSession } from '../../src/cli/report-session.ts';
import { followingDriver, runtimeOn, sqlitePlace, until } from '../setup/sessions.ts';
import { agentOn, owner } from './cli.ts';

const { toolCall, final } = ScenarioStep;
const executionId = 'e1';

describe('the report of a session', () => {
  it.each(['in this process', 'in another process'])(
    'has every event once and in order if the run is %s',
    async (where) => {
      const place = sqlitePlace();
      const driver = followingDriver([toolCall('stock', { article: 'a' }), final('done')]);
      const worker = runtimeOn(place.open(), agentOn(driver));
      const watcher =
        where === 'in this process' ? worker : runtimeOn(place.open(), agentOn(followingDriver()));
      const { id } = await worker.create(owner);
      const reported: { readonly event: AgentEvent; readonly seq: number | null }[] = [];
      const report = reportSession(
        watcher,
        { sessionId: id, ...owner },
        { executionId, after: 0 },
        { event: (event, seq) => void reported.push({ event, seq }), note: () => {} },
      );
      await worker.send(id, 'go', { ...owner, executionId, wait: true });
      if (where === 'in another process')
        await until(() => reported.some(({ event }) => event.type === 'AgentFinished'));
      await report.catchUp();
      await report.leave();
      const numbers = reported.map(({ seq }) => seq).filter((seq) => seq !== null);
      const { events } = await worker.events(id, owner);
      expect(numbers).toEqual(events.map(({ seq }) => seq));
      expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    },
  );

  it('has events that another process wrote in between', async () => {
    const place = sqlitePlace();
    const driver = followingDriver([
      toolCall('delete_lead', { id: 1 }),
      toolCall('delete_lead', { id: 2 }),
      final('done'),
    ]);
    const [ours, theirs] = [
      runtimeOn(place.open(), agentOn(driver)),
      runtimeOn(place.open(), agentOn(driver)),
    ];
    const { id } = await ours.create(owner);
    const numbers: (number | null)[] = [];
    const report = reportSession(
      ours,
      { sessionId: id, ...owner },
      { executionId, after: 0 },
      { event: (_event, seq) => void (seq !== null && numbers.push(seq)), note: () => {} },
    );
    let session = await ours.send(id, 'go', { ...owner, executionId, wait: true });
    session = await theirs.approve(id, session.pendingApprovals[0]!.callId, {
      ...owner,
      wait: true,
    });
    session = await ours.approve(id, session.pendingApprovals[0]!.callId, { ...owner, wait: true });
    expect(session.status).toBe('completed');
    await report.catchUp();
    await report.leave();
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    expect(numbers).toHaveLength((await ours.events(id, owner)).events.length);
  });

  it('has no events that were reported before, and none of other executions', async () => {
    const place = sqlitePlace();
    const runtime = runtimeOn(
      place.open(),
      agentOn(followingDriver([final('one')], [final('two')])),
    );
    const { id } = await runtime.create(owner);
    await runtime.send(id, 'a', { ...owner, executionId, wait: true });
    const { seq: after } = await runtime.events(id, owner);
    const reported: string[] = [];
    const report = reportSession(
      runtime,
      { sessionId: id, ...owner },
      { executionId, after },
      {
        event: ({ type }) => void reported.push(type),
        note: (line) => void reported.push(line ?? ''),
      },
    );
    await runtime.send(id, 'b', { ...owner, executionId: 'e2', wait: true });
    await report.catchUp();
    await report.leave();
    expect(reported).toEqual([]);
  });
});
