import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  clientOn,
  codeOf,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  takesAnotherTurn,
  until,
  waiting,
} from '../setup/sessions.ts';
import { ended, held } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe.each(places)('pause and resume (%s)', (_name, makePlace) => {
  it('pauses after the step, and resume continues', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const make = () =>
      builderWith(followingDriver([toolCall('slow'), final('done')]), tool).build();
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

  it('does not pause a run that is about to end', async () => {
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
    // and the request is not kept
    await takesAnotherTurn(place, 's');
  });

  it('pauses before the work begins, without a model call until it is resumed', async () => {
    const place = makePlace();
    const driver = followingDriver([final('done')]);
    const client = clientOn(place.open(), builderWith(driver).build());
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    await client.pause('s', ann);
    const worker = runtimeOn(place.open(), builderWith(driver).build());
    await worker.recover();
    expect(await ended(worker, 's')).toMatchObject({
      status: 'paused',
      pause: { kind: 'requested' },
    });
    expect(driver.requests).toHaveLength(0);
    expect(await worker.resume('s', waiting)).toMatchObject({
      status: 'completed',
      output: 'done',
    });
    await takesAnotherTurn(place, 's');
  });

  it('waits for the approval if the step asks for one', async () => {
    const place = makePlace();
    const { tool, open, began } = held();
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const calls = [{ name: 'slow' }, { name: 'pay' }];
    const runtime = runtimeOn(
      place.open(),
      agentWith([toolCalls(calls), final('done')], tool, pay),
    );
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

  it('finishes the paused execution after resume, then works on the queued message', async () => {
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
    builderWith(followingDriver([...steps, final('done')]), mockTool('look'))
      .withMaxSteps(2)
      .build();

  it('is resumed with a grant, rejected without one, and a grant counts once', async () => {
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
    expect(await codeOf(() => runtime.resume('s', { ...ann, grant: { steps: -1 } }))).toBe(
      'invalid_option',
    );
    expect(await runtime.get('s', ann)).toEqual(stopped);
    // another process continues up to the grant
    const other = runtimeOn(place.open(), make());
    const again = await other.resume('s', { ...waiting, grant: { steps: 2 } });
    expect(again).toMatchObject({ stopReason: 'steps_limit', stepCount: 4 });
    expect(await codeOf(() => other.resume('s', ann))).toBe('not_resumable');
    const done = await other.resume('s', { ...waiting, grant: { steps: 10 } });
    expect(done).toMatchObject({ status: 'completed', output: 'done', stepCount: 7 });
    expect(done.executionId).toBe(stopped.executionId);
    expect(await codeOf(() => other.resume('s', { ...ann, grant: { steps: 1 } }))).toBe(
      'not_resumable',
    );
    await isSound(other, 's');
    await takesAnotherTurn(place, 's');
  });

  it('rejects resume for an execution that has not begun or has completed', async () => {
    const runtime = runtimeOn(makePlace().open(), agentWith([final('done')]));
    await runtime.create({ ...ann, id: 's' });
    expect(await codeOf(() => runtime.resume('s', ann))).toBe('not_resumable');
    await runtime.send('s', 'go', waiting);
    expect(await codeOf(() => runtime.resume('s', { ...ann, grant: { steps: 1 } }))).toBe(
      'not_resumable',
    );
  });

  it('accepts an answer and a grant together', async () => {
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

describe('a store that fails temporarily', () => {
  it.each(['before it wrote', 'after it wrote'])('does not affect the run (%s)', async (when) => {
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
    const received = receiving(runtime);
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    const done = await runtime.approve('s', callIds(paused)[0]!, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done', usage: { total: 30 } });
    expect([look.calls.length, pay.calls.length]).toEqual([1, 1]);
    const kept = (await runtime.events('s', ann)).events.map(({ seq }) => seq);
    // listeners may get stored events a little later
    await until(() => received.at(-1)?.seq === kept.length);
    expect(received.flatMap(({ seq }) => seq ?? [])).toEqual(kept);
    await isSound(runtime, 's');
    await takesAnotherTurn(place, 's');
  });
});

describe.each(places)('a resume that the agent refuses (%s)', (_name, makePlace) => {
  it('is dropped and reported, and the session is unchanged', async () => {
    const store = makePlace().open();
    const failures: unknown[] = [];
    const driver = followingDriver([final('one')], [final('two')]);
    const runtime = runtimeOn(store, builderWith(driver).build(), {
      onError: (error) => failures.push(error),
    });
    await runtime.create({ ...ann, id: 's' });
    const before = await runtime.send('s', 'go', waiting);
    // as a process writes it that saw the execution open
    await store.accept(
      's',
      {
        kind: 'resume',
        executionId: before.executionId!,
        body: '{"grant":null}',
        at: new Date().toISOString(),
      },
      { phases: ['idle'] },
    );
    await runtime.recover();
    await until(() => failures.length > 0);
    expect(failures).toMatchObject([{ code: 'not_resumable' }]);
    const { phase, status, tries, output } = await runtime.wait('s', ann);
    expect({ phase, status, tries, output }).toEqual({
      phase: 'idle',
      status: 'completed',
      tries: 0,
      output: 'one',
    });
    expect(await runtime.send('s', 'and now?', waiting)).toMatchObject({ output: 'two' });
    expect(failures).toHaveLength(1);
  });
});
