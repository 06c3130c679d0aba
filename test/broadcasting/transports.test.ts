import type { AgentState } from 'onward';
import {
  AgentEventEnvelopeAdapter,
  BroadcastConfig,
  BroadcastError,
  memoryBroadcaster,
  type Broadcast,
  type Broadcaster,
  type BroadcastStats,
  type TruncatedValue,
  type Drop,
  type Envelope,
} from 'onward/broadcasting';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  asked,
  EXECUTION,
  isUnbroken,
  numbered,
  ofType,
  scripted,
  SESSION,
  steady,
} from './live-run.ts';

const { toolCall, final, stream } = ScenarioStep;
type Send = (envelopes: readonly Envelope[], signal: AbortSignal) => Promise<void> | void;

const transport = (send: Send): Broadcaster => ({
  name: 'fake',
  broadcast: (_channel, envelope, signal) => send([envelope], signal!),
  broadcastBatch: (batch: readonly Broadcast[], signal) =>
    send(
      batch.map(({ envelope }) => envelope),
      signal!,
    ),
});
const answering = (status: number, retryAfterMs: number | null = null): Send => {
  const retryable = status !== 413;
  return async () => {
    throw new BroadcastError(`${status}`, { retryable, retryAfterMs });
  };
};

const page = 'page '.repeat(3_000);
/** Runs steps of one second on a fake clock, with a result of 15 KB. */
async function play(broadcaster: Broadcaster | null, options: { queueSize?: number } = {}) {
  const clock = fakeClock();
  const steps = [
    toolCall('read', { n: 1 }, 'Let me read.', { delayMs: 1_000 }),
    toolCall('read', { n: 2 }, '', { delayMs: 1_000 }),
    stream(['It ', 'says ', 'page.'], { delayMs: 1_000 }),
  ];
  const agent = scripted(steps, [mockTool('read', { text: page })], clock).build();
  const drops: Drop[] = [];
  const errors: unknown[] = [];
  const adapter =
    broadcaster &&
    new AgentEventEnvelopeAdapter({
      broadcaster,
      sessionId: SESSION,
      executionId: EXECUTION,
      config: BroadcastConfig.debug(options),
      onDrop: (drop) => drops.push(drop),
      onError: (error) => errors.push(error),
    });
  const running = agent.run('go', {
    executionId: EXECUTION,
    wiretap: adapter ? adapter.wiretap() : () => {},
  });
  let state: AgentState | null = null;
  void running.then((ended) => (state = ended));
  while (state === null) await clock.advance(250);
  const tookMs = clock.now() - fakeClock().now();
  return { state: state as AgentState, tookMs, adapter, drops, errors };
}

const never = new Promise<void>(() => {});
const transports: Record<string, Send> = {
  'that throws': () => {
    throw new Error('no such host');
  },
  'that rejects': async () => {
    throw new Error('connection reset');
  },
  'that throws a value that is not an error': () => {
    // oxlint-disable-next-line typescript/only-throw-error -- a transport may throw anything
    throw 'a word';
  },
  'that hangs': () => never,
  'that answers 413': answering(413),
  'that answers 429': answering(429, 30_000),
  'that answers 500': answering(500),
  'that is slow': () =>
    new Promise((resolve) => {
      setTimeout(resolve, 40);
    }),
};

describe('D65: a run does not depend on its transport', () => {
  it.each(Object.entries(transports))('%s', async (_what, send) => {
    const without = await play(null);
    const { state, tookMs, adapter, errors } = await play(transport(send));
    expect(steady(state.toJSON())).toEqual(steady(without.state.toJSON()));
    expect(tookMs).toBe(without.tookMs);
    const closed = await adapter!.close(0);
    const { queued, sent, dropped, failed } = adapter!.stats;
    expect(queued).toBe(0);
    expect(sent + dropped).toBeGreaterThan(20);
    expect(closed || dropped > 0).toBe(true);
    expect(errors).toHaveLength(failed);
  });

  it('that drops envelopes without a listener', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const agent = scripted([final('done')]).build();
    const adapter = new AgentEventEnvelopeAdapter({
      broadcaster: transport(answering(413)),
      sessionId: SESSION,
      executionId: EXECUTION,
    });
    const state = await agent.run(asked(), { executionId: EXECUTION, wiretap: adapter.wiretap() });
    await adapter.flush();
    expect(state.output).toBe('done');
    expect(reported).toHaveBeenCalledTimes(1);
    expect(adapter.stats.dropped).toBeGreaterThan(5);
    reported.mockRestore();
  });
});

/** Counts bytes like Reverb: the request line with its signature, headers, and the envelope as JSON inside JSON. */
const requestBytes = (channel: string, envelopes: readonly Envelope[]): number => {
  const batch = envelopes.map((envelope) => ({
    channel: `private-${channel}`,
    name: envelope.type,
    data: JSON.stringify(envelope),
  }));
  return 1_100 + new TextEncoder().encode(JSON.stringify({ batch })).length;
};
/** Reverb with its default settings. */
function reverb() {
  const memory = memoryBroadcaster();
  const requests: number[] = [];
  const take = async (channel: string, envelopes: readonly Envelope[]): Promise<void> => {
    const bytes = requestBytes(channel, envelopes);
    requests.push(bytes);
    if (bytes > 10_000) throw new BroadcastError('413 Payload too large.', { retryable: false });
    for (const envelope of envelopes) await memory.broadcast(channel, envelope);
  };
  const broadcaster: Broadcaster = {
    name: 'reverb',
    batchSize: 10,
    frameBytes: 8_900,
    frameCost: ({ channel, envelope }) => requestBytes(channel, [envelope]) - 1_100,
    broadcast: (channel, envelope) => take(channel, [envelope]),
    broadcastBatch: (batch) =>
      take(
        batch[0]!.channel,
        batch.map(({ envelope }) => envelope),
      ),
  };
  return { broadcaster, requests, memory };
}

describe('D65: the frames of Reverb', () => {
  it('carry a tool result of 15 KB as a summary with a ref, without drops', async () => {
    const { broadcaster, memory, requests } = reverb();
    const { adapter, drops, errors } = await play(broadcaster);
    await adapter!.flush();
    expect([drops, errors]).toEqual([[], []]);
    isUnbroken(memory.envelopes());
    const results = ofType(memory.envelopes(), 'agent.tool.completed');
    expect(results).toHaveLength(2);
    const { summary, ref } = results[0]!.payload.result_summary as TruncatedValue;
    expect(summary).toBe(`${JSON.stringify({ text: page }).slice(0, 499)}…`);
    expect(ref).toBe(`${results[0]!.seq}.result.${EXECUTION}`);
    expect(Math.max(...requests)).toBeLessThanOrEqual(10_000);
    expect(requests.length).toBeLessThan(memory.envelopes().length);
    expect(adapter!.stats).toMatchObject<Partial<BroadcastStats>>({ dropped: 0, failed: 0 });
  });

  it('are large enough for any envelope, and lose no streamed text', async () => {
    const letters = fc.array(
      fc.constantFrom('"', '\\', '\n', '\u0001', 'é', '你', '😀', 'a', ' b'),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    const text = fc
      .tuple(letters, fc.integer({ min: 1, max: 4_000 }))
      .map(([parts, times]) => parts.join('').repeat(times).slice(0, 20_000));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (question, args, answer) => {
        const { broadcaster, memory } = reverb();
        const steps = [
          toolCall('echo', { args }, answer),
          toolCall('pay', { args }),
          final(answer),
        ];
        const tools = [
          mockTool('echo', answer),
          mockTool('pay', 'ok', { needsApproval: true }),
          ...Array.from({ length: 30 }, (_t, i) => mockTool(`tool_${i}_${'x'.repeat(40)}`)),
        ];
        const agent = scripted(steps, tools).build();
        const executionId = 'é"'.repeat(40);
        const adapter = new AgentEventEnvelopeAdapter({
          broadcaster,
          sessionId: 's'.repeat(120),
          executionId,
          config: BroadcastConfig.debug({ maxResultLength: 30_000, maxArgLength: 30_000 }),
        });
        await agent.run(asked(`?${question}`), { executionId, wiretap: adapter.wiretap() });
        await adapter.flush();
        expect(adapter.stats).toMatchObject({ dropped: 0, failed: 0, queued: 0 });
        const envelopes = memory.envelopes();
        isUnbroken(envelopes);
        const chunks = ofType(envelopes, 'agent.stream.chunk').map(({ payload }) => payload);
        expect(chunks.map(({ content }) => content).join('')).toBe(
          // text that looks like a call is held back until the message is complete
          chunks.length === 0 ? '' : answer,
        );
        expect(chunks.map(({ chunk_index }) => chunk_index)).toEqual(chunks.map((_c, i) => i));
        const deltas = ofType(envelopes, 'agent.tool.delta').map(({ payload }) => payload);
        const first = deltas.filter(({ tool_call_id }) => tool_call_id === 'call_1');
        expect(JSON.parse(first.map(({ args_delta }) => args_delta).join(''))).toEqual({ args });
      }),
      { numRuns: 25 },
    );
  });
});

describe('D65: a full queue', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }),
  );
  afterEach(() => void vi.useRealTimers());

  it('shows drops in `prev`, counts them, and delivers the final status', async () => {
    const arrived: Envelope[] = [];
    const ends: (() => void)[] = [];
    const adapter = new AgentEventEnvelopeAdapter({
      broadcaster: transport(async (envelopes) => {
        await new Promise<void>((resolve) => ends.push(resolve));
        arrived.push(...envelopes);
      }),
      sessionId: SESSION,
      executionId: EXECUTION,
      config: BroadcastConfig.debug({ queueSize: 8 }),
      onDrop: () => {},
    });
    const steps = Array.from({ length: 10 }, (_s, n) => toolCall('look', { n }));
    const agent = scripted([...steps, final('done')], [mockTool('look')]).build();
    await agent.run(asked(), { executionId: EXECUTION, wiretap: adapter.wiretap() });
    while (ends.length > 0) {
      ends.shift()!();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    }
    const { dropped, sent, queued } = adapter.stats;
    expect(queued).toBe(0);
    expect(dropped).toBeGreaterThan(20);
    expect(arrived.length).toBe(sent);
    const known = numbered(arrived);
    const gaps = known.filter(({ prev }, i) => prev !== (known[i - 1]?.seq ?? 0));
    expect(gaps.length).toBeGreaterThan(0);
    expect(known.at(-1)).toMatchObject({ type: 'agent.status', payload: { status: 'completed' } });
    expect(known.at(-1)!.seq).toBe(adapter.seq);
  });
});
