import { describe, expect, it } from 'vitest';
import { inProcessBus } from '../../bus/in-process-bus.ts';
import type { BusHandlers, MessageBus } from '../../bus/message-bus.ts';
import type { LiveEvent, LiveStreamed, TextSoFar } from '../feed/live-source.ts';
import type { StoreCodec } from '../session-store.ts';
import { SessionBus, type BusHost } from './session-bus.ts';

const chunk = (content: string, offset: number, sessionId = 's'): LiveStreamed => ({
  sessionId,
  owner: 'ann',
  seq: null,
  follows: 3,
  event: {
    type: 'StreamChunk',
    agentId: 'a',
    parentAgentId: null,
    executionId: 'e',
    index: 0,
    at: '2026-01-01T00:00:00Z',
    messageId: 'm',
    stepNumber: 1,
    attempt: 1,
    content,
    offset,
  },
});
const position = { executionId: 'e', seq: 3 };
const moment = (ms = 5): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** A process on the bus, and what reaches it. */
function processOn(
  bus: MessageBus,
  node: string,
  { text = null, codec }: { readonly text?: TextSoFar | null; readonly codec?: StoreCodec } = {},
) {
  const seen: string[] = [];
  const failures: unknown[] = [];
  const host: BusHost = {
    woken: ({ id, owner, agent, isStop }) =>
      seen.push(`woken ${id} ${owner} ${agent} ${isStop ? 'to stop' : ''}`.trim()),
    changed: (id) => seen.push(`changed ${id}`),
    connected: () => seen.push('connected'),
    textSoFar: (id) => (id === 's' ? text : null),
    failed: (error) => failures.push(error),
  };
  const sessionBus = new SessionBus(bus, node, codec, host);
  const watch = (id: string): (() => void) =>
    sessionBus.watch(id, {
      text: ({ event }) => seen.push(`text ${'content' in event ? event.content : ''}`),
      changed: () => seen.push(`watched ${id}`),
    });
  return { bus: sessionBus, watch, seen, failures, taken: () => seen.splice(0) };
}

/** A bus without other processes, and the handlers of the newest connection. */
function emptyBus(): { readonly bus: MessageBus; handlers(): BusHandlers } {
  const opened: BusHandlers[] = [];
  const bus: MessageBus = {
    maxBytes: 7_900,
    open(_node, handlers) {
      opened.push(handlers);
      return { isConnected: true, send() {}, close: async () => {} };
    },
  };
  return { bus, handlers: () => opened.at(-1)! };
}

describe('a process on a bus', () => {
  it('asks the others for work, and notifies all of them of changes', async () => {
    const bus = inProcessBus();
    const [a, b] = [processOn(bus, 'a'), processOn(bus, 'b')];
    await moment();
    expect(b.taken()).toEqual(['connected']);
    a.bus.wake({ id: 's', owner: 'ann', agent: 'support' }, false);
    a.bus.wake({ id: 't', owner: 'ann', agent: 'support' }, true);
    a.bus.changed('s');
    await moment();
    expect(b.taken()).toEqual(['woken s ann support', 'woken t ann support to stop', 'changed s']);
  });

  it('sends events to the processes that watch a session, text before the news of the log', async () => {
    const bus = inProcessBus();
    const [worker, web, other] = [processOn(bus, 'w'), processOn(bus, 'a'), processOn(bus, 'b')];
    await moment();
    for (const one of [worker, web, other]) one.taken();
    const unwatch = web.watch('s');
    await moment();
    const logged = { ...chunk('', 0), seq: 4 } as unknown as LiveEvent;
    (logged as { event: unknown }).event = { ...chunk('', 0).event, type: 'AgentStepStarted' };
    worker.bus.forward(logged);
    worker.bus.forward(chunk('All ', 0));
    worker.bus.forward(chunk('is', 4));
    worker.bus.forward(chunk('other', 0, 't'));
    expect(web.seen).toEqual([]);
    await moment(60);
    expect(web.taken()).toEqual(['text All ', 'text is', 'changed s', 'watched s']);
    expect(other.taken()).toEqual([]);
    unwatch();
    unwatch();
    await moment();
    worker.bus.forward(chunk('late', 6));
    worker.bus.settled('s');
    await moment(60);
    expect(web.taken()).toEqual([]);
  });

  it('reports the end of work without a wait for the next batch', async () => {
    const bus = inProcessBus();
    const [worker, web] = [processOn(bus, 'w'), processOn(bus, 'a')];
    await moment();
    web.taken();
    web.watch('s');
    await moment();
    worker.bus.forward(chunk('All', 0));
    worker.bus.settled('s');
    await moment(10);
    expect(web.taken()).toEqual(['text All', 'changed s', 'watched s']);
  });

  it('learns on its start which sessions others watch', async () => {
    const bus = inProcessBus();
    const web = processOn(bus, 'a');
    web.watch('s');
    await moment();
    const late = processOn(bus, 'w');
    await moment();
    web.taken();
    late.bus.settled('s');
    await moment(10);
    expect(web.taken()).toEqual(['changed s', 'watched s']);
  });

  it('answers with the text so far, unless its text is older than the position of the reader', async () => {
    const text: TextSoFar = { ...position, follows: 3, events: [chunk('All is', 0)] };
    const bus = inProcessBus();
    processOn(bus, 'zombie', { text: { ...text, follows: 2 } });
    processOn(bus, 'w', { text });
    const web = processOn(bus, 'a');
    await moment();
    expect(await web.bus.textSoFar('s', position)).toEqual({
      executionId: 'e',
      follows: 3,
      events: [chunk('All is', 0)],
    });
  });

  it('answers nothing for a session that no process streams', async () => {
    const bus = inProcessBus();
    processOn(bus, 'w');
    const web = processOn(bus, 'a');
    await moment();
    const asked = web.bus.textSoFar('s', position);
    await web.bus.close();
    expect(await asked).toBeNull();
  });

  it('reads what it watches again after each connect', async () => {
    const { bus, handlers } = emptyBus();
    const web = processOn(bus, 'a');
    web.watch('s');
    for (let i = 0; i < 2; i++) {
      handlers().connected();
      expect(web.taken()).toEqual(['connected', 'watched s']);
    }
  });

  it('drops text that a slow codec cannot keep up with, and no other message', async () => {
    const { bus, handlers } = emptyBus();
    let decoding = 0;
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const codec: StoreCodec = {
      encode: (text) => text,
      async decode(text) {
        decoding += 1;
        await gate;
        return text;
      },
    };
    const web = processOn(bus, 'a', { codec });
    web.watch('s');
    const body = JSON.stringify(' '.repeat(7_000));
    for (let i = 0; i < 1_000; i++) handlers().received(`{"kind":"live"}\n${body}`);
    handlers().received('{"kind":"changed","sessionIds":["s"]}\n');
    expect(web.taken()).toEqual(['changed s', 'watched s']);
    expect(web.failures).toMatchObject([{ code: 'bus_failed' }]);
    go();
    await moment(50);
    expect(decoding).toBe(Math.floor(1_000_000 / body.length));
    // it has caught up
    handlers().received(`{"kind":"live"}\n${JSON.stringify(body)}`);
    await moment(50);
    expect(decoding).toBe(1 + Math.floor(1_000_000 / body.length));
  });

  it('ignores foreign messages, and reports unreadable text once', async () => {
    const { bus, handlers } = emptyBus();
    const codec: StoreCodec = {
      encode: (text) => text,
      decode: () => Promise.reject(new Error('wrong key')),
    };
    const web = processOn(bus, 'a', { codec });
    web.watch('s');
    for (const text of ['', 'hello', '{"kind":"later"}\n', '{"kind":"live"}\nsecret'])
      for (let i = 0; i < 3; i++) handlers().received(text);
    await moment();
    expect(web.seen).toEqual([]);
    expect(web.failures).toHaveLength(1);
    expect(web.failures[0]).toMatchObject({ code: 'bus_failed' });
    const plain = processOn(bus, 'b');
    plain.watch('s');
    for (const text of ['{"kind":"live"}\nnot JSON', '{"kind":"live"}\n[1]'])
      handlers().received(text);
    expect([plain.seen, plain.failures]).toEqual([[], []]);
  });
});
