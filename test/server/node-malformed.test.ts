import { describe, expect, it } from 'vitest';
import { serving, statusOf, wire } from './node-wire.ts';

describe('malformed requests', () => {
  const echo = (request: Request): Response =>
    Response.json([request.method, request.url, request.headers.get('x-evil')]);

  it.each<[string, number, (host: string) => string]>([
    ['a text that is not HTTP', 400, () => 'hello there\r\n\r\n'],
    ['no Host', 400, () => 'GET / HTTP/1.1\r\n\r\n'],
    ['an empty Host', 400, () => 'GET / HTTP/1.1\r\nHost: \r\n\r\n'],
    ['a Host with a path', 400, (host) => `GET / HTTP/1.1\r\nHost: ${host}/x\r\n\r\n`],
    ['a Host with a user', 400, (host) => `GET / HTTP/1.1\r\nHost: a@${host}\r\n\r\n`],
    ['a Host with spaces', 400, () => 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['an invalid Host', 400, () => 'GET / HTTP/1.1\r\nHost: [::zz]\r\n\r\n'],
    ['two Hosts', 421, (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: evil.test\r\n\r\n`],
    ['another Host', 421, () => 'GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n'],
    ['an invalid absolute URL', 400, (host) => `GET http://[ HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    [
      'an absolute URL of another host',
      421,
      (host) => `GET http://evil.test/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ],
    ['a backslash in the path', 400, (host) => `GET /a\\..\\b HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a path without a slash', 400, (host) => `GET x HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['an asterisk', 400, (host) => `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['TRACE', 400, (host) => `TRACE / HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a method that does not exist', 400, (host) => `BREW / HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    [
      'a line break in a header',
      400,
      (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nX-A: b\rX-Evil: 1\r\n\r\n`,
    ],
    [
      'a zero byte in a header',
      400,
      (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nX-A: b\0c\r\n\r\n`,
    ],
    [
      'both a length and chunks',
      400,
      (host) =>
        `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a negative length',
      400,
      (host) => `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1\r\n\r\n`,
    ],
    [
      'headers of 20 KB',
      431,
      (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
    ],
    [
      'a path of 20 KB',
      431,
      (host) => `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ],
  ])('%s gets %i, and the server continues', async (_what, status, bytes) => {
    const { url, port } = await serving(echo);
    const sent = wire(
      port,
      bytes(`127.0.0.1:${port}`).replace(/\r\n\r\n/, '\r\nConnection: close\r\n\r\n'),
    );
    expect(statusOf(await sent.closed)).toBe(status);
    expect((await fetch(url)).status).toBe(200);
  });

  it('an absolute URL of this server is accepted, as from a proxy', async () => {
    const { url, port } = await serving(echo);
    const host = `127.0.0.1:${port}`;
    const { closed } = wire(
      port,
      `GET ${url}/a?b HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(await closed).toContain(`["GET","${url}/a?b",null]`);
  });

  it('dots in a path are resolved before the handler', async () => {
    const { port } = await serving(echo);
    const { closed } = wire(
      port,
      `GET /public/../api/%2e%2e/x HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`,
    );
    expect(await closed).toContain(`["GET","http://localhost:${port}/x",null]`);
  });

  it('a response with a line break in a header is not sent', async () => {
    const { url } = await serving(
      (request) =>
        new Response('x', {
          headers: { 'x-echo': decodeURIComponent(new URL(request.url).search) },
        }),
      { onError: () => {} },
    );
    const response = await fetch(`${url}/?a%0d%0ax-evil:%201`);
    expect(response.status).toBe(500);
    expect(response.headers.get('x-evil')).toBeNull();
  });
});

describe('the Host of a loopback server', () => {
  const asked = async (port: number, host: string): Promise<number> =>
    statusOf(
      await wire(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`).closed,
    );

  it.each<[string, number]>([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['[::1]:PORT', 200],
    ['localhost', 421],
    ['localhost:1', 421],
    ['localhost.:PORT', 421],
    ['localhost.evil.test:PORT', 421],
    ['127.0.0.1.evil.test:PORT', 421],
    ['evil.test:PORT', 421],
    ['0.0.0.0:PORT', 421],
    ['2130706433:PORT', 421],
  ])('%s gets %i', async (host, status) => {
    const { port } = await serving(() => new Response('ok'));
    expect(await asked(port, host.replace('PORT', String(port)))).toBe(status);
  });

  it('may be extended for a proxy or a forwarded port', async () => {
    const { port } = await serving(() => new Response('ok'), { allowedHosts: ['Box.test:8080'] });
    expect(await asked(port, 'box.test:8080')).toBe(200);
    expect(await asked(port, 'box.test:8081')).toBe(421);
  });

  it('is not checked on a public server', async () => {
    const { port } = await serving(() => new Response('ok'), { hostname: '0.0.0.0' });
    expect(await asked(port, 'agents.example.com')).toBe(200);
  });
});
