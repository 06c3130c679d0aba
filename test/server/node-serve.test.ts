import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from 'onward/server/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate, pause, refusal, until } from '../setup/sessions.ts';
import { serving, statusOf, wire } from './node-wire.ts';

const ok = (): Response => new Response('ok');

describe('serve', () => {
  it('uses any free port for 0, and returns it', async () => {
    const { url, port } = await serving(ok);
    expect(port).toBeGreaterThan(0);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await (await fetch(`${url}/x`)).text()).toBe('ok');
  });

  it('returns a URL that can be opened if it listens on all interfaces', async () => {
    const { url, port } = await serving(ok, { hostname: '0.0.0.0' });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(url)).status).toBe(200);
  });

  it('explains what to do if the port is in use', async () => {
    const { port } = await serving(ok);
    const error = await refusal(() => serve({ fetch: ok, port }));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain(`port got ${port}, which another program uses`);
    expect(error.message).toContain('choose another port');
    expect(error.details).toMatchObject({ option: 'port', port });
  });

  it.each([-1, 65_536, 1.5, Number.NaN])('refuses the port %d', async (port) => {
    expect((await refusal(() => serve({ fetch: ok, port }))).message).toContain('port got');
  });

  it('refuses an address of another machine', async () => {
    const error = await refusal(() => serve({ fetch: ok, port: 0, hostname: '203.0.113.7' }));
    expect(error.message).toContain('hostname got "203.0.113.7"');
  });

  it('refuses a missing folder of static files before it listens', async () => {
    const error = await refusal(() => serve({ fetch: ok, port: 0, static: '/no/such/folder' }));
    expect(error.message).toContain('static got "/no/such/folder"');
  });

  it('keeps connections alive', async () => {
    const { port } = await serving(ok);
    const ask = `GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
    const { socket, text } = wire(port, ask);
    await until(() => text().endsWith('ok'));
    socket.write(ask);
    await until(() => text().match(/200 OK/g)?.length === 2);
  });
});

describe('closing a server', () => {
  it('finishes running responses and accepts no new connection', async () => {
    const hold = gate();
    let began = false;
    const server = await serving(async () => {
      began = true;
      await hold.passed;
      return new Response('finished');
    });
    const asked = fetch(server.url);
    await until(() => began);
    let isClosed = false;
    const closing = server.close().then(() => (isClosed = true));
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    await pause(20);
    expect(isClosed).toBe(false);
    hold.open();
    expect(await (await asked).text()).toBe('finished');
    await closing;
  });

  it('does not wait for idle connections and incomplete requests', async () => {
    const server = await serving(ok);
    const idle = wire(server.port, `GET / HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
    await until(() => idle.text().endsWith('ok'));
    const half = wire(server.port, 'GET / HT');
    const mute = wire(server.port, '');
    await pause(20);
    await server.close({ graceMs: 60_000 });
    await Promise.all([idle.closed, half.closed, mute.closed]);
  });

  it('closes a keep-alive connection after its last response', async () => {
    const hold = gate();
    const encoder = new TextEncoder();
    const server = await serving(() => {
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode('one '));
          await hold.passed;
          controller.enqueue(encoder.encode('two'));
          controller.close();
        },
      });
      return new Response(body);
    });
    const asked = wire(server.port, `GET / HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
    await until(() => asked.text().includes('one'));
    const closing = server.close({ graceMs: 60_000 });
    hold.open();
    expect(await asked.closed).toContain('two');
    await closing;
  });

  it('aborts requests after the grace time, with a signal for the handler', async () => {
    let signal: AbortSignal | null = null;
    const server = await serving((request) => {
      signal = request.signal;
      return new Promise<Response>(() => {});
    });
    const asked = wire(server.port, `GET / HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
    await until(() => signal);
    await server.close({ graceMs: 50 });
    expect(await asked.closed).toBe('');
    await until(() => signal?.aborted);
  });

  it('can be repeated with a shorter grace time', async () => {
    let began = false;
    const server = await serving(() => {
      began = true;
      return new Promise<Response>(() => {});
    });
    const asked = fetch(server.url).catch(() => 'cut off');
    await until(() => began);
    const patient = server.close({ graceMs: 60_000 });
    await server.close({ graceMs: 0 });
    await patient;
    expect(await asked).toBe('cut off');
    await server.close();
  });

  it('waits for the rest of a request body', async () => {
    let began = false;
    const server = await serving(async (request) => {
      began = true;
      return new Response(await request.text());
    });
    const head = `POST / HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Length: 10\r\n\r\n`;
    const asked = wire(server.port, `${head}12345`);
    await until(() => began);
    const closing = server.close({ graceMs: 60_000 });
    asked.socket.write('67890');
    const answer = await asked.closed;
    expect(statusOf(answer)).toBe(200);
    expect(answer).toContain('1234567890');
    await closing;
  });

  it('frees the port', async () => {
    const server = await serving(ok);
    await server.close();
    const next = createServer();
    onTestFinished(() => {
      next.close();
    });
    await new Promise<void>((resolve) => {
      next.listen(server.port, '127.0.0.1', resolve);
    });
    expect((next.address() as AddressInfo).port).toBe(server.port);
  });
});
