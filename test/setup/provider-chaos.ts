import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import type { ModelInput } from 'onward';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { openai } from 'onward/drivers/openai';
import type { Clock } from 'onward/testing';

/** Seeded random numbers between 0 and 1 (mulberry32). */
export function random(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What the mock asks its tool for, and what it answers then. */
export const wanted: readonly Record<string, string>[] = [
  { city: 'Paris', unit: 'celsius' },
  { city: 'Zürich' },
];
export const finalText =
  'Paris has 18°, and Zürich has 12° 🌤. It was colder in both of these cities a week ago.';

/** Chunks after which the mock breaks an answer off: before its text, and in the middle of it. */
const cuts = [1, 2, 3, 5, 8, 12, 16];

/** A server with the APIs of OpenAI, Anthropic and Google, which asks for a tool twice and then answers. */
export function chaosServer(): LLMock {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 4, journalMaxEntries: 1 });
  const asks = {
    content: 'Let me look that up in the weather service, one city after the other, for you.',
    toolCalls: wanted.map((args) => ({ name: 'lookup', arguments: JSON.stringify(args) })),
  };
  const answers = { content: finalText };
  for (const cut of cuts) {
    const context = `cut-${cut}`;
    const opts = { truncateAfterChunks: cut };
    mock.on({ userMessage: 'warm', hasToolResult: false, context }, asks, opts);
    mock.on({ userMessage: 'warm', hasToolResult: true, context }, answers, opts);
  }
  mock.on({ userMessage: 'warm', hasToolResult: false }, asks);
  mock.on({ userMessage: 'warm', hasToolResult: true }, answers);
  return mock;
}

type Send = typeof fetch;

/** Headers that make the mock damage a request. */
function fault(draw: () => number): Record<string, string> {
  const kinds = ['drop', 'malformed', 'disconnect', 'ratelimit'];
  const drawn = draw();
  if (drawn < 0.625) return { [`x-aimock-chaos-${kinds[Math.floor(drawn * 6.4)]}`]: '1' };
  return { 'x-aimock-context': `cut-${cuts[Math.floor(draw() * cuts.length)]}` };
}

/** What happened to the requests of a run. */
export interface Trail {
  /** Whether bytes were lost inside a text, which no driver can detect. */
  isTampered: boolean;
  requests: number;
}

/** Truncates a body or removes some bytes from its middle. */
function damaged(body: Uint8Array, draw: () => number, trail: Trail): Uint8Array<ArrayBuffer> {
  const from = Math.floor(draw() * body.length);
  if (draw() < 0.5) return new Uint8Array(body.slice(0, from));
  trail.isTampered = true;
  const to = from + 1 + Math.floor(draw() * 20);
  return new Uint8Array([...body.slice(0, from), ...body.slice(to)]);
}

/** Sends this share of an answer, then breaks the connection. */
async function broken(response: Response, share: number): Promise<Response> {
  const body = new Uint8Array(await response.arrayBuffer());
  const { status, headers } = response;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(body.slice(0, Math.floor(body.length * share)));
      setTimeout(() => controller.error(new TypeError('terminated')), 5);
    },
  });
  return new Response(source, { status, headers });
}

/** Failures after which another model continues at once. */
const refusals: readonly (readonly [number, object, Record<string, string>?])[] = [
  [429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota.' } }],
  [404, { error: { code: 'model_not_found', message: 'The model does not exist.' } }],
  [529, { error: { type: 'overloaded_error', message: 'Overloaded' } }, { 'retry-after': '300' }],
];

/** How often requests fail, each between 0 and 1. */
export interface ChaosRates {
  /** The mock fails or breaks the answer off. */
  readonly fault: number;
  /** The connection breaks in the middle of the answer, after a reader has seen some text. */
  readonly cut?: number;
  /** Bytes of the answer are lost. */
  readonly damage: number;
  /** The provider refuses in a way that a retry cannot help. */
  readonly refusal?: number;
}

/** A `fetch` through which requests fail as drawn. */
export const chaotic =
  (draw: () => number, trail: Trail, rates: ChaosRates): Send =>
  async (input, init) => {
    trail.requests += 1;
    if (draw() < (rates.refusal ?? 0)) {
      const [status, body, headers = {}] = refusals[Math.floor(draw() * refusals.length)] ?? [
        500,
        {},
      ];
      return Response.json(body, { status, headers });
    }
    const headers = new Headers(init?.headers);
    const isCut = draw() < (rates.cut ?? 0);
    if (!isCut && draw() < rates.fault)
      for (const [name, value] of Object.entries(fault(draw))) headers.set(name, value);
    const response = await fetch(input, { ...init, headers });
    if (isCut) return broken(response, 0.4 + draw() / 2);
    if (draw() >= rates.damage) return response;
    const body = new Uint8Array(await response.arrayBuffer());
    const { status } = response;
    return new Response(damaged(body, draw, trail), { status, headers: response.headers });
  };

/** A model on each wire of both drivers. */
export function chaosModels(mock: LLMock): readonly ((send: Send) => ModelInput)[] {
  const settings = (fetch: Send) => ({ apiKey: 'x', baseURL: `${mock.url}/v1`, fetch });
  const own = (fetch: Send) => ({ baseURL: `${mock.url}/v1`, fetch, idleTimeoutMs: 2_000 });
  const google = (fetch: Send) => ({ apiKey: 'x', baseURL: `${mock.url}/v1beta`, fetch });
  return [
    (send) => openai('gpt-4o', own(send)),
    (send) => openai('gpt-4o', { ...own(send), api: 'responses' }),
    (send) => aiSdk(createOpenAI(settings(send)).chat('gpt-4o')),
    (send) => aiSdk(createOpenAI(settings(send)).responses('gpt-4o')),
    (send) => aiSdk(createAnthropic(settings(send))('claude')),
    (send) => aiSdk(createGoogleGenerativeAI(google(send))('gemini')),
  ];
}

/** Divides waits by 50, except limits of a minute or more, which a slow machine could reach. */
export const hasty: Clock = {
  now: () => performance.now() + performance.timeOrigin,
  after(ms, fn) {
    const timer = setTimeout(fn, ms < 60_000 ? ms / 50 : ms);
    return () => clearTimeout(timer);
  },
};

/** Makes runs, some at once, until all are made or the time is over. Returns how often each outcome came. */
export async function manyRuns(
  runs: number,
  budgetMs: number,
  oneRun: (index: number) => Promise<string>,
): Promise<{ readonly tally: Map<string, number>; readonly unhandled: readonly unknown[] }> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const tally = new Map<string, number>();
  let next = 0;
  const before = performance.now();
  const worker = async (): Promise<void> => {
    while (next < runs && performance.now() - before < budgetMs) {
      const index = next++;
      const hang = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error(`run ${index} hangs`)), 60_000).unref();
      });
      const outcome = await Promise.race([oneRun(index), hang]);
      tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 24 }, worker));
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off('unhandledRejection', note);
  console.info(`${next} runs in ${seconds} s: ${JSON.stringify(Object.fromEntries(tally))}`);
  return { tally, unhandled };
}
