import {
  AgentBuilder,
  createAgent,
  defineTool,
  ErrorPolicy,
  SessionRuntime,
  type AgentState,
} from 'onward';
import { modelLimiter, type ModelLimiter } from 'onward/drivers';
import { openai } from 'onward/drivers/openai';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { Paint } from '../src/cli/paint.ts';
import { modelCallLine, stepTable, totalsLine } from '../src/cli/trace-text.ts';
import { axisOf } from '../src/console/trace/axis.ts';
import { lanesOf } from '../src/console/trace/lanes.ts';
import { readTrace } from '../src/trace/read-trace.ts';
import { completion, delta, json, serve, sse, toolCall, type Reply } from './setup/loopback.ts';

const ann = { owner: 'ann' };

/** A server that answers after a time, and counts what it has in flight. */
async function provider(ms: number, replyTo: (n: number) => Reply = () => json(completion('Hi.'))) {
  const seen = { now: 0, most: 0, requests: 0 };
  const reply: Reply = async (response, received) => {
    const n = (seen.requests += 1);
    seen.most = Math.max(seen.most, (seen.now += 1));
    await new Promise((resolve) => setTimeout(resolve, ms));
    // before the reply: the client may send the next request before this side sees the end
    seen.now -= 1;
    if (!response.destroyed) await replyTo(n)(response, received);
  };
  const server = await serve(...Array.from({ length: 200 }, () => reply));
  const model = (name = 'gpt') =>
    openai(name, { baseURL: server.url, apiKey: 'k', api: 'chat', firstTokenTimeoutMs: 1_500 });
  return { seen, model };
}

const tooMany = json({ error: { message: 'Rate limit reached' } }, 429, { 'retry-after-ms': '30' });
const queuedIn = ({ steps }: AgentState) =>
  [...steps].map(({ modelCall }) => modelCall?.queuedMs ?? 0);
const isIdle = (limiter: ModelLimiter): boolean => limiter.inFlight === 0 && limiter.waiting === 0;

/** Until the limiter has as many waiting requests. */
async function untilWaiting(limiter: ModelLimiter, count: number): Promise<void> {
  await expect.poll(() => limiter.waiting, { interval: 2 }).toBe(count);
}

describe('a limiter that agents share', () => {
  it('two agents and a session runtime stay below it at a server that refuses some requests', async () => {
    let refused = 0;
    const { seen, model } = await provider(20, (n) => {
      if (n % 5 !== 2) return json(completion('Hi.'));
      refused += 1;
      return tooMany;
    });
    const limiter = modelLimiter({ concurrency: 2 });
    const limited = limiter.wrap(model());
    const agent = (name: string) =>
      createAgent({ name, model: limited, errorPolicy: ErrorPolicy.retryAll(5) });
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent('kept')] });
    const inSession = async (): Promise<AgentState> => {
      const { id } = await runtime.create(ann);
      await runtime.send(id, 'hi', { ...ann, wait: true });
      return runtime.state(id, ann);
    };
    const [one, two] = [agent('one'), agent('two')];
    const states = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        if (i % 3 === 0) return one.run('hi');
        return i % 3 === 1 ? two.run('hi') : inSession();
      }),
    );
    await runtime.close();
    expect(seen.most).toBe(2);
    expect(isIdle(limiter)).toBe(true);
    expect(states.map(({ output }) => output)).toEqual(Array.from({ length: 12 }, () => 'Hi.'));
    // waits are no failures: what failed is what the server refused
    const failures = states.map(({ execution }) => execution?.totalFailures ?? 0);
    expect(refused).toBeGreaterThan(1);
    expect(failures.reduce((sum, n) => sum + n, 0)).toBe(refused);
    expect(states.flatMap(queuedIn).filter((ms) => ms > 0).length).toBeGreaterThan(5);
  });

  it('does not count the wait in the timeouts of a driver, nor in the time to the first token', async () => {
    const { model } = await provider(1_000, () => sse(delta('Hi.'), delta('', 'stop')));
    const limiter = modelLimiter({ concurrency: 1 });
    const agent = createAgent({ model: limiter.wrap(model()) });
    const answers = await Promise.all(
      [1, 2].map(async () => {
        const stream = agent.stream('hi');
        let text = '';
        for await (const piece of stream.textStream) text += piece;
        return { text, state: await stream.state };
      }),
    );
    expect(answers.map(({ text }) => text)).toEqual(['Hi.', 'Hi.']);
    const second = answers
      .map(({ state }) => state.steps.at(0)?.modelCall)
      .find((c) => c?.queuedMs);
    expect(second?.queuedMs).toBeGreaterThan(900);
    expect(second?.firstTokenMs).toBeLessThan(1_500);
  });

  it.each([
    ['an abort', 'user_requested'],
    ['the time limit', 'time_limit'],
  ])('%s ends a run that waits, at once, and its step says so', async (what, stopReason) => {
    const { seen, model } = await provider(300);
    const limiter = modelLimiter({ concurrency: 1 });
    const limited = limiter.wrap(model());
    const first = createAgent({ model: limited }).run('hi');
    const stop = new AbortController();
    const seconds = what === 'an abort' ? 60 : 0.1;
    const waiting = createAgent({ model: limited, timeout: { seconds } }).run('hi', {
      signal: stop.signal,
    });
    await untilWaiting(limiter, 1);
    if (what === 'an abort') {
      await new Promise((resolve) => setTimeout(resolve, 20));
      stop.abort();
    }
    const state = await waiting;
    expect(limiter).toMatchObject({ inFlight: 1, waiting: 0 });
    expect(state).toMatchObject({ status: 'stopped', stopReason });
    expect(state.steps.at(-1)?.type).toBe('cut');
    expect(state.steps.at(-1)?.modelCall?.queuedMs).toBeGreaterThan(10);
    expect(state.execution?.modelFailures).toBe(0);
    expect((await first).output).toBe('Hi.');
    expect(seen.requests).toBe(1);
  });

  it('a stop of its session, and the close of its process, end the wait of a session', async () => {
    const { seen, model } = await provider(400);
    const limiter = modelLimiter({ concurrency: 1 });
    const limited = limiter.wrap(model());
    const first = createAgent({ model: limited }).run('hi');
    const store = memoryStore();
    const agents = [createAgent({ name: 'a', model: limited })];
    const runtime = new SessionRuntime({ store, agents });
    for (const id of ['s', 't']) {
      await runtime.create({ ...ann, id });
      await runtime.send(id, 'hi', ann);
    }
    await untilWaiting(limiter, 2);
    await runtime.stop('s', ann);
    await untilWaiting(limiter, 1);
    await runtime.close({ graceMs: 0 });
    await untilWaiting(limiter, 0);
    expect((await first).output).toBe('Hi.');
    expect(seen.requests).toBe(1);
    // another process continues what was handed over
    const next = new SessionRuntime({ store, agents });
    next.start();
    await expect.poll(async () => (await next.get('t', ann)).status).toBe('completed');
    expect(await next.get('s', ann)).toMatchObject({ stopReason: 'user_requested' });
    await next.close();
    expect(isIdle(limiter)).toBe(true);
  });

  it('with one request in flight, a parent, its child and its tools never wait for each other', async () => {
    const { seen, model } = await provider(5, (n) =>
      json(
        n < 3
          ? completion({ tool_calls: [toolCall('help', { input: 'hi' })] }, 'tool_calls')
          : completion('Hi.'),
      ),
    );
    const limiter = modelLimiter({ concurrency: 1 });
    const limited = limiter.wrap(model());
    const inside = createAgent({ name: 'inside', model: limited });
    const help = defineTool({
      name: 'help',
      description: 'Asks another agent.',
      parameters: { type: 'object' },
      execute: async () => (await inside.run('hi')).output,
    });
    const child = AgentBuilder.base().withName('child').withModel(limited).withTools(help).build();
    const parent = AgentBuilder.base()
      .withModel(limited)
      .withTools(child.asTool({ name: 'help', description: 'Helps.' }))
      .build();
    const whole = await parent.run('hi');
    expect(whole.output).toBe('Hi.');
    expect(seen).toMatchObject({ most: 1, requests: 5 });

    const streamed = await provider(5, (n) =>
      n === 1
        ? sse(
            delta({ tool_calls: [{ index: 0, ...toolCall('help', { input: 'hi' }) }] }),
            delta('', 'tool_calls'),
          )
        : sse(delta('Hi.'), delta('', 'stop')),
    );
    const other = modelLimiter({ concurrency: 1 }).wrap(streamed.model());
    const streamChild = AgentBuilder.base().withName('child').withModel(other).build();
    const stream = AgentBuilder.base()
      .withModel(other)
      .withTools(streamChild.asTool({ name: 'help', description: 'Helps.' }))
      .build()
      .stream('hi');
    expect((await stream.state).status).toBe('completed');
    expect(streamed.seen.most).toBe(1);
  });

  it('each model of a fallback chain may have its own', async () => {
    const first = await provider(5, () => tooMany);
    const second = await provider(5);
    const [small, large] = [modelLimiter({ concurrency: 1 }), modelLimiter({ concurrency: 2 })];
    const agent = createAgent({
      model: small.wrap(first.model('a')),
      fallback: [large.wrap(second.model('b'))],
    });
    const states = await Promise.all([agent.run('hi'), agent.run('hi'), agent.run('hi')]);
    expect(states.map(({ output }) => output)).toEqual(['Hi.', 'Hi.', 'Hi.']);
    expect(states.map(({ steps }) => steps.at(-1)?.model)).toEqual(
      Array.from({ length: 3 }, () => 'openai:b'),
    );
    expect([first.seen.most, isIdle(small), isIdle(large)]).toEqual([1, true, true]);
  });

  it('a refusal with a time pauses all agents that share it', async () => {
    const times: number[] = [];
    const { model } = await provider(1, (n) => {
      times.push(performance.now());
      const refused = json({ error: { message: 'Slow down' } }, 429, { 'retry-after-ms': '200' });
      return n === 1 ? refused : json(completion('Hi.'));
    });
    const limited = modelLimiter({ concurrency: 1 }).wrap(model());
    const agent = () => createAgent({ model: limited, errorPolicy: ErrorPolicy.retryAll(3) });
    const states = await Promise.all([agent().run('hi'), agent().run('hi')]);
    expect(states.map(({ output }) => output)).toEqual(['Hi.', 'Hi.']);
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(195);
  });
});

describe('the wait for a limiter', () => {
  it('is working time, is in events, trace, explanation and console, and loads again', async () => {
    const clock = fakeClock();
    const limiter = modelLimiter({ requestsPerMinute: 1, clock });
    const script = DeterministicDriver.create(
      [ScenarioStep.toolCall('search'), ScenarioStep.final('Done.', { delayMs: 2_000 })],
      { clock },
    );
    const search = defineTool({
      name: 'search',
      description: 'Searches.',
      parameters: { type: 'object' },
      execute: () => 'found',
    });
    const agent = createAgent({ name: 'a', model: limiter.wrap(script), tools: [search], clock });
    const reported: unknown[] = [];
    agent.on('AgentStepCompleted', ({ modelCall }) => reported.push(modelCall?.queuedMs));
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent], clock });
    await runtime.create({ ...ann, id: 's' });
    const sent = runtime.send('s', 'hi', { ...ann, wait: true });
    await expect.poll(() => limiter.waiting).toBe(1);
    await clock.advance(62_000);
    expect((await sent).output).toBe('Done.');
    expect(reported).toEqual([undefined, 60_000]);
    const state = await runtime.state('s', ann);
    expect(queuedIn(state).at(-1)).toBe(60_000);
    expect(state.execution?.cumulativeSeconds).toBe(62);

    const trace = await readTrace(runtime, 's', ann);
    const step = trace.steps[1];
    if (!step) throw new Error('no step');
    expect(step.bars[0]).toMatchObject({ at: step.at + 60_000, durationMs: 2_000, state: 'ok' });
    expect(trace.totals).toMatchObject({ queuedMs: 60_000, modelMs: 2_000, backoffMs: 0 });
    const plain: Paint = (_style, text) => text;
    expect(stepTable(trace, plain).join('\n')).toContain(
      'waited 1m 00s for the limiter, then model answered',
    );
    expect(modelCallLine(step)).toContain('waited 1m 00s for the model limiter');
    expect(totalsLine(trace)).toContain('waited for the limiter 1m 00s');
    const [lane] = lanesOf(step, axisOf(trace));
    expect(lane?.pieces.map(({ kind }) => kind)).toEqual(['queued', 'model']);
    expect(lane?.title).toContain('after waiting 1m 00s for the limiter');
    await runtime.close();
  });
});
