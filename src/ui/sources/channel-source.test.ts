import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from './envelope-source.ts';
import { pusherSource, type PusherSourceOptions } from './pusher-source.ts';
import type { SourceError } from './source-error.ts';

type Listener = (data: unknown) => void;

/** A fake `pusher-js` that counts listeners. */
class Emitter {
  readonly listeners: [string, Listener][] = [];
  bind(event: string, listener: Listener): void {
    this.listeners.push([event, listener]);
  }
  unbind(event: string, listener: Listener): void {
    const at = this.listeners.findIndex(([name, other]) => name === event && other === listener);
    if (at >= 0) this.listeners.splice(at, 1);
  }
  emit(event: string, data?: unknown): void {
    for (const [name, listener] of this.listeners.slice()) if (name === event) listener(data);
  }
}

class Channel extends Emitter {
  subscribed = false;
  subscriptionPending = true;
  /** How often it was requested. */
  asked = 1;
  subscribe(): void {
    this.asked++;
    this.subscriptionPending = true;
  }
  confirm(): void {
    this.subscribed = true;
    this.subscriptionPending = false;
    this.emit('pusher:subscription_succeeded', {});
  }
  refuse(error: object): void {
    this.subscriptionPending = false;
    this.emit('pusher:subscription_error', { type: 'AuthError', ...error });
  }
}

class Client {
  readonly connection = Object.assign(new Emitter(), { state: 'connected' });
  channels = new Map<string, Channel>();
  channel(name: string): Channel | undefined {
    return this.channels.get(name);
  }
  subscribe(name: string): Channel {
    const known = this.channels.get(name);
    if (known && !known.subscriptionPending && !known.subscribed) known.subscribe();
    const channel = known ?? new Channel();
    this.channels.set(name, channel);
    return channel;
  }
  unsubscribe(name: string): void {
    this.channels.delete(name);
  }
  move(state: string): void {
    this.connection.state = state;
    this.connection.emit('state_change', {});
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const steady = { random: () => 1 };

function listen(more: Partial<PusherSourceOptions> = {}, pusher: Client = new Client()) {
  const connections: Connection[] = [];
  const errors: SourceError[] = [];
  const close = pusherSource({ pusher, sessionId: 's', backoff: steady, ...more }).open(
    {
      envelope: () => {},
      connection: (state) => connections.push(state),
      stale: () => {},
      failed: (error) => errors.push(error as SourceError),
    },
    () => null,
  );
  const channel = pusher.channels.get('private-agent.s');
  if (!channel) throw new Error('not joined');
  return { pusher, channel, connections, errors, close };
}

describe('a channel with a failed authorization', () => {
  it('is retried after waits that double up to 30 seconds, and goes live again', async () => {
    const { channel, connections, errors } = listen();
    const waits: number[] = [];
    for (let tries = 1; tries <= 8; tries++) {
      channel.refuse({ status: 503 });
      expect(channel.asked).toBe(tries);
      let ms = 0;
      for (; channel.asked === tries && ms <= 60_000; ms += 500)
        await vi.advanceTimersByTimeAsync(500);
      waits.push(ms);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(new Set(connections.slice(1))).toEqual(new Set(['offline']));
    expect(errors).toHaveLength(8);
    channel.confirm();
    expect(connections.at(-1)).toBe('live');
    channel.subscribed = false;
    channel.refuse({ status: 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(channel.asked).toBe(10);
  });

  it.each([
    ['retry after 7 s', 7_000],
    ['Retry After 120 s', 120_000],
    ['retry after 99999 s', 300_000],
    ['retry after soon', 500],
  ])('waits as long as the endpoint asks: %s', async (words, ms) => {
    const { channel } = listen();
    channel.refuse({ error: `POST /auth answered 429, ${words}.` });
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(channel.asked).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(channel.asked).toBe(2);
  });

  it.each([401, 403, 404, 410, 422])('with %i is not retried, and has a reason', async (status) => {
    const { channel, connections, errors, pusher } = listen();
    channel.refuse({ status });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(channel.asked).toBe(1);
    expect(connections).toEqual(['connecting', 'offline']);
    expect(errors).toMatchObject([{ status, isFinal: true }]);
    expect(errors[0]?.message).toContain(`the auth endpoint answered ${status}: `);
    // a new connection requests the channel again by itself
    pusher.move('connecting');
    pusher.move('connected');
    channel.confirm();
    expect(connections.at(-1)).toBe('live');
  });

  it('is not retried without a connection or after a close', async () => {
    const { channel, pusher, close } = listen();
    channel.refuse({ status: 500 });
    pusher.move('unavailable');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(channel.asked).toBe(1);
    pusher.move('connected');
    channel.refuse({ status: 500 });
    close();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(channel.asked).toBe(1);
  });
});

describe('a channel that is never confirmed', () => {
  it('is requested again after each timeout and wait', async () => {
    const { channel, connections, errors } = listen({ subscribeMs: 2_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(connections).toEqual(['connecting', 'offline']);
    expect(errors[0]?.message).toContain('was not confirmed within 2000 ms. It is retried');
    await vi.advanceTimersByTimeAsync(500);
    expect(channel.asked).toBe(2);
    await vi.advanceTimersByTimeAsync(2_000 + 1_000);
    expect(channel.asked).toBe(3);
    channel.confirm();
    expect(connections.at(-1)).toBe('live');
    await vi.advanceTimersByTimeAsync(600_000);
    expect([channel.asked, connections.at(-1)]).toEqual([3, 'live']);
  });

  it.each([
    [4009, 'signed with another secret'],
    [4200, 'could not handle a message'],
    [4301, 'limit of messages'],
    [4399, 'refused what the client sent'],
  ])('explains code %i', async (code, words) => {
    const { pusher, errors } = listen();
    pusher.connection.emit('error', { type: 'PusherError', data: { code, message: 'x' } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(errors[0]?.message).toContain(`the server reported ${code}: `);
    expect(errors[0]?.message).toContain(words);
  });
});

describe('a channel that the page requested in the meantime', () => {
  it('is live with the next attempt, although its confirmation was for the page', async () => {
    const { pusher, channel, connections } = listen();
    channel.refuse({ status: 503 });
    pusher.unsubscribe('private-agent.s');
    pusher.subscribe('private-agent.s').confirm();
    await vi.advanceTimersByTimeAsync(500);
    expect(connections.at(-1)).toBe('live');
  });
});

describe('a lost connection', () => {
  it.each<[string, number | null, boolean, string]>([
    ['unavailable', null, false, 'has no connection (unavailable)'],
    ['disconnected', null, false, 'disconnected. Call connect() on it to go live again'],
    ['disconnected', 4001, true, 'there is no app with this key'],
    ['disconnected', 4004, true, 'reached its limit of connections'],
    ['disconnected', 4050, true, 'server refuses this connection'],
    ['disconnected', 4302, true, 'limit of the watchlist'],
    ['disconnected', 4000, false, 'only TLS connections'],
    ['disconnected', 4201, false, 'Call connect() on it to go live again'],
    ['unavailable', 4100, false, 'over capacity'],
    ['unavailable', 4150, false, 'reconnect later'],
    ['unavailable', 4201, false, 'did not answer a ping'],
    ['unavailable', 4250, false, 'asks to reconnect'],
    ['unavailable', 1006, false, 'the connection was closed'],
    ['failed', null, true, 'WebSockets are not supported'],
    ['something new', null, false, 'has no connection (something new)'],
  ])('%s with code %s is offline with a reason', (state, code, isFinal, words) => {
    const { pusher, channel, connections, errors } = listen();
    channel.confirm();
    if (code !== null)
      pusher.connection.emit('error', { type: 'WebSocketError', error: { data: { code } } });
    pusher.move(state);
    expect(connections.at(-1)).toBe('offline');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ isFinal });
    expect(errors[0]?.message).toContain(words);
    channel.subscribed = false;
    pusher.move('connecting');
    pusher.move('connected');
    channel.confirm();
    expect(connections.at(-1)).toBe('live');
  });

  it('an error before it was live is not its cause', () => {
    const { pusher, channel, errors } = listen();
    pusher.connection.emit('error', { data: { code: 4009 } });
    channel.confirm();
    pusher.move('unavailable');
    expect(errors[0]?.message).not.toContain('4009');
  });

  it('an error of an earlier connection is not the cause of a timeout on the next', async () => {
    const { pusher, errors } = listen();
    pusher.connection.emit('error', { data: { code: 4201 } });
    pusher.move('connecting');
    pusher.move('connected');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(errors.at(-1)?.message).toContain('was not confirmed');
    expect(errors.at(-1)?.message).not.toContain('4201');
  });

  it('an old error is not its cause', async () => {
    const { pusher, channel, errors } = listen();
    channel.confirm();
    pusher.connection.emit('error', { data: { code: 4009 } });
    await vi.advanceTimersByTimeAsync(60_000);
    pusher.move('disconnected');
    expect(errors[0]?.message).not.toContain('4009');
  });
});

describe('bound listeners', () => {
  it('are unbound when the source closes', () => {
    const pusher = new Client();
    const { channel, close } = listen({}, pusher);
    expect(channel.listeners.length).toBeGreaterThan(10);
    close();
    expect([channel.listeners, pusher.connection.listeners]).toEqual([[], []]);
    expect(pusher.channels.size).toBe(0);
  });

  it('move to the new channel after the page has left the old one', async () => {
    const { pusher, channel, connections, close } = listen();
    pusher.unsubscribe('private-agent.s');
    await vi.advanceTimersByTimeAsync(10_000 + 500);
    const fresh = pusher.channels.get('private-agent.s')!;
    expect(fresh).not.toBe(channel);
    expect(channel.listeners).toEqual([]);
    fresh.confirm();
    expect(connections.at(-1)).toBe('live');
    close();
    expect(fresh.listeners).toEqual([]);
  });
});
