import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type RequestHandler } from 'express';
import { nodeListener } from 'onward/server/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../setup/sessions.ts';

async function listening(app: Express): Promise<string> {
  const server = await new Promise<Server>((resolve) => {
    const started = app.listen(0, '127.0.0.1', () => resolve(started));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const echo = nodeListener(async (request) => {
  const { pathname, search } = new URL(request.url);
  return Response.json({ path: pathname + search, body: await request.text() });
});

const post = (url: string, body: string, type = 'application/json'): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': type } });

describe('nodeListener in Express', () => {
  it('gets the full URL under any mount path, and leaves other routes to Express', async () => {
    const app = express();
    const router = express.Router();
    router.use('/b', echo);
    app.use('/a', router);
    app.get('/other', (_req, res) => void res.send('express'));
    const url = await listening(app);
    expect(await (await fetch(`${url}/a/b/c?d=e`)).json()).toEqual({
      path: '/a/b/c?d=e',
      body: '',
    });
    expect(await (await fetch(`${url}/other`)).text()).toBe('express');
  });

  it.each<[string, RequestHandler, string, string, string]>([
    ['express.json()', express.json(), '{ "a": [1, "✓"] }', 'application/json', '{"a":[1,"✓"]}'],
    [
      'express.urlencoded()',
      express.urlencoded(),
      'a=1&b=x+y',
      'application/x-www-form-urlencoded',
      'a=1&b=x+y',
    ],
    ['express.text()', express.text({ type: '*/*' }), 'plain ✓', 'text/plain', 'plain ✓'],
    ['express.raw()', express.raw({ type: '*/*' }), 'raw ✓', 'application/json', 'raw ✓'],
    ['a parser for other types', express.json(), 'a,b', 'text/csv', 'a,b'],
  ])('gets the body after %s', async (_name, parser, sent, type, body) => {
    const app = express();
    app.use(parser, echo);
    const url = await listening(app);
    expect(await (await post(`${url}/x`, sent, type)).json()).toEqual({ path: '/x', body });
    expect(await (await fetch(`${url}/x`)).json()).toEqual({ path: '/x', body: '' });
    expect(await (await post(`${url}/x`, '', type)).json()).toMatchObject({ path: '/x' });
  });

  it('reports a body that another middleware has read', async () => {
    const received: unknown[] = [];
    const app = express();
    app.use((req, _res, next) => void req.resume().once('end', () => next()));
    app.use(nodeListener(() => new Response('ok'), { onError: (error) => received.push(error) }));
    const response = await post(await listening(app), '{"a":1}');
    expect(response.status).toBe(500);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('body_already_read');
    expect(error.message).toContain('before body parsers');
    expect(received).toHaveLength(1);
  });

  it('aborts the signal when the client disconnects, also after a parser', async () => {
    const app = express();
    let signal: AbortSignal | null = null;
    app.use(
      express.json(),
      nodeListener((request) => {
        signal = request.signal;
        return new Promise<Response>(() => {});
      }),
    );
    const url = await listening(app);
    const left = new AbortController();
    const asked = fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
      signal: left.signal,
    }).catch(() => 'left');
    await until(() => signal);
    left.abort();
    expect(await asked).toBe('left');
    await until(() => signal?.aborted);
  });
});
