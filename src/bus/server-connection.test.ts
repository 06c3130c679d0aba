import { describe, expect, it } from 'vitest';
import { AgentError } from '../errors/agent-error.ts';
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts';
import type { BusLink, BusMessage, BusServer, LinkEvents } from './bus-server.ts';
import type { BusHandlers } from './message-bus.ts';
import { ServerConnection } from './server-connection.ts';

/** A link that a test controls. */
class FakeLink implements BusLink {
  readonly events: LinkEvents;
  readonly openedAt: number;
  readonly published: (readonly BusMessage[])[] = [];
  readonly ready: Promise<void>;
  connect: () => void = () => {};
  refuse: (error: Error) => void = () => {};
  isClosed = false;
  pings = 0;
  /** Answer of the server to messages and pings. */
  answer: (messages: readonly BusMessage[]) => Promise<void> = async () => {};

  constructor(events: LinkEvents, openedAt: number) {
    this.events = events;
    this.openedAt = openedAt;
    this.ready = new Promise((resolve, reject) => {
      this.connect = resolve;
      this.refuse = reject;
    });
  }
  publish(messages: readonly BusMessage[]): Promise<void> {
    this.published.push(messages);
    return this.answer(messages);
  }
  ping(): Promise<void> {
    this.pings += 1;
    return this.answer([]);
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
  get texts(): string[] {
    return this.published.flat().map(({ payload }) => payload.slice(payload.indexOf(':') + 1));
  }
}

interface Scene {
  readonly clock: FakeClock;
  readonly links: FakeLink[];
  readonly log: string[];
  readonly connection: ServerConnection;
  /** The newest link. */
  link(): FakeLink;
  /** Lets promises settle. */
  settle(): Promise<void>;
}

function scene(handlers: Partial<BusHandlers> = {}): Scene {
  const clock = fakeClock();
  const links: FakeLink[] = [];
  const log: string[] = [];
  const server: BusServer = {
    name: 'Fake',
    open(_channels, events) {
      const link = new FakeLink(events, clock.monotonic());
      links.push(link);
      return link;
    },
    isRefusal: (error) => String(error).includes('refused'),
    isOfText: (error) => String(error).includes('text'),
    explain: (error) => (error instanceof Error ? error.message : 'unknown'),
  };
  const connection = new ServerConnection(
    server,
    'me',
    {
      received: (text) => log.push(`received ${text}`),
      connected: () => log.push('connected'),
      failed: (error) => log.push((error as Error).message),
      ...handlers,
    },
    {
      channel: 'test',
      maxBytes: 100,
      timeoutMs: 1_000,
      pingMs: 1_000,
      clock,
      random: () => 1,
    },
  );
  return {
    clock,
    links,
    log,
    connection,
    link: () => links.at(-1)!,
    settle: () => clock.advance(0),
  };
}

async function connectedScene(handlers: Partial<BusHandlers> = {}): Promise<Scene> {
  const made = scene(handlers);
  await made.settle();
  made.link().connect();
  await made.settle();
  made.log.length = 0;
  return made;
}

const never = (): Promise<never> => new Promise(() => {});
const lost = (why: string): string =>
  `The bus has no connection to Fake: ${why}. It keeps trying, and messages are lost until it connects.`;

describe('connecting', () => {
  it('doubles the wait between tries up to 5 seconds, and reports each reason once', async () => {
    const { clock, links, log, link, settle } = scene();
    await settle();
    for (const waitMs of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      const count = links.length;
      link().refuse(new Error(waitMs === 800 ? 'another reason' : 'refused connection'));
      await clock.advance(waitMs - 1);
      expect(links).toHaveLength(count);
      await clock.advance(1);
      expect(links).toHaveLength(count + 1);
    }
    expect(log).toEqual([lost('refused connection'), lost('another reason')]);
    expect(links.slice(0, -1).every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('reports at most ten different reasons of one outage', async () => {
    const { clock, log, link, settle } = scene();
    await settle();
    for (let i = 0; i < 20; i++) {
      const refused = link();
      refused.refuse(new Error(`reason ${i}`));
      while (link() === refused) await clock.advance(500);
    }
    expect(log).toEqual(Array.from({ length: 10 }, (_reason, i) => lost(`reason ${i}`)));
  });

  it('reports an AgentError unchanged', async () => {
    const { log, link, settle } = scene();
    await settle();
    link().refuse(new AgentError('package_missing', 'Run: npm install x'));
    await settle();
    expect(log).toEqual(['Run: npm install x']);
  });

  it('resets the wait after a link that lasted, but not after a short one', async () => {
    const { clock, links, link, settle } = scene();
    const live = async (ms: number): Promise<number> => {
      await settle();
      link().connect();
      await clock.advance(ms);
      link().events.broken(new Error('gone'));
      const [brokenAt, count] = [clock.monotonic(), links.length];
      while (links.length === count) await clock.advance(50);
      return links.at(-1)!.openedAt - brokenAt;
    };
    expect(await live(10)).toBe(100);
    expect(await live(10)).toBe(200);
    expect(await live(10)).toBe(400);
    expect(await live(6_000)).toBe(100);
  });

  it('gives up on a server that does not answer in time', async () => {
    const { clock, links, log } = scene();
    await clock.advance(1_000);
    expect(log).toEqual([lost('no answer within 1000 ms')]);
    expect(links[0]!.isClosed).toBe(true);
    await clock.advance(100);
    expect(links).toHaveLength(2);
  });

  it('reports the same reason again after a connect', async () => {
    const { clock, link, log, settle } = await connectedScene();
    for (let i = 0; i < 2; i++) {
      link().events.broken(new Error('gone'));
      link().events.broken(new Error('gone twice'));
      await clock.advance(200);
      link().connect();
      await settle();
    }
    expect(log).toEqual([lost('gone'), 'connected', lost('gone'), 'connected']);
  });
});

describe('a link that goes silent', () => {
  it('is closed if a ping gets no answer', async () => {
    const { clock, link, log, connection } = await connectedScene();
    await clock.advance(3_500);
    expect([link().pings, log]).toEqual([3, []]);
    link().answer = never;
    await clock.advance(1_500);
    expect(log).toEqual([lost('no answer within 1000 ms')]);
    expect([link().isClosed, connection.isConnected]).toEqual([true, false]);
  });

  it('is closed if a message gets no answer, and waiting messages are lost', async () => {
    const { clock, links, link, log, connection } = await connectedScene();
    link().answer = never;
    connection.send(null, 'first');
    connection.send(null, 'second');
    await clock.advance(1_100);
    expect(log).toEqual([lost('no answer within 1000 ms')]);
    link().connect();
    await clock.advance(0);
    connection.send(null, 'third');
    await clock.advance(0);
    expect(links.map(({ texts }) => texts)).toEqual([['first'], ['third']]);
  });
});

describe('sending', () => {
  it('sends the first message immediately, and batches later ones in order', async () => {
    const { link, connection, settle } = await connectedScene();
    for (const text of ['a', 'b', 'c']) connection.send(null, text);
    await settle();
    expect(link().published.map((batch) => batch.length)).toEqual([1, 2]);
    expect(link().texts).toEqual(['a', 'b', 'c']);
  });

  it('drops 100,000 messages without a connection, and sends none later', async () => {
    const { link, connection, settle, log } = scene();
    await settle();
    for (let i = 0; i < 100_000; i++) connection.send(null, `text ${i}`);
    link().connect();
    await settle();
    expect([link().texts, log]).toEqual([[], ['connected']]);
  });

  it('keeps a bounded number of 100,000 messages while the server is slow, and drops droppable ones first', async () => {
    const { link, connection, settle, log } = await connectedScene();
    let release: () => void = () => {};
    link().answer = () => new Promise((resolve) => (release = resolve));
    const text = 'x'.repeat(90);
    for (let i = 0; i < 50_000; i++) connection.send(null, `d${text}`, { isDroppable: true });
    for (let i = 0; i < 50_000; i++) connection.send(null, `m${text}`);
    await settle();
    expect(log).toEqual([expect.stringContaining('The bus drops messages')]);
    link().answer = async () => {};
    release();
    await settle();
    const counts = { d: 0, m: 0 };
    for (const sent of link().texts) counts[sent[0] as 'd' | 'm'] += 1;
    expect(counts.d).toBeGreaterThan(8_000);
    expect(counts.m).toBeGreaterThan(8_000);
    expect(counts.d + counts.m).toBeLessThan(20_000);
  });

  it('reports a refused message once, and sends the next ones', async () => {
    const { link, connection, settle, log } = await connectedScene();
    link().answer = () => Promise.reject(new Error('refused by the server'));
    for (let i = 0; i < 3; i++) {
      connection.send(null, 'bad');
      await settle();
    }
    link().answer = async () => {};
    connection.send(null, 'good');
    await settle();
    expect(log).toEqual([
      'Fake refused messages of the bus, which are lost: refused by the server.',
    ]);
    expect(link().texts.at(-1)).toBe('good');
    expect(connection.isConnected).toBe(true);
  });

  it('sends the other messages of a batch if the server refuses the text of one', async () => {
    const { link, connection, settle, log } = await connectedScene();
    const accepted: string[] = [];
    link().answer = async (messages) => {
      const texts = messages.map(({ payload }) => payload.slice(payload.indexOf(':') + 1));
      if (texts.includes('bad')) throw new Error('refused a text');
      accepted.push(...texts);
    };
    const texts = Array.from({ length: 40 }, (_, i) => (i === 23 ? 'bad' : `m${i}`));
    for (const text of texts) connection.send(null, text);
    await settle();
    expect(accepted).toEqual(texts.filter((text) => text !== 'bad'));
    expect(link().published.length).toBeLessThan(20);
    expect(log).toEqual(['Fake refused messages of the bus, which are lost: refused a text.']);
    expect(connection.isConnected).toBe(true);
  });

  it('reports a message that is not a text', async () => {
    const { connection, settle, log } = await connectedScene();
    connection.send(null, undefined as unknown as string);
    await settle();
    expect(log).toEqual([expect.stringContaining('expected well-formed text')]);
  });

  it('is disconnected when a loss is reported', async () => {
    const seen: boolean[] = [];
    const made = await connectedScene({ failed: () => seen.push(made.connection.isConnected) });
    made.link().events.broken(new Error('gone'));
    await made.settle();
    expect(seen).toEqual([false]);
  });

  it('closes the link on a connection error while sending', async () => {
    const { link, connection, settle, log } = await connectedScene();
    link().answer = () => Promise.reject(new Error('socket closed'));
    connection.send(null, 'a');
    await settle();
    expect([log, connection.isConnected]).toEqual([[lost('socket closed')], false]);
  });
});

describe('handlers', () => {
  it('have their errors reported, except those of `failed`', async () => {
    const made = await connectedScene({
      received: () => {
        throw new Error('a bug');
      },
    });
    made.link().events.received(`1${'0'.repeat(12)}1:hello`);
    expect(made.log).toEqual(['a bug']);
    const worse = await connectedScene({
      failed: () => {
        throw new Error('a bug');
      },
    });
    worse.link().events.broken(new Error('gone'));
    await worse.clock.advance(200);
    expect(worse.links).toHaveLength(2);
  });

  it.each([
    '',
    'hello',
    '1',
    `1${'0'.repeat(12)}`,
    `2${'0'.repeat(12)}1:x`,
    `1${'0'.repeat(11)}:x`,
  ])('are not called with %j, which is not a frame', async (payload) => {
    const { link, log } = await connectedScene();
    link().events.received(payload);
    expect(log).toEqual([]);
  });
});

describe('closing', () => {
  it('waits up to a second for pending messages', async () => {
    const { clock, link, connection } = await connectedScene();
    link().answer = never;
    connection.send(null, 'last');
    let isClosed = false;
    void connection.close().then(() => (isClosed = true));
    await clock.advance(900);
    expect(isClosed).toBe(false);
    await clock.advance(100);
    expect([isClosed, link().isClosed, clock.pendingTimers]).toEqual([true, true, 0]);
  });

  it.each<[string, (made: Scene) => unknown]>([
    ['while it connects', () => {}],
    ['while it is connected', ({ link }) => link().connect()],
    ['while it waits for the next try', ({ link }) => link().refuse(new Error('no'))],
    [
      'while a ping is pending',
      async ({ clock, link }) => {
        link().connect();
        link().answer = never;
        await clock.advance(1_500);
      },
    ],
  ])('leaves no timer and calls no handler: %s', async (_, prepare) => {
    const made = scene();
    await made.settle();
    await prepare(made);
    await made.settle();
    made.log.length = 0;
    await Promise.all([made.connection.close(), made.connection.close()]);
    made.link().events.received(`1${'0'.repeat(12)}1:hello`);
    made.link().events.broken(new Error('gone'));
    await made.clock.advance(60_000);
    expect(made.log).toEqual([]);
    expect(made.clock.pendingTimers).toBe(0);
    expect(made.links).toHaveLength(1);
    expect(made.link().isClosed).toBe(true);
  });
});
