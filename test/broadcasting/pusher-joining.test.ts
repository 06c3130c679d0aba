import { describe, expect, it, onTestFinished } from 'vitest';
import type { InferenceChunk, SessionRuntime } from 'onward';
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
} from 'onward/ui';
import { echoClient, mounted, pusherClient } from '../setup/pusher-clients.ts';
import { pusherServer } from '../setup/pusher-server.ts';
import {
  ann,
  builderWith,
  clientOn,
  memoryPlace,
  pause,
  runtimeOn,
  until,
} from '../setup/sessions.ts';

/** A model that says what it is told, when it is told. */
class Speaker {
  readonly name = 'speaker';
  readonly #said: InferenceChunk[] = [];
  #wake: () => void = () => {};

  say(...chunks: readonly (string | InferenceChunk)[]): void {
    for (const chunk of chunks)
      this.#said.push(typeof chunk === 'string' ? { type: 'content', text: chunk } : chunk);
    this.#wake();
  }
  ends(content: string): void {
    const response = { content, toolCalls: [], finishReason: 'stop', usage: null } as const;
    this.say({ type: 'done', response });
  }
  infer(): Promise<never> {
    throw new Error('It only streams.');
  }
  async *stream(): AsyncGenerator<InferenceChunk> {
    for (;;) {
      const next = this.#said.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (next?.type === 'done') return;
    }
  }
}

const args = (argsDelta: string): InferenceChunk => ({
  type: 'tool_call',
  index: 0,
  id: 'call_1',
  name: 'pay',
  argsDelta,
});

/** A wire that loses what a test wants lost, and says that it arrived. */
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
  /** The text that is on screen while it is made, or the arguments. */
  readonly inTheMaking: () => string;
  readonly disconnect: () => void;
  readonly connect: () => void;
}

async function stage(
  options: {
    readonly isLost?: (envelope: Envelope) => boolean;
    /** Who answers refills. */
    readonly refillOf?: (worker: SessionRuntime) => (request: Request) => Promise<Response>;
    readonly place?: ReturnType<typeof memoryPlace>;
  } = {},
) {
  const server = await pusherServer();
  const { app, host, port } = server;
  const speaker = new Speaker();
  const agent = builderWith(speaker, mockTool('pay', 'ok')).build();
  const runtime = runtimeOn((options.place ?? memoryPlace()).open(), agent);
  const broadcaster = pusherBroadcaster({ ...app, host, port, useTLS: false });
  const { isLost = () => false, refillOf = plainRefill } = options;
  const broadcasts = broadcastSessions(runtime, {
    broadcaster: losing(broadcaster, isLost),
    onDrop: () => {},
  });
  onTestFinished(async () => void (await broadcasts.close(0)));
  const asked = (request: Request): string | null => request.headers.get('x-user');
  const endpoint = await mounted(pusherAuth({ ...app, authorize: ownedSessions(runtime, asked) }));
  const { id } = await runtime.create(ann);
  const refillUrl = (await mounted(refillOf(runtime))).replace(
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
    const inTheMaking = (): string => {
      const row = store.view().state.messages.find(({ metadata }) => metadata.streaming);
      const call = row?.metadata.tool_calls?.[0]?.args;
      return `${row?.content ?? ''}${typeof call === 'string' ? call : ''}`;
    };
    return {
      view: store.view,
      inTheMaking,
      connect: () => client.connect(),
      disconnect: () => client.disconnect(),
    };
  };
  const isLive = (page: Page): Promise<unknown> => until(() => page.view().connection === 'live');
  return { speaker, runtime, id, open, isLive, broadcasts };
}

const plainRefill = (runtime: SessionRuntime) => {
  const refill = refillEndpoint({ runtime, owner: (request) => request.headers.get('x-user') });
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
  it('that comes in the middle of an answer sees the text so far, and what follows', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage();
    void runtime.send(id, 'go', ann);
    speaker.say('All ', 'is ');
    await until(() => broadcasts.stats.sent > 4);
    const page = open(kind);
    await isLive(page);
    await until(() => page.inTheMaking() === 'All is ');
    speaker.say('well ');
    await until(() => page.inTheMaking() === 'All is well ');
    speaker.ends('All is well indeed.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.at(-1)?.content).toBe('All is well indeed.');
  });

  it('D63: that was away for a part of it gets that part when it is back', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage();
    const page = open(kind);
    await isLive(page);
    void runtime.send(id, 'go', ann);
    speaker.say('one ');
    await until(() => page.inTheMaking() === 'one ');
    page.disconnect();
    const before = broadcasts.stats.sent;
    speaker.say('two ');
    await until(() => broadcasts.stats.sent > before);
    await pause(30);
    page.connect();
    await isLive(page);
    speaker.say('three');
    await until(() => page.inTheMaking() === 'one two three');
    speaker.ends('one two three');
    await until(() => page.view().state.status === 'completed');
  });

  it('that loses pieces of a text and of arguments asks for them; secrets stay hidden', async () => {
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
    await until(() => page.inTheMaking().includes('so on. '));
    const shown = page.inTheMaking();
    expect(shown).toMatch(/^My key is \S+ and so on\. (Then )?$/);
    expect(shown).not.toContain('abcdef');
    speaker.say(args('{"to":'), args('"ann",'), args('"sum":'), args('5,'));
    await until(() => page.inTheMaking().includes('{"to":"ann","sum":'));
    expect(page.view().state.textGap).toBeNull();
  });

  it('whose last envelopes are lost is not left at "Thinking…"', async () => {
    const { speaker, runtime, id, open, isLive } = await stage({
      // from the answer on
      isLost: ({ seq }) => (seq ?? 0) > 4,
    });
    const page = open(kind);
    await isLive(page);
    void runtime.send(id, 'go', ann);
    speaker.say('Hello');
    await until(() => page.inTheMaking() === 'Hello');
    speaker.ends('Hello.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.map(({ content }) => content)).toEqual(['go', 'Hello.']);
  });

  it('while another process works on the session: nothing in the middle, then the whole message', async () => {
    const place = memoryPlace();
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage({
      place,
      refillOf: () => plainRefill(clientOn(place.open(), builderWith(new Speaker()).build())),
    });
    void runtime.send(id, 'go', ann);
    speaker.say('The beginning, ');
    await until(() => broadcasts.stats.sent > 3);
    const page = open(kind);
    await isLive(page);
    speaker.say('the middle, ', 'the end.');
    await pause(100);
    expect(page.inTheMaking()).toBe('');
    expect(page.view().state.status).toBe('processing');
    speaker.ends('The beginning, the middle, the end.');
    await until(() => page.view().state.status === 'completed');
    expect(page.view().state.messages.at(-1)?.content).toBe('The beginning, the middle, the end.');
  });

  it('D64: a chunk that is cut differently on each wire is put together once', async () => {
    const { speaker, runtime, id, open, isLive, broadcasts } = await stage({
      refillOf: serverRefill,
    });
    const long = Array.from({ length: 4_000 }, (_w, i) => `${i} `).join('');
    void runtime.send(id, 'go', ann);
    speaker.say(long);
    await until(() => broadcasts.stats.sent > 5);
    const page = open(kind);
    await isLive(page);
    await until(() => page.inTheMaking() === long);
    speaker.say('and ', long);
    await until(() => page.inTheMaking() === `${long}and ${long}`);
  });
});

it('D80: a stop in the middle of an answer ends two pages in the same screen, and the next turn works', async () => {
  let count = 0;
  const { speaker, runtime, id, open, isLive } = await stage({
    isLost: () => ++count % 3 === 0,
  });
  const pages = kinds.map(open);
  await Promise.all(pages.map(isLive));
  void runtime.send(id, 'go', ann);
  speaker.say('All ', 'is ', 'not ');
  for (const page of pages) await until(() => page.inTheMaking().startsWith('All is not'));
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

describe('what a refill tells of an answer in the making', () => {
  it('is for the owner, with the end of the log, and gone with the message', async () => {
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

  it('is kept while the run is listened to, by any listener', async () => {
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
