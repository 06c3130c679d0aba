import { describe, expect, it } from 'vitest';
import { requestOf } from '../../test/setup/inference-request.ts';
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceResponse,
} from './inference-driver.ts';
import { modelCallFailed } from './inference-error.ts';
import { modelLimiter, type ModelLimiterOptions } from './model-limiter.ts';
import type { Usage } from './usage.ts';

const request = requestOf();
const answer = (usage: Partial<Usage> | null = null): InferenceResponse => ({
  content: 'a',
  toolCalls: [],
  finishReason: 'stop',
  usage,
});

/** A driver whose calls take a time, or for ever. */
function slowDriver(clock: FakeClock, ms: number, usage: Partial<Usage> | null = null) {
  const starts: number[] = [];
  const driver: InferenceDriver = {
    name: 'fake:m',
    model: 'm',
    async infer() {
      starts.push(clock.monotonic());
      await new Promise<void>((resolve) => {
        if (ms < Infinity) clock.after(ms, resolve);
      });
      return answer(usage);
    },
    async *stream(): AsyncGenerator<InferenceChunk> {
      starts.push(clock.monotonic());
      yield { type: 'content', text: 'a' };
      await new Promise<void>((resolve) => {
        if (ms < Infinity) clock.after(ms, resolve);
      });
      yield { type: 'done', response: answer(usage) };
    },
  };
  return { driver, starts };
}

function world(limits: ModelLimiterOptions, ms = 1_000, usage: Partial<Usage> | null = null) {
  const clock = fakeClock(0);
  const limiter = modelLimiter({ ...limits, clock });
  const { driver, starts } = slowDriver(clock, ms, usage);
  const model = limiter.wrap(driver);
  const waits: number[] = [];
  const call = (signal: AbortSignal = new AbortController().signal) =>
    model.infer(request, { signal, queued: (waited) => waits.push(waited) });
  return { clock, limiter, driver, model, starts, waits, call };
}

describe('a model limiter', () => {
  it('sends at most as many requests at a time as it allows, in the order of arrival', async () => {
    const { clock, limiter, starts, waits, call } = world({ concurrency: 2 });
    const calls = Promise.all([call(), call(), call(), call(), call()]);
    expect([limiter.inFlight, limiter.waiting]).toEqual([2, 3]);
    await clock.advance(3_000);
    await calls;
    expect(starts).toEqual([0, 0, 1_000, 1_000, 2_000]);
    expect(waits).toEqual([1_000, 1_000, 2_000]);
    expect([limiter.inFlight, limiter.waiting, clock.pendingTimers]).toEqual([0, 0, 0]);
  });

  it('sends at most as many requests in a minute as it allows', async () => {
    const { clock, starts, call } = world({ requestsPerMinute: 2 }, 1);
    const first = call();
    await clock.advance(10_000);
    const others = [call(), call(), call()];
    await clock.advance(110_000);
    await Promise.all([first, ...others]);
    expect(starts).toEqual([0, 10_000, 60_000, 70_000]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts reported tokens, and the estimate where nothing is reported', async () => {
    const estimateTokens = () => 40;
    const corrected = world({ tokensPerMinute: 100, estimateTokens }, 1, { input: 8, output: 2 });
    for (let i = 0; i < 7; i++) {
      void corrected.call();
      await corrected.clock.advance(10);
    }
    expect(corrected.starts).toHaveLength(7);
    void corrected.call();
    await corrected.clock.advance(10);
    expect(corrected.starts, '70 used and 40 estimated are too many').toHaveLength(7);

    const unknown = world({ tokensPerMinute: 100, estimateTokens }, 1, null);
    for (let i = 0; i < 3; i++) {
      void unknown.call();
      await unknown.clock.advance(10);
    }
    expect(unknown.starts).toHaveLength(2);
  });

  it('corrects upward too, so that later requests wait', async () => {
    const { clock, starts, call } = world({ tokensPerMinute: 100, estimateTokens: () => 1 }, 1, {
      total: 150,
    });
    void call();
    await clock.advance(10);
    void call();
    await clock.advance(59_000);
    expect(starts).toEqual([0]);
    await clock.advance(1_000);
    expect(starts).toEqual([0, 60_000]);
  });

  it('sends a request that is larger than the limit alone, when the window is empty', async () => {
    const sizes = [10, 1_000, 10];
    const { clock, starts, call } = world(
      { tokensPerMinute: 100, estimateTokens: () => sizes.shift() ?? 0 },
      1,
    );
    const calls = Promise.all([call(), call(), call()]);
    await clock.advance(120_001);
    await calls;
    expect(starts).toEqual([0, 60_000, 120_000]);
  });

  it('does not look at the wall clock', async () => {
    const { clock, starts, call } = world({ requestsPerMinute: 1 }, 1);
    const calls = Promise.all([call(), call()]);
    clock.jumpWall(3_600_000);
    await clock.advance(59_999);
    expect(starts).toEqual([0]);
    clock.jumpWall(-7_200_000);
    await clock.advance(1);
    await clock.advance(1);
    await calls;
    expect(starts).toEqual([0, 60_000]);
  });

  it('a request that is aborted while it waits leaves the queue at once', async () => {
    const { clock, limiter, starts, waits, call } = world({ concurrency: 1 });
    const stop = new AbortController();
    const first = call();
    const second = call(stop.signal);
    const third = call();
    await clock.advance(400);
    stop.abort(new Error('stopped'));
    expect(waits, 'the wait is noted before the abort returns').toEqual([400]);
    expect(limiter.waiting).toBe(1);
    await expect(second).rejects.toThrow('stopped');
    await clock.advance(2_000);
    await Promise.all([first, third]);
    expect(starts).toEqual([0, 1_000]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no timer when the last waiting request is aborted', async () => {
    const { clock, limiter, call } = world({ requestsPerMinute: 1 }, 1);
    await Promise.all([call(), clock.advance(1)]);
    const stop = new AbortController();
    const waiting = call(stop.signal);
    expect(clock.pendingTimers).toBe(1);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect([limiter.waiting, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('an aborted request takes no place, also before it is sent', async () => {
    const { starts, limiter, call } = world({ concurrency: 1 });
    await expect(call(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect([starts.length, limiter.inFlight]).toEqual([0, 0]);
  });

  it('frees the place of an aborted request even if its driver never returns', async () => {
    const { limiter, starts, call } = world({ concurrency: 1 }, Infinity);
    const stop = new AbortController();
    void call(stop.signal);
    void call();
    stop.abort(new Error('stopped'));
    await expect.poll(() => starts.length).toBe(2);
    expect(limiter.inFlight).toBe(1);
  });

  it('frees the place of a failed request, and counts the usage that the failure reports', async () => {
    const clock = fakeClock(0);
    const limiter = modelLimiter({
      concurrency: 1,
      tokensPerMinute: 100,
      estimateTokens: () => 1,
      clock,
    });
    let sent = 0;
    const model = limiter.wrap({
      name: 'fails',
      infer: async () => {
        sent += 1;
        throw modelCallFailed(
          { type: 'timeout', code: 'lost', message: 'lost' },
          { usage: { total: 200 } },
        );
      },
    });
    const { signal } = new AbortController();
    await expect(model.infer(request, { signal })).rejects.toThrow('lost');
    expect(limiter.inFlight).toBe(0);
    const second = model.infer(request, { signal }).catch(() => {});
    expect([limiter.waiting, sent]).toEqual([1, 1]);
    await clock.advance(60_000);
    await second;
    expect(sent).toBe(2);
  });

  it.each([
    ['rate_limit', true, 5_000, 5_000, 'a rate limit with its time'],
    ['rate_limit', false, 5_000, 0, 'a spent quota'],
    ['rate_limit', true, 3_600_000, 0, 'an hour, which fallback models are for'],
    ['rate_limit', true, undefined, 0, 'no time'],
    ['model', true, 5_000, 0, 'another error'],
  ] as const)('after %s (retryable %s, %s ms) it waits %s ms: %s', async (...row) => {
    const [type, retryable, retryAfterMs, expected] = row;
    const clock = fakeClock(0);
    const limiter = modelLimiter({ concurrency: 5, clock });
    const { signal } = new AbortController();
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const report = { type, code: 'no', retryable, message: 'no', ...wait };
    const failing = limiter.wrap({
      name: 'fails',
      infer: async () => {
        throw modelCallFailed(report);
      },
    });
    const { driver, starts } = slowDriver(clock, 1);
    await expect(failing.infer(request, { signal })).rejects.toThrow('no');
    const other = limiter.wrap(driver).infer(request, { signal });
    await clock.advance(expected + 1);
    await other;
    expect(starts).toEqual([expected]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('wraps a model once, so that a call never waits for itself', async () => {
    const { clock, limiter, driver, model, call } = world({ concurrency: 1 });
    expect(limiter.wrap(driver)).toBe(model);
    expect(limiter.wrap(model)).toBe(model);
    expect(model).toMatchObject({ name: 'fake:m', model: 'm' });
    const done = call();
    await clock.advance(1_000);
    expect(await done).toMatchObject({ content: 'a' });
    expect(limiter.wrap('openai:gpt-5').name).toBe('openai:gpt-5');
    expect(limiter.wrap({ name: 'whole', infer: async () => answer() }).stream).toBeUndefined();
  });

  it('rejects invalid options', () => {
    expect(() => modelLimiter({})).toThrow(
      'modelLimiter() got no limit. Set requestsPerMinute, tokensPerMinute or concurrency.',
    );
    expect(() => modelLimiter(null as never)).toThrow('modelLimiter()');
    for (const name of ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const)
      for (const value of [0, -1, 1.5, Number.NaN, Infinity, '5'])
        expect(() => modelLimiter({ [name]: value })).toThrow(name);
    expect(() => modelLimiter({ concurrency: 1, estimateTokens: 5 as never })).toThrow(
      'estimateTokens',
    );
  });

  it('rejects an estimate that is not a number, and keeps no place for it', async () => {
    const { limiter, call } = world({ tokensPerMinute: 10, estimateTokens: () => Number.NaN });
    await expect(call()).rejects.toThrow(/estimateTokens\(\)/);
    expect([limiter.inFlight, limiter.waiting]).toEqual([0, 0]);
  });
});

describe('a limited stream', () => {
  const opened = (
    { model, waits }: ReturnType<typeof world>,
    signal: AbortSignal = new AbortController().signal,
  ) => {
    const options: InferenceOptions = { signal, queued: (waited) => void waits.push(waited) };
    const chunks = model.stream?.(request, options)[Symbol.asyncIterator]();
    if (!chunks) throw new Error('no stream');
    return chunks;
  };

  it('is sent when its turn comes, and is over with its last chunk, before the reader asks again', async () => {
    const here = world({ concurrency: 1 });
    const [first, second] = [opened(here), opened(here)];
    expect(here.limiter.inFlight, 'nothing is sent before the first read').toBe(0);
    expect(await first.next()).toMatchObject({ value: { type: 'content' } });
    const waiting = second.next();
    expect(here.limiter.waiting).toBe(1);
    const last = first.next();
    await here.clock.advance(1_000);
    expect(await last).toMatchObject({ value: { type: 'done' } });
    expect(await waiting).toMatchObject({ value: { type: 'content' } });
    expect(here.waits).toEqual([1_000]);
    await second.return?.();
    expect(here.limiter.inFlight).toBe(0);
  });

  it('that its reader leaves frees its place at once, also while a chunk is awaited', async () => {
    const here = world({ concurrency: 1 }, Infinity);
    const first = opened(here);
    await first.next();
    void first.next();
    void first.return?.();
    expect(here.limiter.inFlight).toBe(0);
  });

  it('that its reader leaves while it waits leaves the queue, and is never sent', async () => {
    const here = world({ concurrency: 1 }, Infinity);
    const [first, second] = [opened(here), opened(here)];
    await first.next();
    const waiting = second.next();
    expect(here.limiter.waiting).toBe(1);
    await second.return?.();
    expect(await waiting).toMatchObject({ done: true });
    expect([here.limiter.waiting, here.starts.length]).toEqual([0, 1]);
    expect(await second.next()).toMatchObject({ done: true });
  });

  it('that is aborted while it waits throws the reason', async () => {
    const here = world({ concurrency: 1 }, Infinity);
    const stop = new AbortController();
    const [first, second] = [opened(here), opened(here, stop.signal)];
    await first.next();
    const waiting = second.next();
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect(here.limiter.waiting).toBe(0);
  });

  it('that fails in the middle frees its place and counts what it reported', async () => {
    const clock = fakeClock(0);
    const limiter = modelLimiter({ tokensPerMinute: 100, estimateTokens: () => 1, clock });
    const model = limiter.wrap({
      name: 'fails',
      infer: async () => answer(),
      async *stream(): AsyncGenerator<InferenceChunk> {
        yield { type: 'usage', usage: { input: 100 } };
        throw modelCallFailed({ type: 'timeout', code: 'lost', message: 'lost' });
      },
    });
    const options = { signal: new AbortController().signal };
    const chunks = model.stream?.(request, options)[Symbol.asyncIterator]();
    await chunks?.next();
    await expect(chunks?.next()).rejects.toThrow('lost');
    expect(limiter.inFlight).toBe(0);
    void model.infer(request, options);
    expect(limiter.waiting).toBe(1);
  });
});
