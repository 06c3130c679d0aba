import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Wire } from '../../../test/react/fake-source.ts';
import { json, mute, serve, type Reply } from '../../../test/setup/loopback.ts';
import type { Envelope } from '../../broadcasting/envelope.ts';
import type { LogPlace } from '../ui-state.ts';
import type { Connection, EnvelopeSource } from './envelope-source.ts';
import { refReader } from './http-reads.ts';
import { SourceError } from './source-error.ts';
import { sseSource, type SseSourceOptions } from './sse-source.ts';

const quick = { minMs: 1, maxMs: 4 };

/** Ends a wait that never succeeds; a busy machine may take long. */
const soon = (holds: () => void): Promise<void> => vi.waitFor(holds, 15_000);

interface Received {
  readonly envelopes: Envelope[];
  readonly connections: Connection[];
  readonly errors: SourceError[];
  stale: number;
  readonly close: () => void;
}

function listen(source: EnvelopeSource, place: () => LogPlace | null = () => null): Received {
  const received = {
    envelopes: [] as Envelope[],
    connections: [] as Connection[],
    errors: [] as SourceError[],
    stale: 0,
  };
  const close = source.open(
    {
      envelope: (envelope) => received.envelopes.push(envelope),
      connection: (state) => received.connections.push(state),
      stale: () => received.stale++,
      failed: (error) => received.errors.push(error as SourceError),
    },
    place,
  );
  onTestFinished(close);
  return Object.assign(received, { close });
}

const text = (envelope: Envelope): string =>
  `${envelope.seq === null ? '' : `id: ${envelope.seq}@${envelope.execution_id}\n`}event: ${envelope.type}\ndata: ${JSON.stringify(envelope)}\n\n`;

/** Sends these, and keeps the connection. */
const stream =
  (...parts: readonly (string | Uint8Array)[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    for (const part of parts) response.write(part);
  };

/** Sends these, and ends it. */
const ended =
  (...parts: readonly string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(parts.join(''));
  };

const open = async (
  replies: readonly Reply[],
  more: Partial<SseSourceOptions> = {},
  place?: () => LogPlace | null,
): Promise<Received & { readonly server: Awaited<ReturnType<typeof serve>> }> => {
  const server = await serve(...replies);
  return Object.assign(
    listen(sseSource({ url: `${server.url}/live`, backoff: quick, ...more }), place),
    { server },
  );
};

describe('sseSource', () => {
  it('reads envelopes and reports that it is live', async () => {
    const wire = new Wire();
    const all = [wire.started(), wire.user('größe 👩‍🚀'), wire.chunk('a', 0)];
    const received = await open([stream(': hello\n\n', ...all.map(text))]);
    await soon(() => expect(received.envelopes).toEqual(all));
    expect(received.connections).toEqual(['connecting', 'live']);
    expect(received.server.requests[0]?.headers).toMatchObject({ accept: 'text/event-stream' });
    expect(received.server.requests[0]?.headers['last-event-id']).toBeUndefined();
  });

  it('reads bytes that are split inside a character', async () => {
    const envelope = new Wire().user('👩‍🚀 über');
    const bytes = new TextEncoder().encode(text(envelope));
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const received = await open([stream(...pieces)]);
    await soon(() => expect(received.envelopes).toEqual([envelope]));
  });

  it('reads headers before each request', async () => {
    let token = 0;
    const headers = async (): Promise<Record<string, string>> => ({
      authorization: `Bearer ${++token}`,
    });
    const received = await open([ended(), stream()], { headers });
    await soon(() => expect(received.server.requests).toHaveLength(2));
    expect(received.server.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer 1',
      'Bearer 2',
    ]);
  });

  it('reconnects with the known position, else with the last id', async () => {
    const wire = new Wire();
    const received = await open([ended(text(wire.started())), stream()]);
    await soon(() => expect(received.server.requests).toHaveLength(2));
    expect(received.server.requests[1]?.headers['last-event-id']).toBe('1@exe_1');

    const place = { executionId: 'exe ä', after: 7 };
    const other = await open([stream()], {}, () => place);
    await soon(() => expect(other.server.requests).toHaveLength(1));
    expect(other.server.requests[0]?.headers['last-event-id']).toBe('7@exe%20%C3%A4');
  });

  it('reconnects without heartbeats, and stays connected with them', async () => {
    const dead = await open([stream(), stream(), stream()], { silenceMs: 40 });
    await soon(() => expect(dead.server.requests.length).toBeGreaterThanOrEqual(3));
    await dead.server.requests[0]?.left;
    expect(dead.errors[0]).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('silent for 40 ms'),
    });

    const beating: Reply = (response) => {
      void stream()(response, {} as never);
      const timer = setInterval(() => response.write(': hb\n\n'), 20);
      response.on('close', () => clearInterval(timer));
    };
    const alive = await open([beating, mute], { silenceMs: 1_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(alive.server.requests).toHaveLength(1);
  });

  it.each([401, 403, 404, 410, 400])(
    'stops permanently after %i and explains what to check',
    async (status) => {
      const received = await open([json({}, status), stream()]);
      await soon(() => expect(received.errors).toHaveLength(1));
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(received.server.requests).toHaveLength(1);
      expect(received.errors[0]).toMatchObject({ isFinal: true, status });
      expect(received.errors[0]?.message).toContain('Check');
      expect(received.connections.at(-1)).toBe('offline');
    },
  );

  it('continues after errors of the server', async () => {
    const received = await open([json({}, 500), json({}, 502), json({}, 429), stream()]);
    await soon(() => expect(received.connections.at(-1)).toBe('live'));
    expect(received.errors).toMatchObject([
      { code: 'unreachable', status: 502 },
      { code: 'unreachable', status: 429 },
    ]);
    expect(received.connections.slice(0, 2)).toEqual(['connecting', 'connecting']);
    expect(received.connections).toContain('offline');
  });

  it('obeys Retry-After', async () => {
    const times: number[] = [];
    const timed =
      (reply: Reply): Reply =>
      (...asked) => {
        times.push(performance.now());
        return reply(...asked);
      };
    await open([timed(json({}, 503, { 'retry-after': '1' })), timed(stream())]);
    await soon(() => expect(times).toHaveLength(2));
    expect(times[1]! - times[0]!).toBeGreaterThan(950);
  });

  it('waits longer each time for a server that closes the connection, starting with its retry: time', async () => {
    const times: number[] = [];
    const hangUp: Reply = (response) => {
      times.push(performance.now());
      void ended('retry: 40\n\n')(response, {} as never);
    };
    const received = await open([hangUp, hangUp, hangUp, hangUp, stream()], {
      backoff: { random: () => 1 },
    });
    await soon(() => expect(received.server.requests).toHaveLength(5));
    const waits = times.slice(1).map((time, i) => time - times[i]!);
    expect(waits[0]).toBeGreaterThan(35);
    expect(waits[2]).toBeGreaterThan(150);
  });

  it('reports a page instead of a stream immediately', async () => {
    const received = await open([json('<html>', 200, { 'content-type': 'text/html' }), stream()]);
    await soon(() => expect(received.errors).toHaveLength(1));
    expect(received.errors[0]).toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('text/html'),
    });
  });

  it('reports and skips invalid events, and skips unknown ones', async () => {
    const wire = new Wire();
    const last = wire.started();
    const received = await open([
      stream(
        'event: agent.status\ndata: {"type":\n\n',
        'event: agent.status\ndata: {"type":"agent.status","payload":7}\n\n',
        'event: agent.future\ndata: {}\n\n',
        'data: not ours\n\n',
        'event: onward.reset\ndata: {}\n\n',
        text(last),
      ),
    ]);
    await soon(() => expect(received.envelopes).toEqual([last]));
    expect(received.errors.map(({ code }) => code)).toEqual([
      'unreadable',
      'unreadable',
      'unreadable',
    ]);
    expect(received.stale).toBe(1);
  });

  it('close ends the connection', async () => {
    const received = await open([stream(text(new Wire().started()))]);
    await soon(() => expect(received.envelopes).toHaveLength(1));
    received.close();
    await received.server.requests[0]?.left;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(received.server.requests).toHaveLength(1);
    expect(received.errors).toEqual([]);
  });

  it('errors contain no token', async () => {
    const server = await serve(json({}, 401), json('nope'));
    const secret = 'sk-very-secret';
    const options = {
      headers: { authorization: secret },
      url: `${server.url}/live?token=${secret}`,
    };
    const received = listen(sseSource(options));
    await soon(() => expect(received.errors).toHaveLength(1));
    const source = sseSource({ ...options, refillUrl: options.url });
    const failure = await source
      .refill?.(null, new AbortController().signal)
      .catch((error: unknown) => error);
    expect(`${received.errors[0]?.message} ${String(failure)}`).not.toContain(secret);
  });
});

describe('reads over HTTP', () => {
  const signal = new AbortController().signal;
  const refill = { session_id: 's', execution_id: 'exe_1', envelopes: [], seq: 3, more: false };

  it('a refill sends its position', async () => {
    const server = await serve(json(refill), json(refill));
    const source = sseSource({ url: 'http://127.0.0.1', refillUrl: `${server.url}/refill?x=1` });
    expect(await source.refill?.({ executionId: 'exe 1', after: 3 }, signal)).toEqual(refill);
    await source.refill?.(null, signal);
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/refill?x=1&after=3%40exe%25201',
      '/v1/refill?x=1',
    ]);
    expect(new URL(`http://h${server.requests[0]?.path}`).searchParams.get('after')).toBe(
      '3@exe%201',
    );
  });

  it.each([
    ['a list', [{ id: 'm' }]],
    ['an object', { messages: [{ id: 'm' }] }],
  ])('a history may be %s', async (_case, body) => {
    const server = await serve(json(body));
    const source = sseSource({ url: 'http://127.0.0.1', historyUrl: server.url });
    expect(await source.history?.(signal)).toEqual([{ id: 'm' }]);
  });

  it.each([
    ['not JSON', 'hello', 'not JSON'],
    ['something else', { hello: 1 }, 'expected'],
  ])('refuses a response that is %s', async (_case, body, message) => {
    const server = await serve(json(body), json(body), json(body));
    const source = sseSource({
      url: 'http://127.0.0.1',
      historyUrl: server.url,
      refillUrl: server.url,
    });
    await expect(source.history?.(signal)).rejects.toThrow(message);
    await expect(source.refill?.(null, signal)).rejects.toThrow(message);
    await expect(refReader({ url: server.url })('r')).rejects.toThrow(message);
  });

  it('fetches a truncated value by its ref', async () => {
    const server = await serve(json({ ref: 'a b', value: { whole: true } }));
    expect(await refReader({ url: `${server.url}/ref` })('a b')).toEqual({ whole: true });
    expect(server.requests[0]?.path).toBe('/v1/ref?ref=a%20b');
  });
});
