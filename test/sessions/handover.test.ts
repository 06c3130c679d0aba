import { createAgent, type InferenceDriver, type SessionRuntime } from 'onward';
import { inProcessBus } from 'onward/bus';
import { readTrace } from 'onward/server';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  followingDriver,
  gate,
  receiving,
  isSound,
  places,
  runtimeOn,
  takesAnotherTurn,
  typesOf,
  until,
  type Gate,
  type Place,
} from '../setup/sessions.ts';
import { ended, held, unknownEffects } from '../setup/session-moments.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const GRACE = { graceMs: 30 };

/** Streams a few words with the tokens of the prompt, then nothing more. */
const hangingDriver = (entered: Gate): InferenceDriver => ({
  name: 'hanging',
  infer: () => new Promise(() => entered.open()),
  async *stream() {
    yield { type: 'usage', usage: { input: 7 } };
    yield { type: 'content', text: 'Half an ans' };
    entered.open();
    await new Promise(() => {});
  },
});

async function sent(runtime: SessionRuntime): Promise<void> {
  await runtime.create({ ...ann, id: 's' });
  await runtime.send('s', 'go', ann);
}

const rowOf = (place: Place) => place.open().find('s');
const free = { phase: 'open', worker: null, isLeased: false, tries: 0, deaths: 0 };

describe.each(places)('the end of the grace (%s)', (_name, makePlace) => {
  it('drops a model call, keeps its known usage and releases the lease', async () => {
    const place = makePlace();
    const entered = gate();
    const a = runtimeOn(place.open(), builderWith(hangingDriver(entered)).build());
    const received = receiving(a);
    await sent(a);
    await entered.passed;
    await a.close(GRACE);
    expect(await rowOf(place)).toMatchObject({ ...free, stepCount: 0 });
    expect(typesOf(received).slice(-2)).toEqual(['StreamDiscarded', 'AgentPaused']);
    expect(received.at(-1)!.event).toMatchObject({ kind: 'handover' });

    const b = runtimeOn(place.open(), builderWith(followingDriver([final('done')])).build());
    const seen = receiving(b);
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    const { execution, messages } = await b.state('s', ann);
    const scripted = (await b.steps('s', ann)).items[0]!.usage;
    expect(execution.usage.input).toBe(7 + scripted.input);
    expect(execution).toMatchObject({ stepCount: 1, stopRequest: null });
    expect([...messages].map(({ text }) => text)).toEqual(['go', 'done']);
    const chunk = seen.find(({ event }) => event.type === 'StreamChunk');
    expect(chunk?.event).toMatchObject({ restart: 1 });
    expect((await readTrace(b, 's', ann)).pauses).toMatchObject([{ kind: 'handover' }]);
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });

  it('keeps finished results, and reports a tool that still runs as lost', async () => {
    const place = makePlace();
    const { tool: slow, open, began } = held();
    const look = mockTool('look', 'seen');
    const script = [toolCalls([{ name: 'look' }, { name: 'slow' }]), final('done')];
    const driver = followingDriver(script);
    const agent = () => builderWith(driver, slow, look).withErrorPolicy(unknownEffects).build();
    const a = runtimeOn(place.open(), agent());
    await sent(a);
    await began();
    await until(() => look.calls.length === 1);
    await a.close(GRACE);
    expect(slow.contexts[0]!.signal.aborted).toBe(true);
    expect(await rowOf(place)).toMatchObject(free);

    const b = runtimeOn(place.open(), agent());
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    open();
    expect([look.calls.length, slow.calls.length, driver.requests.length]).toEqual([1, 1, 2]);
    const { results } = (await b.steps('s', ann)).items[0]!;
    expect(results[0]).toMatchObject({ kind: 'ok', value: 'seen' });
    expect(results[1]).toMatchObject({ kind: 'error', error: { code: 'effect_unknown' } });
    const { pauses, totals } = await readTrace(b, 's', ann);
    expect(pauses).toMatchObject([{ kind: 'handover', step: 1 }]);
    expect(totals.pausedMs).toBe(0);
    await isSound(b, 's');
    await takesAnotherTurn(place, 's');
  });

  it('runs an idempotent tool again, and a call that had not begun once', async () => {
    const place = makePlace();
    const look = mockTool('look', 'seen');
    // more than run at a time: the last one has not begun
    const calls = [...Array.from({ length: 8 }, () => ({ name: 'slow' })), { name: 'look' }];
    const hanging = mockTool('slow', () => new Promise(() => {}), { idempotent: true });
    const quick = mockTool('slow', 'ok', { idempotent: true });
    const script = () => followingDriver([toolCalls(calls), final('done')]);
    const a = runtimeOn(place.open(), builderWith(script(), hanging, look).build());
    await sent(a);
    await until(() => hanging.calls.length === 8);
    await a.close(GRACE);
    expect(look.calls).toEqual([]);
    const b = runtimeOn(place.open(), builderWith(script(), quick, look).build());
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect([quick.calls.length, look.calls.length]).toEqual([8, 1]);
    await isSound(b, 's');
  });

  it('hands over an agent behind a call with what it has done and used', async () => {
    const place = makePlace();
    const entered = gate();
    const look = mockTool('look', 'seen');
    const script = [toolCall('look'), final('found')];
    const inner = followingDriver(script);
    const hanging = hangingDriver(entered);
    /** Answers the first step, and hangs in the second. */
    const half: InferenceDriver = {
      ...hanging,
      stream: (request, options) =>
        (inner.requests.length === 0 ? inner : hanging).stream!(request, options),
    };
    const root = (driver: InferenceDriver) => {
      const helper = createAgent({ name: 'helper', driver, tools: [look] });
      const ask = helper.asTool({ name: 'ask', description: 'Asks the helper.' });
      const outer = followingDriver([toolCall('ask', { input: 'find it' }), final('done')]);
      return builderWith(outer, ask).build();
    };
    const a = runtimeOn(place.open(), root(half));
    receiving(a);
    await sent(a);
    await entered.passed;
    await a.close(GRACE);
    expect(await rowOf(place)).toMatchObject(free);

    const b = runtimeOn(place.open(), root(followingDriver(script)));
    expect(await b.recover()).toBe(1);
    expect(await ended(b, 's')).toMatchObject({ status: 'completed', output: 'done' });
    expect(look.calls).toHaveLength(1);
    const { execution } = await b.state('s', ann);
    const whole = runtimeOn(makePlace().open(), root(followingDriver(script)));
    await sent(whole);
    await ended(whole, 's');
    const undisturbed = (await whole.state('s', ann)).execution;
    expect(execution.usage.input).toBe(undisturbed.usage.input + 7);
    expect(execution.usage.output).toBe(undisturbed.usage.output);
    await isSound(b, 's');
  });

  it('wakes another worker over a bus', async () => {
    const place = makePlace();
    const bus = inProcessBus();
    const entered = gate();
    const a = runtimeOn(place.open(), builderWith(hangingDriver(entered)).build(), { bus });
    await sent(a);
    await entered.passed;
    // it never sweeps
    const b = runtimeOn(place.open(), builderWith(followingDriver([final('done')])).build(), {
      bus,
    });
    await a.close(GRACE);
    expect((await ended(b, 's')).output).toBe('done');
  });

  it('leaves a session whose dependencies are not there to another worker', async () => {
    const place = makePlace();
    const asked = gate();
    const driver = followingDriver([final('done')]);
    const a = runtimeOn(place.open(), builderWith(driver).build(), {
      deps: () => new Promise(() => asked.open()),
    });
    await sent(a);
    await asked.passed;
    await a.close(GRACE);
    expect(await rowOf(place)).toMatchObject(free);
    const b = runtimeOn(place.open(), builderWith(driver).build());
    expect(await b.recover()).toBe(1);
    expect((await ended(b, 's')).output).toBe('done');
  });

  it('keeps a final answer that came in time', async () => {
    const place = makePlace();
    const asked = gate();
    const answer = gate();
    const script = followingDriver([final('done')]);
    const driver: InferenceDriver = {
      name: 'late',
      async infer(request, options) {
        asked.open();
        await answer.passed;
        return script.infer(request, options);
      },
    };
    const a = runtimeOn(place.open(), builderWith(driver).build());
    await sent(a);
    await asked.passed;
    const closing = a.close({ graceMs: 5_000 });
    answer.open();
    await closing;
    expect(await rowOf(place)).toMatchObject({ phase: 'idle', status: 'completed' });
  });
});
