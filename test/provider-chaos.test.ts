import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import { AgentBuilder, AgentState, ErrorPolicy, ErrorType, type ModelInput } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import { type Clock, mockTool } from 'onward/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const RUNS = Number(process.env['CHAOS_RUNS'] ?? 3_000);
/** A slow machine makes fewer runs in this time. */
const BUDGET_MS = 50_000;
const AT_ONCE = 24;
const RETRIES = 2;
const seed = Number(process.env['ONWARD_SEED'] ?? 1);

/** Seeded random numbers between 0 and 1 (mulberry32). */
function random(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const cuts = [1, 2, 3, 5, 8];
const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 4, journalMaxEntries: 1 });
beforeAll(async () => {
  const asks = {
    content: 'Let me look that up.',
    toolCalls: [
      { name: 'lookup', arguments: '{"city":"Paris","unit":"celsius"}' },
      { name: 'lookup', arguments: '{"city":"Zürich"}' },
    ],
  };
  const answers = { content: 'Paris has 18°, and Zürich has 12° 🌤.' };
  for (const cut of cuts) {
    const context = `cut-${cut}`;
    const opts = { truncateAfterChunks: cut };
    mock.on({ userMessage: 'warm', hasToolResult: false, context }, asks, opts);
    mock.on({ userMessage: 'warm', hasToolResult: true, context }, answers, opts);
  }
  mock.on({ userMessage: 'warm', hasToolResult: false }, asks);
  mock.on({ userMessage: 'warm', hasToolResult: true }, answers);
  await mock.start();
});
afterAll(() => mock.stop());

type Send = typeof fetch;

/** Headers that make the mock damage this request, or null. */
function fault(draw: () => number): Record<string, string> | null {
  const kinds = ['drop', 'malformed', 'disconnect', 'ratelimit'];
  const drawn = draw();
  if (drawn < 0.25) return { [`x-aimock-chaos-${kinds[Math.floor(drawn * 16)]}`]: '1' };
  if (drawn < 0.4) return { 'x-aimock-context': `cut-${cuts[Math.floor(draw() * cuts.length)]}` };
  return null;
}

/** Whether bytes were lost inside a text, which no driver can detect. */
interface Trail {
  isTampered: boolean;
}

/** Truncates a body or removes some bytes from its middle. */
function damaged(body: Uint8Array, draw: () => number, trail: Trail): Uint8Array<ArrayBuffer> {
  const from = Math.floor(draw() * body.length);
  if (draw() < 0.5) return new Uint8Array(body.slice(0, from));
  trail.isTampered = true;
  const to = from + 1 + Math.floor(draw() * 20);
  return new Uint8Array([...body.slice(0, from), ...body.slice(to)]);
}

const chaotic =
  (draw: () => number, trail: Trail): Send =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(fault(draw) ?? {})) headers.set(name, value);
    const response = await fetch(input, { ...init, headers });
    if (draw() > 0.12) return response;
    const body = new Uint8Array(await response.arrayBuffer());
    const { status } = response;
    return new Response(damaged(body, draw, trail), { status, headers: response.headers });
  };

const models: readonly ((send: Send) => ModelInput)[] = [
  (send) => openai('gpt-4o', { baseURL: `${mock.url}/v1`, fetch: send, idleTimeoutMs: 2_000 }),
  (send) =>
    openai('gpt-4o', {
      baseURL: `${mock.url}/v1`,
      fetch: send,
      idleTimeoutMs: 2_000,
      api: 'responses',
    }),
  (send) =>
    aiSdk(createOpenAI({ apiKey: 'x', baseURL: `${mock.url}/v1`, fetch: send }).chat('gpt-4o')),
  (send) =>
    aiSdk(
      createOpenAI({ apiKey: 'x', baseURL: `${mock.url}/v1`, fetch: send }).responses('gpt-4o'),
    ),
  (send) =>
    aiSdk(createAnthropic({ apiKey: 'x', baseURL: `${mock.url}/v1`, fetch: send })('claude')),
  (send) =>
    aiSdk(
      createGoogleGenerativeAI({ apiKey: 'x', baseURL: `${mock.url}/v1beta`, fetch: send })(
        'gemini',
      ),
    ),
];

/** Divides waits by 50, except limits of a minute or more, which a slow machine could reach. */
const hasty: Clock = {
  now: () => performance.now() + performance.timeOrigin,
  after(ms, fn) {
    const timer = setTimeout(fn, ms < 60_000 ? ms / 50 : ms);
    return () => clearTimeout(timer);
  },
};

const wanted = [{ city: 'Paris', unit: 'celsius' }, { city: 'Zürich' }];

async function oneRun(index: number): Promise<string> {
  const draw = random(seed + index);
  const make = models[Math.floor(draw() * models.length)];
  const other = models[Math.floor(draw() * models.length)];
  const hasFallback = draw() < 0.5;
  const trail: Trail = { isTampered: false };
  const lookup = mockTool('lookup', { degrees: 18 });
  const agent = AgentBuilder.base()
    .withModel(make!(chaotic(draw, trail)))
    .withFallback(...(hasFallback ? [other!(chaotic(draw, trail))] : []))
    .withTools(lookup)
    .withErrorPolicy(ErrorPolicy.retryAll(RETRIES))
    .withClock(hasty)
    .build();
  if (draw() < 0.6) agent.on('StreamChunk', () => {});
  const controller = new AbortController();
  if (draw() < 0.1) setTimeout(() => controller.abort(), draw() * 15);
  const state = await agent.run('How warm is it?', { signal: controller.signal });

  expect(state.messages.pairingProblem()).toBeNull();
  expect(AgentState.from(JSON.parse(JSON.stringify(state))).status).toBe(state.status);
  // an answer that interrupts the failures begins the count anew
  let failures = 0;
  for (const { type } of state.steps) {
    failures = type === 'error' ? failures + 1 : 0;
    expect(failures).toBeLessThanOrEqual((hasFallback ? 2 : 1) * (1 + RETRIES));
  }
  if (!hasFallback) expect(state.steps.at(-1)).not.toHaveProperty('model');
  for (const { errors } of state.steps)
    for (const error of errors) {
      expect(Object.values(ErrorType)).toContain(error.type);
      expect(error.code).not.toBe('driver_failed');
    }
  for (const call of trail.isTampered ? [] : lookup.calls) expect(wanted).toContainEqual(call);
  if (state.status === 'completed' && !trail.isTampered)
    expect(state.output).toBe('Paris has 18°, and Zürich has 12° 🌤.');
  return `${state.status} (${state.stopReason})`;
}

it('every run with errors, truncated answers, damaged bytes and lost connections ends with a typed outcome', async () => {
  console.info(`ONWARD_SEED=${seed}`);
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const tally = new Map<string, number>();
  let next = 0;
  const before = performance.now();
  const worker = async (): Promise<void> => {
    while (next < RUNS && performance.now() - before < BUDGET_MS) {
      const index = next++;
      const hang = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error(`run ${index} of seed ${seed} hangs`)), 60_000).unref();
      });
      const outcome = await Promise.race([oneRun(index), hang]);
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off('unhandledRejection', note);

  console.info(`${next} runs in ${seconds} s: ${JSON.stringify(Object.fromEntries(tally))}`);
  expect(unhandled).toEqual([]);
  expect([...tally.keys()].toSorted()).toEqual([
    'completed (completed)',
    'failed (retry_limit)',
    'stopped (user_requested)',
  ]);
}, 120_000);
