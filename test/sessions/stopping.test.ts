import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { mortal } from '../setup/mortal-store.ts';
import {
  agentWith,
  ann,
  builderWith,
  clientOn,
  followingDriver,
  receiving,
  memoryPlace,
  places,
  runtimeOn,
  takesAnotherTurn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';
import { ended, held } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;

/** Creates a tool that only an abort ends. */
function endless() {
  const signals: AbortSignal[] = [];
  const tool = mockTool('slow', (_args: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  return { tool, signals };
}

describe.each(places)('D48: stop (%s)', (_name, makePlace) => {
  it('from another process reaches the running one long before its lease expires', async () => {
    const place = makePlace();
    const { tool, signals } = endless();
    const make = () => builderWith(followingDriver([toolCall('slow')]), tool).build();
    const lease = { leaseMs: 600_000 };
    const a = runtimeOn(place.open(), make(), { lease });
    const b = runtimeOn(place.open(), make(), { lease });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => signals.length > 0);
    const stopped = await b.stop('s', { ...waiting, reason: 'the user has had enough' });
    expect(signals[0]!.aborted).toBe(true);
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(stopped.outcome!.decisive!.reason).toContain('the user has had enough');
    const [step] = (await b.steps('s', ann)).items;
    expect(step!.results).toMatchObject([
      { kind: 'aborted', value: 'Not finished: the user has had enough.' },
    ]);
    await takesAnotherTurn(place, 's');
  });

  it('of a paused session closes its calls, in any process', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const calls = [{ name: 'pay' }, { name: 'look' }];
    const make = () =>
      builderWith(followingDriver([toolCalls(calls)]), pay, mockTool('look')).build();
    const a = runtimeOn(place.open(), make());
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', waiting);
    const b = runtimeOn(place.open(), make());
    const received = receiving(b);
    expect(await b.stop('s', waiting)).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
      pause: null,
      pendingApprovals: [],
    });
    const [step] = (await b.steps('s', ann)).items;
    expect(step!.results.map(({ kind }) => kind)).toEqual(['aborted', 'ok']);
    expect(typesOf(received).at(-1)).toBe('AgentFinished');
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(place, 's');
  });

  it('before the work begins keeps the message and runs nothing', async () => {
    const place = makePlace();
    const driver = followingDriver([final('never')]);
    const client = clientOn(place.open(), builderWith(driver).build());
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    expect((await client.stop('s', ann)).status).toBe('in_progress');
    const worker = runtimeOn(place.open(), builderWith(driver).build());
    await worker.recover();
    expect(await ended(worker, 's')).toMatchObject({ status: 'stopped', messageCount: 1 });
    expect(driver.requests).toHaveLength(0);
    await takesAnotherTurn(place, 's');
  });

  it('D18: of a session that a dead process left reports the effect of its started call as unknown', async () => {
    const place = makePlace();
    const { tool, signals } = endless();
    const make = () => builderWith(followingDriver([toolCall('slow')]), tool).build();
    const victim = mortal(place.open());
    const lease = { leaseMs: 60, heartbeatMs: 20 };
    const a = runtimeOn(victim.store, make(), { lease });
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => signals.length > 0);
    victim.die();
    const b = runtimeOn(place.open(), make(), { lease });
    await b.stop('s', ann);
    await until(() => b.recover());
    expect(await ended(b, 's')).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
    });
    const [step] = (await b.steps('s', ann)).items;
    expect(step!.results).toMatchObject([{ error: { type: 'unknown', code: 'effect_unknown' } }]);
    expect(tool.calls).toHaveLength(1);
    await takesAnotherTurn(place, 's');
  });

  it('of an idle session changes nothing', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentWith([final('done')]));
    await runtime.create({ ...ann, id: 's' });
    const fresh = await runtime.get('s', ann);
    expect(await runtime.stop('s', waiting)).toEqual(fresh);
    const done = await runtime.send('s', 'go', waiting);
    expect(await runtime.stop('s', { ...waiting, reason: 'late' })).toEqual(done);
    expect(await runtime.pause('s', ann)).toEqual(done);
    await takesAnotherTurn(place, 's');
  });
});

describe('stop', () => {
  it('ends the running execution, and queued messages are worked on', async () => {
    const { tool, signals } = endless();
    const driver = followingDriver([toolCall('slow')], [final('second')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, tool).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', ann);
    const second = runtime.send('s', 'two', { ...waiting, whenBusy: 'queue' });
    await until(() => signals.length > 0);
    await runtime.stop('s', ann);
    expect(await second).toMatchObject({ status: 'completed', output: 'second' });
    const outcomes = (await runtime.steps('s', ann)).items.map(
      ({ outcome }) => outcome!.stopReason,
    );
    expect(outcomes).toEqual(['user_requested', 'completed']);
  });

  it('D45: keeps the text that was streamed so far', async () => {
    const signals: AbortSignal[] = [];
    const driver = {
      name: 'slow',
      infer: () => new Promise<never>(() => {}),
      async *stream(_request: unknown, { signal }: { signal: AbortSignal }) {
        yield { type: 'content', text: 'Half an ans' } as const;
        signals.push(signal);
        await new Promise(() => {});
      },
    };
    const place = memoryPlace();
    const runtime = runtimeOn(place.open(), builderWith(driver).build());
    receiving(runtime);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await until(() => signals.length > 0);
    await runtime.stop('s', waiting);
    const { items } = await runtime.messages('s', ann);
    expect(items.at(-1)).toMatchObject({ role: 'assistant', content: 'Half an ans' });
    await takesAnotherTurn(place, 's');
  });
});

describe('D49, D51: leaving is not stopping', () => {
  it('a listener that throws or leaves does not affect the others', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runtime = runtimeOn(
      memoryPlace().open(),
      agentWith([toolCall('look'), stream(['do', 'ne'])], mockTool('look')),
    );
    await runtime.create({ ...ann, id: 's' });
    const received = receiving(runtime);
    const seen: string[] = [];
    const leave = await runtime.subscribe('s', ann, ({ event }) => {
      seen.push(event.type);
      leave();
    });
    await runtime.subscribe('s', ann, () => {
      throw new Error('sk-live-0123456789abcdef0123 is down');
    });
    expect(await runtime.send('s', 'go', waiting)).toMatchObject({
      status: 'completed',
      output: 'done',
    });
    expect(seen).toEqual(['AgentStarted']);
    const kept = (await runtime.events('s', ann)).events.map(({ seq }) => seq);
    expect(received.flatMap(({ seq }) => seq ?? [])).toEqual(kept);
    expect(reported).toHaveBeenCalled();
    expect(JSON.stringify(reported.mock.calls)).not.toContain('sk-live');
    reported.mockRestore();
  });

  it('a listener gets events of its own session only, until it leaves', async () => {
    const runtime = runtimeOn(
      memoryPlace().open(),
      builderWith(followingDriver([final('one')], [final('two')])).build(),
    );
    const seen: string[] = [];
    for (const id of ['a', 'b']) await runtime.create({ ...ann, id });
    const leave = await runtime.subscribe('a', ann, ({ sessionId, owner }) =>
      seen.push(`${sessionId} ${owner}`),
    );
    await Promise.all(['a', 'b'].map((id) => runtime.send(id, 'go', waiting)));
    expect(new Set(seen)).toEqual(new Set(['a ann']));
    const before = seen.length;
    leave();
    await runtime.send('a', 'go', waiting);
    expect(seen).toHaveLength(before);
  });

  it('the run completes without a waiting caller', async () => {
    const { tool, open, began } = held();
    const runtime = runtimeOn(
      memoryPlace().open(),
      agentWith([toolCall('slow'), final('done')], tool),
    );
    await runtime.create({ ...ann, id: 's' });
    // a request that its server drops is an unobserved promise
    void runtime.send('s', 'go', waiting);
    await began();
    open();
    expect(await ended(runtime, 's')).toMatchObject({ status: 'completed', output: 'done' });
  });
});
