import type { SessionRuntime, SessionStore } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  clientOn,
  codeOf,
  followingDriver,
  gate,
  hearing,
  isSound,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;

/** A tool that only an abort ends. */
function endless() {
  const signals: AbortSignal[] = [];
  const tool = mockTool('slow', (_args: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  return { tool, signals };
}

/** A tool that waits until it is let go. */
function held() {
  const open = gate();
  const tool = mockTool('slow', () => open.passed.then(() => 'ok'));
  return { tool, open: open.open, began: () => until(() => tool.calls.length > 0) };
}

const ended = (runtime: SessionRuntime, id: string) =>
  until(async () => {
    const session = await runtime.get(id, ann);
    return session.status === 'in_progress' ? null : session;
  });

describe.each(places)('D48: stop (%s)', (_name, makePlace) => {
  it('from another process reaches the running one within a second', async () => {
    const place = makePlace();
    const { tool, signals } = endless();
    const make = () => builderWith(followingDriver([toolCall('slow')]), tool).build();
    const a = runtimeOn(place.open(), make());
    const b = runtimeOn(place.open(), make());
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await until(() => signals.length > 0);
    const asked = performance.now();
    const stopped = await b.stop('s', { ...waiting, reason: 'the user has had enough' });
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(signals[0]!.aborted).toBe(true);
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(stopped.outcome!.decisive!.reason).toContain('the user has had enough');
    const [step] = (await b.steps('s', ann)).items;
    expect(step!.results).toMatchObject([
      { kind: 'aborted', value: 'Not finished: the user has had enough.' },
    ]);
    await takesAnotherTurn(place, 's');
  });

  it('of a paused session seals its calls, in whatever process', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const calls = [{ name: 'pay' }, { name: 'look' }];
    const make = () => builderWith(followingDriver([toolCalls(calls)]), pay, mockTool('look')).build();
    const a = runtimeOn(place.open(), make());
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', waiting);
    const b = runtimeOn(place.open(), make());
    const heard = hearing(b);
    expect(await b.stop('s', waiting)).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
      pause: null,
      pendingApprovals: [],
    });
    const [step] = (await b.steps('s', ann)).items;
    expect(step!.results.map(({ kind }) => kind)).toEqual(['aborted', 'ok']);
    expect(typesOf(heard).at(-1)).toBe('AgentFinished');
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(place, 's');
  });

  it('before the work began: the message is kept, and nothing else happens', async () => {
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
  it('ends the execution that runs; what waits behind it is worked on', async () => {
    const { tool, signals } = endless();
    const driver = followingDriver([toolCall('slow')], [final('second')]);
    const runtime = runtimeOn(memoryPlace().open(), builderWith(driver, tool).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', ann);
    const second = runtime.send('s', 'two', { ...waiting, whenBusy: 'queue' });
    await until(() => signals.length > 0);
    await runtime.stop('s', ann);
    expect(await second).toMatchObject({ status: 'completed', output: 'second' });
    const outcomes = (await runtime.steps('s', ann)).items.map(({ outcome }) => outcome!.stopReason);
    expect(outcomes).toEqual(['user_requested', 'completed']);
  });

  it('D45: keeps the text that had arrived', async () => {
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
    const runtime = runtimeOn(place.open(), builderWith(driver as never).build());
    hearing(runtime);
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
  it('a listener that throws, and one that leaves, change nothing for the others', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runtime = runtimeOn(
      memoryPlace().open(),
      agentWith([toolCall('look'), stream(['do', 'ne'])], mockTool('look')),
    );
    await runtime.create({ ...ann, id: 's' });
    const heard = hearing(runtime);
    const seen: string[] = [];
    const leave = await runtime.subscribe('s', ann, ({ event }) => {
      seen.push(event.type);
      leave();
    });
    await runtime.subscribe('s', ann, () => {
      throw new Error('sk-live-0123456789abcdef0123 is down');
    });
    expect(await runtime.send('s', 'go', waiting)).toMatchObject({ status: 'completed', output: 'done' });
    expect(seen).toEqual(['AgentStarted']);
    const kept = (await runtime.events('s', ann)).events.map(({ seq }) => seq);
    expect(heard.flatMap(({ seq }) => seq ?? [])).toEqual(kept);
    expect(told).toHaveBeenCalled();
    expect(JSON.stringify(told.mock.calls)).not.toContain('sk-live');
    told.mockRestore();
  });

  it('hears its own session only, while it listens', async () => {
    const runtime = runtimeOn(
      memoryPlace().open(),
      builderWith(followingDriver([final('one')], [final('two')])).build(),
    );
    const seen: string[] = [];
    for (const id of ['a', 'b']) await runtime.create({ ...ann, id });
    const leave = await runtime.subscribe('a', ann, ({ sessionId, owner }) => seen.push(`${sessionId} ${owner}`));
    await Promise.all(['a', 'b'].map((id) => runtime.send(id, 'go', waiting)));
    expect(new Set(seen)).toEqual(new Set(['a ann']));
    const before = seen.length;
    leave();
    await runtime.send('a', 'go', waiting);
    expect(seen).toHaveLength(before);
  });

  it('nobody who waits: the run ends all the same', async () => {
    const { tool, open, began } = held();
    const runtime = runtimeOn(memoryPlace().open(), agentWith([toolCall('slow'), final('done')], tool));
    await runtime.create({ ...ann, id: 's' });
    // a request that is dropped by its server is just a promise nobody looks at
    void runtime.send('s', 'go', waiting);
    await began();
    open();
    expect(await ended(runtime, 's')).toMatchObject({ status: 'completed', output: 'done' });
  });
});

describe.each(places)('pause and resume (%s)', (_name, makePlace) => {
  it('takes effect after the step, and resume goes on', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const make = () => builderWith(followingDriver([toolCall('slow'), final('done')]), tool).build();
    const store = place.open();
    let looks = 0;
    const signals: SessionStore['signals'] = async (worker) => {
      const seen = await store.signals(worker);
      looks += 1;
      return seen;
    };
    const a = runtimeOn({ ...store, signals }, make(), { lease: { signalMs: 20 } });
    const b = runtimeOn(place.open(), make());
    await a.create({ ...ann, id: 's' });
    await a.send('s', 'go', ann);
    await began();
    expect((await b.pause('s', { ...ann, reason: 'lunch' })).status).toBe('in_progress');
    const before = looks;
    await until(() => looks > before + 1);
    open();
    const paused = await ended(b, 's');
    expect(paused).toMatchObject({
      status: 'paused',
      pause: { kind: 'requested', reason: 'lunch' },
      stepCount: 1,
      stopReason: null,
    });
    expect(await codeOf(() => b.send('s', 'more', ann))).toBe('awaiting_approval');
    const state = await b.state('s', ann);
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'ok', value: 'ok' }]);
    const done = await b.resume('s', waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done', stepCount: 2 });
    expect(done.executionId).toBe(paused.executionId);
    await takesAnotherTurn(place, 's');
  });

  it('of a run that is about to end leaves it alone', async () => {
    const place = makePlace();
    const [open, asked] = [gate(), gate()];
    const driver = followingDriver([final('done')]);
    const infer: typeof driver.infer = async (...given) => {
      asked.open();
      await open.passed;
      return driver.infer(...given);
    };
    const runtime = runtimeOn(place.open(), builderWith({ name: 'slow', infer }).build());
    await runtime.create({ ...ann, id: 's' });
    const sent = runtime.send('s', 'go', waiting);
    await asked.passed;
    await runtime.pause('s', ann);
    open.open();
    expect((await sent).status).toBe('completed');
    // and is not remembered
    await takesAnotherTurn(place, 's');
  });

  it('before the work began: nothing is asked of the model until it is resumed', async () => {
    const place = makePlace();
    const driver = followingDriver([final('done')]);
    const client = clientOn(place.open(), builderWith(driver).build());
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    await client.pause('s', ann);
    const worker = runtimeOn(place.open(), builderWith(driver).build());
    await worker.recover();
    expect(await ended(worker, 's')).toMatchObject({ status: 'paused', pause: { kind: 'requested' } });
    expect(driver.requests).toHaveLength(0);
    expect(await worker.resume('s', waiting)).toMatchObject({ status: 'completed', output: 'done' });
    await takesAnotherTurn(place, 's');
  });

  it('on a step that asks for approval: the approval is what it waits for', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const calls = [{ name: 'slow' }, { name: 'pay' }];
    const runtime = runtimeOn(place.open(), agentWith([toolCalls(calls), final('done')], tool, pay));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    await began();
    await runtime.pause('s', ann);
    open();
    const paused = await ended(runtime, 's');
    expect(paused.pause).toMatchObject({ kind: 'approval' });
    expect(await codeOf(() => runtime.resume('s', ann))).toBe('awaiting_approval');
    expect((await runtime.approve('s', callIds(paused)[0]!, waiting)).output).toBe('done');
    await takesAnotherTurn(place, 's');
  });

  it('with a message behind it: resume goes on with what was begun, then comes the message', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const driver = followingDriver([toolCall('slow'), final('first')], [final('second')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, tool).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'one', ann);
    await began();
    const second = runtime.send('s', 'two', { ...waiting, whenBusy: 'queue' });
    await until(async () => (await place.open().nextCommand('s')) !== null);
    await runtime.pause('s', ann);
    open();
    expect((await ended(runtime, 's')).status).toBe('paused');
    await runtime.resume('s', ann);
    expect(await second).toMatchObject({ status: 'completed', output: 'second' });
    const said = (await runtime.messages('s', ann)).items.map(({ content }) => content);
    expect(said).toEqual(['one', '', 'ok', 'first', 'two', 'second']);
  });
});

describe.each(places)('D36: a limit stop (%s)', (_name, makePlace) => {
  const steps = Array.from({ length: 6 }, () => toolCall('look'));
  const make = () =>
    builderWith(followingDriver([...steps, final('done')]), mockTool('look')).withMaxSteps(2).build();

  it('is resumed with a grant, refused without, and a grant counts once', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), make());
    await runtime.create({ ...ann, id: 's' });
    const stopped = await runtime.send('s', 'go', waiting);
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', stepCount: 2 });
    const bare = await refusal(() => runtime.resume('s', ann));
    expect(bare.code).toBe('not_resumable');
    expect(bare.message).toContain('grant: { steps:');
    const wrong = await refusal(() => runtime.resume('s', { ...ann, grant: { tokens: 100 } }));
    expect(wrong).toMatchObject({ code: 'not_resumable', details: { missing: ['steps'] } });
    expect(await codeOf(() => runtime.resume('s', { ...ann, grant: { steps: -1 } }))).toBe('invalid_option');
    expect(await runtime.get('s', ann)).toEqual(stopped);
    // another process goes on, as far as the grant leads
    const other = runtimeOn(place.open(), make());
    const again = await other.resume('s', { ...waiting, grant: { steps: 2 } });
    expect(again).toMatchObject({ stopReason: 'steps_limit', stepCount: 4 });
    expect(await codeOf(() => other.resume('s', ann))).toBe('not_resumable');
    const done = await other.resume('s', { ...waiting, grant: { steps: 10 } });
    expect(done).toMatchObject({ status: 'completed', output: 'done', stepCount: 7 });
    expect(done.executionId).toBe(stopped.executionId);
    expect(await codeOf(() => other.resume('s', { ...ann, grant: { steps: 1 } }))).toBe('not_resumable');
    await isSound(other, 's');
    await takesAnotherTurn(place, 's');
  });

  it('what nobody has begun, and what has ended well, is not resumed', async () => {
    const runtime = runtimeOn(makePlace().open(), agentWith([final('done')]));
    await runtime.create({ ...ann, id: 's' });
    expect(await codeOf(() => runtime.resume('s', ann))).toBe('not_resumable');
    await runtime.send('s', 'go', waiting);
    expect(await codeOf(() => runtime.resume('s', { ...ann, grant: { steps: 1 } }))).toBe('not_resumable');
  });

  it('an answer and a grant together', async () => {
    const place = makePlace();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('pay'), toolCall('pay'), final('done')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, pay).withMaxSteps(1).build());
    await runtime.create({ ...ann, id: 's' });
    const first = await runtime.send('s', 'go', waiting);
    const approvals = { [callIds(first)[0]!]: { approve: true } } as const;
    const second = await runtime.resume('s', { ...waiting, approvals, grant: { steps: 5 } });
    expect(second.status).toBe('paused');
    const done = await runtime.approve('s', callIds(second)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
    expect((await runtime.state('s', ann)).execution.grants).toEqual({ steps: 5 });
  });
});

describe('a store that fails for a moment', () => {
  it.each(['before it wrote', 'after it wrote'])('does not disturb the run (%s)', async (when) => {
    const place = memoryPlace();
    const store = place.open();
    let tries = 0;
    const commit: SessionStore['commit'] = async (given) => {
      tries += 1;
      const fails = tries % 3 !== 0;
      if (fails && when === 'before it wrote') throw new Error('connection reset');
      const receipt = await store.commit(given);
      if (fails) throw new Error('connection reset');
      return receipt;
    };
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const look = mockTool('look', 'seen');
    const driver = followingDriver([toolCalls([{ name: 'look' }, { name: 'pay' }]), final('done')]);
    const runtime = runtimeOn({ ...store, commit }, builderWith(driver, pay, look).build());
    const heard = hearing(runtime);
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    const done = await runtime.approve('s', callIds(paused)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done', usage: { total: 30 } });
    expect([look.calls.length, pay.calls.length]).toEqual([1, 1]);
    const kept = (await runtime.events('s', ann)).events.map(({ seq }) => seq);
    // what is in the store may be heard a little later
    await until(() => heard.at(-1)?.seq === kept.length);
    expect(heard.flatMap(({ seq }) => seq ?? [])).toEqual(kept);
    await isSound(runtime, 's');
    await takesAnotherTurn(place, 's');
  });
});
