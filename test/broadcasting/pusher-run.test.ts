import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionRuntime } from 'onward';
import {
  BroadcastConfig,
  broadcastSessions,
  readRef,
  readRefill,
  type BroadcastSessionsOptions,
  type TruncatedValue,
  type Envelope,
  type SessionBroadcasts,
} from 'onward/broadcasting';
import { ownedSessions, pusherAuth, pusherBroadcaster } from 'onward/broadcasting/pusher';
import { mockTool, ScenarioStep } from 'onward/testing';
import { echoClient, listening, mounted } from '../setup/pusher-clients.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { agentWith, ann, memoryPlace, runtimeOn, until, waiting } from '../setup/sessions.ts';

interface Stage {
  readonly server: PusherServer;
  readonly runtime: SessionRuntime;
  readonly broadcasts: SessionBroadcasts;
  readonly sessionId: string;
  readonly received: readonly Envelope[];
}

/** Starts an agent, a session, a server and a listening page. */
async function stage(
  steps: readonly ScenarioStep[],
  options: Partial<BroadcastSessionsOptions> & { readonly result?: unknown } = {},
): Promise<Stage> {
  const { result = 'found', ...more } = options;
  const server = await pusherServer();
  const { app, host, port } = server;
  const search = mockTool('search', result);
  const runtime = runtimeOn(memoryPlace().open(), agentWith(steps, search));
  const broadcaster = pusherBroadcaster({ ...app, host, port, useTLS: false });
  const broadcasts = broadcastSessions(runtime, { broadcaster, ...more });
  onTestFinished(async () => void (await broadcasts.close()));
  const endpoint = await mounted(
    pusherAuth({
      ...app,
      authorize: ownedSessions(runtime, (request) => request.headers.get('x-user')),
    }),
  );
  const { id: sessionId } = await runtime.create(ann);
  const received = await listening(echoClient(server, endpoint, ann.owner), sessionId);
  return { server, runtime, broadcasts, sessionId, received };
}

const typesOf = (envelopes: readonly Envelope[]): string[] => envelopes.map(({ type }) => type);
const isOver = (envelopes: readonly Envelope[]): boolean =>
  envelopes.some(({ type, payload }) => type === 'agent.status' && 'stop_message' in payload);
const numbered = (envelopes: readonly Envelope[]): Envelope[] =>
  envelopes.filter(({ seq }) => seq !== null);

const script = [
  ScenarioStep.toolCall('search', { q: 'Zoë' }, 'Let me look.'),
  ScenarioStep.final('Found "her" \\ 🚀'),
];

describe('a run over the Pusher protocol', () => {
  it('delivers every logged envelope once and in order', async () => {
    const { server, runtime, broadcasts, sessionId, received } = await stage(script, {
      config: BroadcastConfig.debug(),
    });
    await runtime.send(sessionId, 'Who is Zoë?', waiting);
    await until(() => isOver(received));
    const config = BroadcastConfig.debug();
    const { envelopes } = await readRefill(runtime, sessionId, { ...ann, config });
    expect(numbered(received)).toEqual(envelopes);
    expect(new Set(typesOf(received))).toEqual(
      new Set([
        'agent.status',
        'agent.message',
        'agent.step.started',
        'agent.step.completed',
        'agent.tool.started',
        'agent.tool.completed',
        'agent.continuation',
        'agent.stream.chunk',
        ...(typesOf(received).includes('agent.tool.delta') ? ['agent.tool.delta'] : []),
      ]),
    );
    expect(received.at(-1)).toMatchObject({
      type: 'agent.status',
      payload: { status: 'completed', last_response: 'Found "her" \\ 🚀' },
    });
    await broadcasts.flush();
    expect(broadcasts.stats).toMatchObject({
      queued: 0,
      dropped: 0,
      failed: 0,
      sent: received.length,
    });
    expect(server.requests.length).toBeLessThan(received.length);
  });

  it.each([
    ['standard', BroadcastConfig.standard()],
    ['with the longest results', BroadcastConfig.debug({ maxResultLength: 20_000 })],
  ])('D65: truncates a tool result of 15 KB with a ref (%s)', async (_name, config) => {
    const result = {
      rows: Array.from({ length: 150 }, (_r, i) => ({ id: i, text: '"ü" '.repeat(20) })),
    };
    expect(JSON.stringify(result).length).toBeGreaterThan(15_000);
    const { server, runtime, broadcasts, sessionId, received } = await stage(script, {
      result,
      config,
    });
    const session = await runtime.send(sessionId, 'Who is Zoë?', waiting);
    expect(session.status).toBe('completed');
    await until(() => isOver(received));
    const completed = received.find(({ type }) => type === 'agent.tool.completed');
    const { result_summary: cut } = completed!.payload as { result_summary: TruncatedValue };
    expect(cut.summary.length).toBeGreaterThan(400);
    expect(await readRef(runtime, sessionId, cut.ref, ann)).toEqual(result);
    expect(server.tooLarge).toBe(0);
    expect(broadcasts.stats).toMatchObject({ dropped: 0, failed: 0 });
  });
});

describe('D65: a failing transport', () => {
  it('gets every envelope once and in order after hangs, overloads and errors, and the run does not wait', async () => {
    const { server, runtime, broadcasts, sessionId, received } = await stage(script, {
      callTimeoutMs: 150,
    });
    const restore = server.breakdown({ hangs: true });
    const session = await runtime.send(sessionId, 'Who is Zoë?', waiting);
    expect(session.status).toBe('completed');
    expect(received).toEqual([]);
    await until(() => server.requests[0]?.isAbandoned);
    server.misbehave({ status: 429 }, { status: 500 }, { drops: true });
    restore();
    await until(() => isOver(received));
    const { envelopes } = await readRefill(runtime, sessionId, ann);
    expect(numbered(received)).toEqual(envelopes);
    await until(() => broadcasts.stats.queued === 0);
    expect(broadcasts.stats).toMatchObject({ dropped: 0, sent: received.length });
    expect(broadcasts.stats.retried).toBeGreaterThanOrEqual(4);
  }, 20_000);

  it('delivers envelopes twice, in order and with the same numbers, if its response is lost', async () => {
    const { server, runtime, sessionId, received } = await stage(script);
    server.misbehave({ drops: true, obeys: true });
    await runtime.send(sessionId, 'Who is Zoë?', waiting);
    await until(() => isOver(received));
    const { envelopes } = await readRefill(runtime, sessionId, ann);
    const seen = numbered(received);
    expect(seen.length).toBeGreaterThan(envelopes.length);
    const once = seen.filter(({ seq }, i) => seen.findIndex((other) => other.seq === seq) === i);
    expect(once).toEqual(envelopes);
  }, 20_000);

  it('that refuses everything does not fail the run; dropped envelopes are counted and reported', async () => {
    const errors: unknown[] = [];
    const drops: string[] = [];
    const changes: string[] = [];
    const { server, runtime, broadcasts, sessionId, received } = await stage(script, {
      onError: (error) => errors.push(error),
      onDrop: ({ reason }) => drops.push(reason),
      onTransport: ({ state, error }) => changes.push(`${state} ${String(error)}`),
    });
    const before = server.requests.length;
    const restore = server.breakdown({ status: 401, body: 'Authentication signature invalid.' });
    const session = await runtime.send(sessionId, 'Who is Zoë?', waiting);
    expect(session.status).toBe('completed');
    // the final status waits for the transport
    await until(() => broadcasts.stats.queued === 1);
    expect(received).toEqual([]);
    expect(broadcasts.stats.sent).toBe(0);
    expect(broadcasts.stats.dropped).toBeGreaterThan(5);
    expect(new Set(drops)).toEqual(new Set(['refused']));
    expect(errors).toHaveLength(1);
    expect(String(errors[0])).toMatch(/answered 401: it does not accept the signature/);
    // a second run sends no further request
    await runtime.send(sessionId, 'And now?', waiting).catch(() => {});
    await broadcasts.flush();
    expect(server.requests).toHaveLength(before + 1);
    expect(changes).toEqual([
      expect.stringMatching(/^paused .*answered 401.*appId, key and secret/),
    ]);
    restore();
  });
});
