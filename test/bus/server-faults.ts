import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { MessageBus } from 'onward/bus';
import { messageBusContract } from 'onward/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Peers, type Peer } from '../../src/testing/bus-contract/bus-harness.ts';
import { bundleProgram } from '../setup/bundle-program.ts';
import { tcpProxy, type TcpProxy } from '../setup/tcp-proxy.ts';

export interface BusTimes {
  readonly channel: string;
  readonly timeoutMs?: number;
  readonly pingMs?: number;
}

export interface BusUnderTest {
  readonly kind: 'postgres' | 'redis';
  /** Returns the address of the running server. */
  url(): string;
  at(url: string, times: BusTimes): MessageBus;
  /** Kills and restarts the server; null if the test did not start it. */
  crash(): { kill(): Promise<void>; restart(): Promise<void> } | null;
  /** Returns the address with an unknown user and password. */
  wrongLogin(url: string): string;
}

let channels = 0;
/** Returns a new channel with the default times. */
export const calm = (): BusTimes => ({ channel: `test.${process.pid}-${++channels}` });
/** Returns a new channel with short times, so that failures are detected soon. */
export const quick = (): BusTimes => ({ ...calm(), timeoutMs: 2_000, pingMs: 200 });

/** Creates peers on one channel, which are closed after the test. */
export function peersOn(bus: () => MessageBus): Peers {
  const peers = new Peers({ bus }, 20_000);
  onTestFinished(() => peers.close());
  return peers;
}

/** Expects that both peers get each other's message. */
export async function expectExchange(a: Peer, b: Peer): Promise<void> {
  const text = `exchange ${Math.random()}`;
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.send(to, text);
    await to.untilReceived(text);
  }
}

const reconnected = (peer: Peer, connects: number): Promise<void> =>
  peer.until(`it is connected ${connects} times`, () => peer.connects >= connects);

/** Returns everything that logging an error might print. */
function everythingIn(error: unknown): string {
  const seen: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    seen.push(at.message, String(at.stack), JSON.stringify({ ...at }));
  return seen.join('\n');
}

/** Tests the faults that a bus over a server must survive. */
export function describeServerBus({ kind, url, at, crash, wrongLogin }: BusUnderTest): void {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await tcpProxy(url());
  });
  afterAll(() => proxy?.close());

  const viaProxy = (times: BusTimes = calm()): Peers => {
    onTestFinished(() => proxy.accept());
    return peersOn(() => at(proxy.url, times));
  };

  describe('the contract', () => {
    const times = calm();
    const breakdown = async (): Promise<() => Promise<void>> => {
      proxy.refuse();
      proxy.cutAll();
      return async () => proxy.accept();
    };
    const harness = { bus: () => at(proxy.url, times), breakdown };
    for (const { name, run } of messageBusContract(() => harness)) it(name, run);
  });

  describe('faults', () => {
    it('D88: connects to a server that is down at first, and reports each reason once', async () => {
      proxy.refuse();
      const peers = viaProxy();
      const [a, b] = [peers.open(), peers.open()];
      const before = proxy.connections;
      await expect.poll(() => proxy.connections - before).toBeGreaterThan(8);
      expect(a.failures[0]).toMatchObject({
        code: 'bus_failed',
        details: { reason: 'disconnected' },
      });
      expect(new Set(a.failures.map(String)).size).toBe(a.failures.length);
      proxy.accept();
      await Promise.all([reconnected(a, 1), reconnected(b, 1)]);
      await expectExchange(a, b);
    });

    it('reconnects each time the server is killed and restarted', async (context) => {
      const server = crash();
      if (!server) return context.skip();
      const times = calm();
      const peers = peersOn(() => at(url(), times));
      const [a, b] = await peers.connect(2);
      for (const crashes of [1, 2]) {
        await server.kill();
        for (let i = 0; i < 1_000; i++) a.send(b, 'lost');
        await a.until('the loss is reported', () => a.failures.length >= crashes);
        await server.restart();
        await Promise.all([reconnected(a, 1 + crashes), reconnected(b, 1 + crashes)]);
        await expectExchange(a, b);
      }
    }, 60_000);

    it('detects and replaces silent connections', async () => {
      const [a, b] = await viaProxy(quick()).connect(2);
      proxy.silenceAll();
      a.send(b, 'lost');
      await Promise.all([reconnected(a, 2), reconnected(b, 2)]);
      await expectExchange(a, b);
      expect(String(a.failures[0])).toContain('no answer within 2000 ms');
      expect(b.received).not.toContain('lost');
    });

    it('gives up after the timeout on a server that accepts connections but never answers', async () => {
      proxy.swallow();
      const peers = viaProxy(quick());
      const [a, b] = [peers.open(), peers.open()];
      await a.until('it is reported', () => a.failures.length > 0);
      expect(String(a.failures[0])).toMatch(/no answer within 2000 ms|ETIMEDOUT|timeout expired/);
      proxy.accept();
      await Promise.all([reconnected(a, 1), reconnected(b, 1)]);
      await expectExchange(a, b);
    });

    it('loses messages while it reconnects, and delivers later ones', async () => {
      const [a, b] = await viaProxy().connect(2);
      proxy.cutAll();
      const sending = setInterval(() => a.send(b, 'some'), 1);
      onTestFinished(() => clearInterval(sending));
      await Promise.all([reconnected(a, 2), reconnected(b, 2)]);
      clearInterval(sending);
      await expectExchange(a, b);
    });

    it('keeps channels separate', async () => {
      const [times, others] = [calm(), calm()];
      const [a, b] = await peersOn(() => at(url(), times)).connect(2);
      const [c, d] = await peersOn(() => at(url(), others)).connect(2);
      for (const text of [`${a.mark}to all`, `${a.mark}to a`])
        c.connection.send(text.endsWith('all') ? null : a.node, text);
      await expectExchange(c, d);
      await expectExchange(a, b);
      expect(a.received).toHaveLength(1);
    });
  });

  describe('secrets', () => {
    it.each([
      ['a refused connection', () => `${kind}://bob:hunter2secret@127.0.0.1:1`],
      ['an invalid address', () => `${kind}://bob:hunter2secret@:x/db`],
      ['an unknown host', () => `${kind}://bob:hunter2secret@no.such.host.invalid`],
      ['a wrong login', () => wrongLogin(url())],
    ])('are in no error: %s', async (_, address) => {
      const peer = peersOn(() => at(address(), calm())).open();
      await peer.until('it is reported', () => peer.failures.length > 0);
      expect(peer.failures[0]).toMatchObject({ code: 'bus_failed' });
      expect(everythingIn(peer.failures[0])).not.toContain('hunter2');
    });
  });

  describe('a process', () => {
    let program: Awaited<ReturnType<typeof bundleProgram>>;
    beforeAll(async () => {
      program = await bundleProgram('test/bus/bus-program.ts');
    }, 60_000);
    afterAll(() => program?.remove());

    /** Starts the program. `output` returns its output so far. */
    const started = (address: string): { child: ChildProcess; output(): string } => {
      const child = spawn(process.execPath, [program.file, kind, address]);
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (bytes) => (output += String(bytes)));
      return { child, output: () => output };
    };
    const close = async ({ child, output }: ReturnType<typeof started>): Promise<void> => {
      const exit = once(child, 'exit');
      child.stdin?.write('close\n');
      expect(await exit).toEqual([0, null]);
      expect(output()).toMatch(/closed\n$/);
    };

    it('exits after close', async () => {
      const process = started(url());
      await expect.poll(process.output).toContain('connected');
      await close(process);
    });

    it('exits after close while the connection is silent', async () => {
      const process = started(proxy.url);
      await expect.poll(process.output).toContain('connected');
      proxy.silenceAll();
      await close(process);
    });

    it('exits after close while it connects, and while it waits for the next try', async () => {
      onTestFinished(() => proxy.accept());
      proxy.swallow();
      const connecting = started(proxy.url);
      await expect.poll(connecting.output).toContain('opened');
      await close(connecting);
      proxy.refuse();
      const waiting = started(proxy.url);
      await expect.poll(waiting.output).toContain('The bus has no connection');
      await close(waiting);
    });
  });
}
