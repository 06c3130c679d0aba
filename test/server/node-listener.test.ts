import { request as httpRequest } from 'node:http';
import { gate, pause, until } from '../setup/sessions.ts';
import { nodeListener } from 'onward/server/node';
import { describe, expect, it, vi } from 'vitest';
import { serving, statusOf, wire } from './node-wire.ts';

const encoder = new TextEncoder();
const before = { Request: globalThis.Request, Response: globalThis.Response };

describe('a Fetch handler on node:http', () => {
  it('gets method, URL, headers and body, and its response is sent completely', async () => {
    const { url } = await serving(async (request) => {
      const { method, headers } = request;
      const seen = { method, url: request.url, from: headers.get('x-from') };
      const answer = Response.json({ ...seen, body: await request.text() }, { status: 201 });
      answer.headers.append('set-cookie', 'a=1');
      answer.headers.append('set-cookie', 'b=2');
      return answer;
    });
    const response = await fetch(`${url}/a/b?c=d%20e`, {
      method: 'POST',
      headers: { 'x-from': 'ann' },
      body: 'hello ✓',
    });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.json()).toEqual({
      method: 'POST',
      url: `${url}/a/b?c=d%20e`,
      from: 'ann',
      body: 'hello ✓',
    });
  });

  it('gets a Request that can be copied, like in a browser or an edge runtime', async () => {
    const { url } = await serving(async (request) => {
      const copy = new Request(request, { headers: { 'x-owner': 'ann' } });
      return Response.json([copy.headers.get('x-owner'), await copy.text()]);
    });
    const response = await fetch(url, { method: 'POST', body: 'hello' });
    expect(await response.json()).toEqual(['ann', 'hello']);
  });

  it('does not change the global Request and Response', () => {
    nodeListener(() => new Response('ok'));
    expect(globalThis.Request).toBe(before.Request);
    expect(globalThis.Response).toBe(before.Response);
  });

  it('gets an abort if the client disconnects before or during the response', async () => {
    const signals: AbortSignal[] = [];
    let cancelled = 0;
    const { url } = await serving((request) => {
      signals.push(request.signal);
      if (new URL(request.url).pathname === '/works') return new Promise<Response>(() => {});
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(encoder.encode('first')),
        cancel: () => {
          cancelled += 1;
        },
      });
      return new Response(body);
    });
    const working = new AbortController();
    const asked = fetch(`${url}/works`, { signal: working.signal }).catch(() => 'left');
    await until(() => signals.length === 1);
    working.abort();
    expect(await asked).toBe('left');
    await until(() => signals[0]?.aborted);

    const streaming = new AbortController();
    const response = await fetch(`${url}/streams`, { signal: streaming.signal });
    await response.body?.getReader().read();
    streaming.abort();
    await until(() => signals[1]?.aborted && cancelled === 1);
  });

  it('gets no abort after a complete response', async () => {
    const signals: AbortSignal[] = [];
    const { url } = await serving((request) => {
      signals.push(request.signal);
      return new Response('all');
    });
    await (await fetch(url)).text();
    await (await fetch(url, { method: 'POST', body: 'x' })).text();
    await pause(20);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it('sends each chunk immediately', async () => {
    const next = gate();
    const { url } = await serving(() => {
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode('one'));
          await next.passed;
          controller.enqueue(encoder.encode('two'));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const response = await fetch(url);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('one');
    next.open();
    expect((await reader.read()).value).toBe('two');
    expect((await reader.read()).done).toBe(true);
  });

  it('sends the headers of a stream before its first chunk', async () => {
    const { url } = await serving(
      () => new Response(new ReadableStream(), { headers: { 'x-here': 'yes' } }),
    );
    const left = new AbortController();
    const response = await fetch(url, { signal: left.signal });
    expect(response.headers.get('x-here')).toBe('yes');
    left.abort();
  });

  it('stops reading a stream while the client does not read', async () => {
    const piece = new Uint8Array(64 * 1024);
    let pulls = 0;
    const { url } = await serving(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              pulls += 1;
              controller.enqueue(piece);
              if (pulls === 500) controller.close();
            },
          }),
        ),
    );
    const response = await new Promise<import('node:http').IncomingMessage>((resolve) => {
      httpRequest(url, resolve).end();
    });
    response.pause();
    let seen = -1;
    await until(async () => {
      const isStill = seen === pulls && pulls > 0;
      seen = pulls;
      await pause(50);
      return isStill;
    });
    expect(pulls).toBeLessThan(400);
    let bytes = 0;
    for await (const data of response) bytes += (data as Buffer).length;
    expect(bytes).toBe(500 * piece.length);
  });

  it('reads a body of many megabytes in chunks', async () => {
    const { url } = await serving(async (request) => {
      let bytes = 0;
      for await (const data of request.body!) bytes += data.length;
      return Response.json({ bytes });
    });
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(20_000_000) });
    expect(await response.json()).toEqual({ bytes: 20_000_000 });
  });

  it('can refuse an unread body and serves the next request', async () => {
    const { url } = await serving(() => new Response('too large', { status: 413 }));
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(3_000_000) });
    expect([response.status, await response.text()]).toEqual([413, 'too large']);
    expect((await fetch(url)).status).toBe(413);
  });

  it('can respond to a body that never ends', async () => {
    const { port } = await serving(() => new Response('enough', { status: 413 }));
    const { text, closed } = wire(
      port,
      `POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 1000000\r\n\r\nhalf`,
    );
    await until(() => statusOf(text()) === 413);
    expect(await closed).toContain('enough');
  });

  it('D43: sends an error without details, which only onError gets', async () => {
    const secret = 'sk-live-0123456789abcdef0123';
    const onError = vi.fn();
    const { url } = await serving(
      () => {
        throw new Error(`no way with ${secret}`);
      },
      { onError },
    );
    const response = await fetch(url);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'internal_error' } });
    expect(onError).toHaveBeenCalledTimes(1);
    expect(String(onError.mock.calls[0]?.[0])).toContain('no way');
  });

  it('D43: logs one redacted line without onError', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      const { url } = await serving(() =>
        Promise.reject(new Error('key sk-live-0123456789abcdef0123 refused')),
      );
      expect((await fetch(url)).status).toBe(500);
      expect(log.mock.calls).toEqual([['onward: a request failed: Error: key [redacted] refused']]);
    } finally {
      log.mockRestore();
    }
  });

  it.each([
    ['before its first chunk', 0],
    ['after one chunk', 1],
    ['after many chunks', 20],
  ])(
    'D43: aborts the connection of a stream that fails %s, and does not log the error',
    async (_when, pieces) => {
      const log = vi.spyOn(console, 'error').mockImplementation(() => {});
      const onError = vi.fn();
      let sent = 0;
      const { url } = await serving(
        () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                await pause(1);
                if (sent++ === pieces) throw new Error('no way with sk-live-0123456789abcdef0123');
                controller.enqueue(encoder.encode('piece'));
              },
            }),
          ),
        { onError },
      );
      const whole = fetch(url).then((response) => response.text());
      await expect(whole).rejects.toThrow(/terminated|fetch failed/);
      expect(onError).toHaveBeenCalledTimes(1);
      expect(log).not.toHaveBeenCalled();
      log.mockRestore();
      sent = -1_000;
      expect((await fetch(url)).status).toBe(200);
    },
  );

  it('sends an error if it returns no Response', async () => {
    const onError = vi.fn();
    const { url } = await serving(() => undefined as unknown as Response, { onError });
    expect((await fetch(url)).status).toBe(500);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  it('continues if onError throws', async () => {
    const { url } = await serving(() => Promise.reject(new Error('first')), {
      onError: () => {
        throw new Error('second');
      },
    });
    expect((await fetch(url)).status).toBe(500);
    expect((await fetch(url)).status).toBe(500);
  });
});
