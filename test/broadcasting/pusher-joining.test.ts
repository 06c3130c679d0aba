import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionRuntime } from 'onward';
import type { InferenceChunk } from 'onward/drivers';
import {
  BroadcastConfig,
  broadcastSessions,
  readRefill,
  refillEndpoint,
  type Broadcaster,
  type Envelope,
} from 'onward/broadcasting';
import { ownedSessions, pusherAuth, pusherBroadcaster } from 'onward/broadcasting/pusher';
import { agentServer } from 'onward/server';
import { mockTool } from 'onward/testing';
import {
  connectSession,
  echoSource,
  pusherSource,
  type EnvelopeSource,
  type SessionView,
  type UiMessage,
} from 'onward/ui';
import { echoClient, mounted, pusherClient } from '../setup/pusher-clients.ts';
import { pusherServer } from '../setup/pusher-server.ts';
import { Speaker } from '../setup/speaker.ts';
import {
  ann,
  builderWith,
  clientOn,
  memoryPlace,
  pause,
  runtimeOn,
  until,
} from '../setup/sessions.ts';

const args = (argsDelta: string): InferenceChunk => ({
  type: 'tool_call',
  index: 0,
  id: 'call_1',
  name: 'pay',
  argsDelta,
});

/** Wraps a broadcaster so that it silently loses some envelopes. */
const losing = (
  broadcaster: Broadcaster,
  isLost: (envelope: Envelope) => boolean,
): Broadcaster => ({
  ...broadcaster,
  broadcast: (channel, envelope, signal) =>
    isLost(envelope) ? undefined : broadcaster.broadcast(channel, envelope, signal),
  broadcastBatch: async (batch, signal) => {
    const kept = batch.filter(({ envelope }) => !isLost(envelope));
    if (kept.length > 0) await broadcaster.broadcastBatch(kept, signal);
  },
});

type Kind = 'laravel-echo' | 'pusher-js';

interface Page {
  readonly view: () => SessionView;
  /** The visible unfinished text or arguments. */
  readonly unfinishedText: () => string;
  readonly reasoning: () => string;
  readonly disconnect: () => void;
  readonly connect: () => void;
}

async function stage(
  options: {
    readonly isLost?: (envelope: Envelope) => boolean;
    /** Handler of refills. */
    readonly refillOf?: typeof plainRefill;
    readonly place?: ReturnType<typeof memoryPlace>;
    /** Config of envelopes and refills. */
    readonly config?: BroadcastConfig;
  } = {},
) {
  const server = await pusherServer();
  const { app, host, port } = server;
  const speaker = new Speaker();
  const agent = builderWith(speaker, mockTool('pay', 'ok')).build();
  const runtime = runtimeOn((options.place ?? memoryPlace()).open(), agent);
  const broadcaster = pusherBroadcaster({ ...app, host, port, useTLS: false });
  const { isLost = () => false, refillOf = plainRefill } = options;
  const { config = BroadcastConfig.standard() } = options;
  const broadcasts = broadcastSessions(runtime, {
    broadcaster: losing(broadcaster, isLost),
    config,
    onDrop: () => {},
  });
  onTestFinished(async () => void (await broadcasts.close(0)));
  const asked = (request: Request): string | null => request.headers.get('x-user');
  const endpoint = await mounted(pusherAuth({ ...app, authorize: ownedSessions(runtime, asked) }));
  const { id } = await runtime.create(ann);
  const refillUrl = (await mounted(refillOf(runtime, config))).replace(
    /\/[^/]*\/auth$/,
    `/api/sessions/${id}/log`,
  );

  const open = (kind: Kind): Page => {
    const reads = { sessionId: id, refillUrl, headers: { 'x-user': 'ann' } };
    let source: EnvelopeSource;
    let client: { connect(): void; disconnect(): void };
    if (kind === 'laravel-echo') {
      const echo = echoClient(server, endpoint, 'ann');
      client = echo.connector.pusher;
      source = echoSource({ ...reads, echo });
    } else {
      const pusher = pusherClient(server, endpoint, 'ann');
      client = pusher;
      source = pusherSource({ ...reads, pusher });
    }
    const quiet = { minMs: 100, maxMs: 200 };
    const store = connectSession(source, () => {}, { history: [], textMs: 20, quiet });
    onTestFinished(store.close);
    const streaming = (): UiMessage | undefined =>
      store.view().state.messages.find(({ metadata }) => metadata.streaming);
    const unfinishedText = (): string => {
      const row = streaming();
      const call = row?.metadata.tool_calls?.[0]?.args;
      return `${row?.content ?? ''}${typeof call === 'string' ? call : ''}`;
    };
    return {
      view: store.view,
      unfinishedText,
      reasoning: () => streaming()?.metadata.reasoning ?? '',
      connect: () => client.connect(),
      disconnect: () => client.disconnect(),
    };
  };
  const isLive = (page: Page): Promise<unknown> => until(() => page.view().connection === 'live');
  return { speaker, runtime, id, open, isLive, broadcasts };
}

const plainRefill = (runtime: SessionRuntime, config?: BroadcastConfig) => {
  const owner = (request: Request): string | null => request.headers.get('x-user');
  const refill = refillEndpoint({ runtime, owner, ...(config && { config }) });
  return (request: Request): Promise<Response> =>
    refill(request, new URL(request.url).pathname.split('/').at(-2));
};

const serverRefill = (runtime: SessionRuntime) => {
  const server = agentServer({ runtime, owner: (request) => request.headers.get('x-user') });
  onTestFinished(() => server.close());
  return (request: Request): Promise<Response> => server.fetch(request);
};

const kinds: readonly Kind[] = ['laravel-echo', 'pusher-js'];
const isEnd = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status === 'completed';

describe.each(kinds)('a page with %s', (kind) => {
  it('shows the text so far and the rest if it connects during an answer', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage();
    void runtime.send(id, 'go', ann);
    speaker.say('All ', 'is ');
    await until(() => broadcasts.stats.sent > 4);
    const page = open(kind);
    await isLive(page);
    await until(() => page.unfinishedText() === 'All is ');
    speaker.say('well ');
    await until(() => page.unfinishedText() === 'All is well ');
    speaker.ends('All is well indeed.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.at(-1)?.content).toBe('All is well indeed.');
  });

  it('shows the reasoning so far if it connects during reasoning, and recovers lost chunks', async () => {
    let chunks = 0;
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage({
      config: BroadcastConfig.debug(),
      isLost: ({ type }) => type === 'agent.reasoning.chunk' && ++chunks % 3 === 0,
    });
    void runtime.send(id, 'go', ann);
    speaker.thinks('First ', 'this, ');
    await until(() => broadcasts.stats.sent > 4);
    const page = open(kind);
    await isLive(page);
    await until(() => page.reasoning() === 'First this, ');
    speaker.thinks('then ', 'that. ', 'Right?', ' Yes. ');
    await until(() => page.reasoning() === 'First this, then that. Right? Yes. ');
    speaker.say('All ');
    await until(() => page.unfinishedText() === 'All ');
    expect(page.reasoning()).toBe('First this, then that. Right? Yes. ');
    speaker.ends('All is well.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.at(-1)).toMatchObject({
      content: 'All is well.',
      metadata: { reasoning: 'First this, then that. Right? Yes. ' },
    });
  });

  it('D63: gets the part that it missed when it reconnects', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage();
    const page = open(kind);
    await isLive(page);
    void runtime.send(id, 'go', ann);
    speaker.say('one ');
    await until(() => page.unfinishedText() === 'one ');
    page.disconnect();
    const before = broadcasts.stats.sent;
    speaker.say('two ');
    await until(() => broadcasts.stats.sent > before);
    await pause(30);
    page.connect();
    await isLive(page);
    speaker.say('three');
    await until(() => page.unfinishedText() === 'one two three');
    speaker.ends('one two three');
    await until(() => page.view().state.status === 'completed');
  });

  it('requests lost chunks of a text and of arguments; secrets stay hidden', async () => {
    let chunks = 0;
    const { speaker, runtime, id, open, isLive } = await stage({
      isLost: ({ type, payload }) =>
        (type === 'agent.stream.chunk' && ++chunks % 2 === 0) ||
        ('args_delta' in payload && payload.offset === 1),
    });
    const page = open(kind);
    await isLive(page);
    void runtime.send(id, 'go', ann);
    const parts = ['My key is ', 'sk-proj-', 'abcdefghijklmnopqrstuvwxyz', ' and ', 'so ', 'on'];
    for (const part of parts) {
      speaker.say(part);
      await pause(15);
    }
    speaker.say('. ', 'Then ');
    await until(() => page.unfinishedText().includes('so on. '));
    const shown = page.unfinishedText();
    expect(shown).toMatch(/^My key is \S+ and so on\. (Then )?$/);
    expect(shown).not.toContain('abcdef');
    speaker.say(args('{"to":'), args('"ann",'), args('"sum":'), args('5,'));
    await until(() => page.unfinishedText().includes('{"to":"ann","sum":'));
    expect(page.view().state.textGap).toBeNull();
  });

  it('does not stay at "Thinking…" if the last envelopes are lost', async () => {
    const { speaker, runtime, id, open, isLive } = await stage({
      // starting with the answer
      isLost: ({ seq }) => (seq ?? 0) > 4,
    });
    const page = open(kind);
    await isLive(page);
    void runtime.send(id, 'go', ann);
    speaker.say('Hello');
    await until(() => page.unfinishedText() === 'Hello');
    speaker.ends('Hello.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.map(({ content }) => content)).toEqual(['go', 'Hello.']);
  });

  it('shows only the finished message if another process runs the session', async () => {
    const place = memoryPlace();
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage({
      place,
      refillOf: () => plainRefill(clientOn(place.open(), builderWith(new Speaker()).build())),
    });
    void runtime.send(id, 'go', ann);
    speaker.say('The beginning, ');
    await until(() => broadcasts.stats.sent > 3 && broadcasts.stats.queued === 0);
    const page = open(kind);
    await isLive(page);
    speaker.say('the middle, ', 'the end.');
    await pause(100);
    expect(page.unfinishedText()).toBe('');
    expect(page.view().state.status).toBe('processing');
    speaker.ends('The beginning, the middle, the end.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.at(-1)?.content).toBe('The beginning, the middle, the end.');
  });

  it('D64: joins chunks once although each wire splits them differently', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage({
      refillOf: serverRefill,
    });
    const long = Array.from({ length: 4_000 }, (_w, i) => `${i} `).join('');
    void runtime.send(id, 'go', ann);
    speaker.say(long);
    await until(() => broadcasts.stats.sent > 5);
    const page = open(kind);
    await isLive(page);
    await until(() => page.unfinishedText() === long);
    speaker.say('and ', long);
    await until(() => page.unfinishedText() === `${long}and ${long}`);
  });
});

it('D80: two pages show the same after a stop during an answer, and the next turn works', async () => {
  let count = 0;
  const { speaker, runtime, id, open, isLive } = await stage({
    isLost: () => ++count % 3 === 0,
  });
  const pages = kinds.map(open);
  await Promise.all(pages.map(isLive));
  void runtime.send(id, 'go', ann);
  speaker.say('All ', 'is ', 'not ');
  for (const page of pages) await until(() => page.unfinishedText().startsWith('All is not'));
  await runtime.stop(id, { ...ann, wait: true });
  const screens = async (status: string): Promise<unknown[]> => {
    for (const page of pages)
      await until(() => {
        const { state } = page.view();
        return state.status === status && state.gap === null;
      });
    return pages.map(({ view }) =>
      view().state.messages.map(({ role, content, metadata }) => [role, content, metadata]),
    );
  };
  const [first, second] = await screens('cancelled');
  expect(first).toEqual(second);
  expect(JSON.stringify(first)).toContain('All is not');
  void runtime.send(id, 'and now?', ann);
  speaker.say('Well');
  speaker.ends('Well.');
  const [third, fourth] = await screens('completed');
  expect(third).toEqual(fourth);
  expect(JSON.stringify(third)).toContain('Well.');
});

describe('the unfinished answer in a refill', () => {
  it('is only for the owner, on the last page, until the message is finished', async () => {
    const { speaker, runtime, id, broadcasts } = await stage();
    void runtime.send(id, 'go', ann);
    speaker.say('All ', 'is ');
    const read = (more: object = {}) => readRefill(runtime, id, { ...ann, ...more });
    await until(async () => (await read()).unfinished);
    expect((await read()).unfinished).toMatchObject([
      { type: 'agent.stream.chunk', seq: null, payload: { content: 'All is ', offset: 0 } },
    ]);
    expect((await read({ limit: 1 })).unfinished).toBeUndefined();
    expect((await read({ unfinished: false })).unfinished).toBeUndefined();
    const config = BroadcastConfig.standard({ includeStream: false });
    expect((await read({ config })).unfinished).toBeUndefined();
    await expect(readRefill(runtime, id, { owner: 'bob' })).rejects.toMatchObject({
      code: 'session_not_found',
    });
    speaker.ends('All is well.');
    await until(async () => (await read()).envelopes.some(isEnd));
    expect((await read()).unfinished).toBeUndefined();
    await broadcasts.close(0);
  });

  it('is kept while the run has any listener', async () => {
    const { speaker, runtime, id, broadcasts } = await stage();
    await broadcasts.close(0);
    onTestFinished(runtime.wiretap(() => {}));
    const running = runtime.send(id, 'go', { ...ann, wait: true });
    speaker.say('All ', 'is ');
    await pause(30);
    expect((await readRefill(runtime, id, ann)).unfinished).toHaveLength(1);
    speaker.ends('All is well.');
    await running;
    expect((await readRefill(runtime, id, ann)).unfinished).toBeUndefined();
  });
});
