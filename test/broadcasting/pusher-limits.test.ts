import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Broadcast, Broadcaster, Envelope } from 'onward/broadcasting';
import { pusherBroadcaster, type PusherOptions } from 'onward/broadcasting/pusher';
import { sampleEnvelope } from '../setup/pusher-envelopes.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';

const to = (
  { app, host, port, path }: PusherServer,
  options: Partial<PusherOptions> = {},
): Broadcaster => pusherBroadcaster({ ...app, host, port, path, useTLS: false, ...options });

/** Texts that are longer on the wire than in memory. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: fc.nat(0x9f).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  fc
    .array(fc.constantFrom('\ud800', '\udfff', '👩‍🚀', '"', '\\', '\n', 'ä', '漢', 'x'))
    .map((all) => all.join('')),
);
const sessionId = fc.stringMatching(/^[A-Za-z0-9_\-=@,.;]{1,128}$/);

const envelope = (id: fc.Arbitrary<string>): fc.Arbitrary<Envelope> =>
  fc
    .record({
      id,
      content: text,
      args: fc.jsonValue({ maxDepth: 3 }),
      size: fc.nat(3_000),
      seq: fc.option(fc.nat()),
    })
    .chain(({ id: session_id, content, args, size, seq }) => {
      const fields = { session_id, seq, prev: seq };
      const long = content.repeat(Math.ceil(size / Math.max(1, content.length))).slice(0, size);
      return fc.constantFrom(
        sampleEnvelope(
          'agent.message',
          { message_id: 'm', role: 'user', content: long, step: 1 },
          fields,
        ),
        sampleEnvelope(
          'agent.tool.started',
          { tool: content, tool_call_id: 'c', args_summary: content, args: args as never },
          fields,
        ),
        sampleEnvelope(
          'agent.stream.chunk',
          { message_id: 'm', step: 1, attempt: 1, chunk_index: 0, content, is_complete: false },
          fields,
        ),
      );
    });
const broadcast: fc.Arbitrary<Broadcast> = envelope(sessionId).map((sent) => ({
  channel: `agent.${sent.session_id}`,
  envelope: sent,
}));

/** Returns batches like a queue: as many broadcasts as fit, and at least one. */
function packed(broadcasts: readonly Broadcast[], broadcaster: Broadcaster): Broadcast[][] {
  const { frameBytes = 0, batchSize = 0 } = broadcaster;
  const batches: Broadcast[][] = [[]];
  let bytes = 0;
  for (const next of broadcasts) {
    const cost = broadcaster.frameCost?.(next) ?? 0;
    const batch = batches.at(-1)!;
    if (batch.length > 0 && (batch.length >= batchSize || bytes + cost > frameBytes)) {
      batches.push([next]);
      bytes = cost;
    } else {
      batch.push(next);
      bytes += cost;
    }
  }
  return batches;
}

describe('the size limit of a request', () => {
  it('estimates at least the bytes that the server receives, and at most 30 more', async () => {
    const server = await pusherServer({ maxRequestSize: 100_000 });
    const limit = 60_000;
    const broadcaster = to(server, { maxRequestBytes: limit, proxyBytes: 0 });
    const head = limit - (broadcaster.frameBytes ?? 0);
    await fc.assert(
      fc.asyncProperty(fc.array(broadcast, { minLength: 1, maxLength: 5 }), async (broadcasts) => {
        const costs = broadcasts.map((one) => broadcaster.frameCost?.(one) ?? 0);
        const counted = head + costs.reduce((sum, cost) => sum + cost, 0);
        await broadcaster.broadcastBatch(broadcasts);
        const seen = server.requests.at(-1)!;
        expect(seen.status).toBe(200);
        expect(counted).toBeGreaterThanOrEqual(seen.bytes);
        // versions of the SDK, digits of the length, and the shorter path of a single event
        expect(counted - seen.bytes).toBeLessThan(30);
      }),
      { numRuns: 150 },
    );
  }, 30_000);

  it('never causes a 413 for batches with any content', async () => {
    const server = await pusherServer();
    const broadcaster = to(server, { proxyBytes: 0, batchSize: 50 });
    let fullest = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(broadcast, { minLength: 1, maxLength: 60 }), async (broadcasts) => {
        const fitting = broadcasts.filter(
          (one) => (broadcaster.frameCost?.(one) ?? 0) <= (broadcaster.frameBytes ?? 0),
        );
        for (const batch of packed(fitting, broadcaster)) await broadcaster.broadcastBatch(batch);
        fullest = Math.max(fullest, ...server.requests.map(({ bytes }) => bytes));
      }),
      { numRuns: 60 },
    );
    expect(server.tooLarge).toBe(0);
    expect(server.requests.every(({ status }) => status === 200)).toBe(true);
    expect(fullest).toBeGreaterThan(9_500);
  }, 60_000);

  it.each([
    ['ASCII', 'x', 1],
    ['quotes', '"', 4],
    ['umlauts', 'ü', 2],
    ['surrogate pairs', '🚀', 4],
    ['lone surrogates', '\ud800', 7],
    ['control characters', '\u0001', 7],
    ['line ends', '\n', 3],
  ])('counts the exact bytes of %s', async (_name, unit, bytes) => {
    const server = await pusherServer();
    const broadcaster = to(server);
    const { frameBytes = 0 } = broadcaster;
    const of = (content: string): Broadcast => ({
      channel: 'agent.s1',
      envelope: sampleEnvelope('agent.message', {
        message_id: 'm',
        role: 'user',
        content,
        step: 1,
      }),
    });
    const cost = (content: string): number => broadcaster.frameCost?.(of(content)) ?? 0;
    expect(cost(unit) - cost('')).toBe(bytes);
    const most = Math.floor((frameBytes - cost('')) / bytes);
    await broadcaster.broadcast('agent.s1', of(unit.repeat(most)).envelope);
    const [request] = server.requests;
    expect(request?.status).toBe(200);
    // capacity for the headers of proxies, and no more
    expect(request?.bytes).toBeGreaterThan(10_000 - 400 - 45 - bytes);
    expect(request?.bytes).toBeLessThanOrEqual(10_000 - 400);
    await expect(
      broadcaster.broadcast('agent.s1', of(unit.repeat(most + 1)).envelope),
    ).rejects.toThrow('do not fit into one request');
  });

  it('leaves capacity for headers that proxies add', async () => {
    const server = await pusherServer();
    const broadcaster = to(server);
    const of = (length: number): Envelope =>
      sampleEnvelope('agent.message', {
        message_id: 'm',
        role: 'user',
        content: 'x'.repeat(length),
        step: 1,
      });
    const channel = 'agent.s1';
    const empty = broadcaster.frameCost?.({ channel, envelope: of(0) }) ?? 0;
    await broadcaster.broadcast(channel, of((broadcaster.frameBytes ?? 0) - empty));
    const { head, body } = server.requests[0]!;
    const address = '2001:0db8:85a3:0000:0000:8a2e:0370:7334';
    const added = [
      `X-Forwarded-For: ${address}, ${address}`,
      'X-Forwarded-Proto: https',
      `X-Real-IP: ${address}`,
      `REMOTE_ADDR: ${address}`,
      'Scheme: https',
      'SERVER_PORT: 443',
      'CDN-Loop: example; loops=1',
    ];
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`${[head, ...added].join('\r\n')}\r\n\r\n`);
    socket.write(body);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.0 200/);
    expect(server.tooLarge).toBe(0);
  });
});
