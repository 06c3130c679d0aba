import { AgentBuilder, ErrorPolicy, type AgentState } from 'onward';
import { fakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { reader } from './setup/fallback.ts';
import { wires, type Wire } from './setup/provider-wires.ts';

const FIRST_MS = 20_000;
const IDLE_MS = 5_000;
const limits = { firstTokenTimeoutMs: FIRST_MS, idleTimeoutMs: IDLE_MS };

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const encode = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new TextEncoder().encode(text));
const event = (data: Record<string, unknown>): string => `data: ${JSON.stringify(data)}\n\n`;

/** How a provider falls silent: `null` is a request without a response. */
type Silence = (wire: Wire) => string | null;

const said = { n: 1, text: 'Half an answer.', calls: [{ name: 'look', args: { at: 'it' } }] };

const mute: Silence = () => null;
const headersAlone: Silence = () => '';
const keepAlive: Silence = () => ': waiting\n\n';
/** The event that announces an answer, where the wire has one. */
const announced: Silence = (wire) => {
  const [begin] = wire.stream({ n: 1, text: 'x' });
  return wire.name.includes('Google') ? '' : begin.slice(0, 1).map(event).join('');
};
const afterText: Silence = (wire) => wire.stream(said)[0].map(event).join('');
/** All but the events that end the answer. */
const insideCalls: Silence = (wire) => {
  const [begin, rest] = wire.stream(said);
  return [...begin, ...rest.slice(0, -3)].map(event).join('');
};
const halfBody: Silence = (wire) => JSON.stringify(wire.whole(said)).slice(0, 20);

/** Falls silent in the first request, then answers. */
async function runOn(
  wire: Wire,
  silence: Silence,
  isStream: boolean,
): Promise<{ state: AgentState; isClosed: boolean[]; text: string; discarded: number }> {
  const clock = fakeClock();
  const signals: AbortSignal[] = [];
  const contentType = isStream ? 'text/event-stream' : 'application/json';
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.signal) signals.push(init.signal);
    const gone = new Promise<never>((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
    if (signals.length > 1) {
      const answer = { n: 2, text: 'All of it.' };
      return isStream
        ? new Response(wire.stream(answer).flat().map(event).join(''), {
            headers: { 'content-type': contentType },
          })
        : Response.json(wire.whole(answer));
    }
    const sent = silence(wire);
    if (sent === null) return gone;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        if (sent !== '') controller.enqueue(encode(sent));
        gone.catch((reason: unknown) => controller.error(reason));
      },
    });
    return new Response(body, { headers: { 'content-type': contentType } });
  };
  const agent = AgentBuilder.base()
    .withModel(wire.model(fetch, { clock, ...limits }))
    .withErrorPolicy(ErrorPolicy.retryAll(1).withBackoff({ initialMs: 0 }))
    .withTimeout({ seconds: 1_000 })
    .withClock(clock)
    .build();
  const { wiretap, events, text } = reader();
  const running = agent.run('go', isStream ? { wiretap } : {});
  let isOver = false;
  void running.finally(() => (isOver = true)).catch(() => {});
  for (let i = 0; i < 30; i++) await soon();
  while (!isOver) {
    await clock.advance(2_500);
    await soon();
  }
  return {
    state: await running,
    isClosed: signals.map(({ aborted }) => aborted),
    text: text(),
    discarded: events.filter(({ type }) => type === 'StreamDiscarded').length,
  };
}

/** The drivers read the body themselves, or a package does. */
const isOwn = ({ name }: Wire): boolean => !name.startsWith('AI SDK');

describe.each(wires)('$name falls silent', (wire) => {
  it.each<[string, Silence, number, boolean]>([
    ['before the headers', mute, FIRST_MS, false],
    ['after the headers', headersAlone, FIRST_MS, false],
    ['after a keep-alive comment', keepAlive, FIRST_MS, false],
    ['before the first text', announced, FIRST_MS, false],
    ['in the middle of the text', afterText, IDLE_MS, true],
    ['inside the calls', insideCalls, IDLE_MS, true],
  ])('%s of a stream: the call times out and is retried', async (_when, silence, ms, hasShown) => {
    const { state, isClosed, text, discarded } = await runOn(wire, silence, true);
    const [failed] = state.steps;
    expect(failed).toMatchObject({
      type: 'error',
      toolCalls: [],
      errors: [{ type: 'timeout', code: 'idle_timeout', retryable: true }],
    });
    // an event without text begins the answer for our own driver, and a package may hide it
    const limit = silence === announced ? `(${FIRST_MS}|${IDLE_MS})` : String(ms);
    expect(failed?.errors[0]?.message).toMatch(
      new RegExp(`^The model sent nothing( more)? for ${limit} ms\\.$`),
    );
    expect(isClosed[0]).toBe(true);
    expect(isClosed).toHaveLength(2);
    expect(discarded).toBe(hasShown ? 1 : 0);
    expect(text).toBe('All of it.');
    expect(state.output).toBe('All of it.');
    expect(state.messages.toJSON().map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it.each<[string, Silence]>([
    ['before the headers', mute],
    ['in the middle of the body', halfBody],
  ])('%s of a whole answer: the call times out and is retried', async (_when, silence) => {
    const { state, isClosed } = await runOn(wire, silence, false);
    const ms = silence === halfBody && isOwn(wire) ? IDLE_MS : FIRST_MS;
    expect(state.steps.at(0)?.errors).toMatchObject([
      {
        type: 'timeout',
        code: 'idle_timeout',
        retryable: true,
        message: expect.stringContaining(`for ${ms} ms.`) as string,
      },
    ]);
    expect(isClosed).toEqual([true, false]);
    expect(state.output).toBe('All of it.');
  });
});
