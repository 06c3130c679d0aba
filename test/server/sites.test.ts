import { describe, expect, it } from 'vitest';
import { operations, requestFor, setup } from './setup.ts';

const friend = 'https://app.example.com';
const evil = 'https://evil.example';

describe('cross-site requests', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a program', {}, 201],
    ['the same origin', { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }, 201],
    [
      'the same origin behind a proxy',
      { origin: 'https://x.test', 'sec-fetch-site': 'same-origin' },
      201,
    ],
    ['the address bar', { 'sec-fetch-site': 'none' }, 201],
    ['an old browser, same host', { origin: 'http://localhost' }, 201],
    ['an old browser, host by header', { origin: 'https://public.test', host: 'public.test' }, 201],
    ['an allowed origin', { origin: friend, 'sec-fetch-site': 'cross-site' }, 201],
    ['another site', { origin: evil, 'sec-fetch-site': 'cross-site' }, 403],
    ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sub-domain', { origin: 'http://x.localhost', 'sec-fetch-site': 'same-site' }, 403],
    ['an old browser, another host', { origin: evil }, 403],
    ['another port', { origin: 'http://localhost:9' }, 403],
    ['no origin', { origin: 'null' }, 403],
    ['nonsense', { origin: ':::', 'sec-fetch-site': 'elsewhere' }, 403],
    ['an origin that starts like an allowed one', { origin: `${friend}.evil.example` }, 403],
    ['an allowed origin without TLS', { origin: 'http://app.example.com' }, 403],
  ])('%s', async (_who, headers, status) => {
    const { ask, runtime } = setup({ cors: { origins: [friend] } });
    const said = await ask('POST /api/sessions', { body: { id: 's' }, headers });
    expect(said.status).toBe(status);
    if (status === 403) expect(said.body.error.code).toBe('cross_site');
    const { sessions } = await runtime.list({ owner: 'ann' });
    expect(sessions).toHaveLength(status === 201 ? 1 : 0);
  });

  it('change nothing on any route', async () => {
    const pusher = { key: 'app', secret: 'shh-this-is-secret' };
    const { ask, server } = setup({ pusher, admin: () => ({ by: 'root' }) });
    const changing = operations(server).filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeGreaterThan(8);
    for (const { method, path } of changing) {
      const said = await ask(`${method} /api${path.replaceAll(/[{}]/g, '')}`, {
        headers: { origin: evil, 'sec-fetch-site': 'cross-site' },
        ...(method === 'POST' && { body: {} }),
      });
      expect([said.status, said.body.error.code]).toEqual([403, 'cross_site']);
    }
  });

  it('may read, but get no CORS headers', async () => {
    const { ask } = setup();
    const headers = { origin: evil, 'sec-fetch-site': 'cross-site' };
    const said = await ask('GET /api/sessions', { headers });
    expect(said.status).toBe(200);
    expect([...said.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
    expect(said.headers.get('vary')).toBeNull();
  });
});

describe('CORS', () => {
  const preflight = (origin: string, asked = 'authorization, content-type') => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': asked,
  });

  it('is off by default: OPTIONS returns only the allowed methods', async () => {
    const { ask } = setup();
    const said = await ask('OPTIONS /api/sessions/x', { as: null, headers: preflight(friend) });
    expect(said.status).toBe(204);
    expect(said.headers.get('allow')).toBe('GET, HEAD, DELETE, OPTIONS');
    expect([...said.headers.keys()].some((name) => name.startsWith('access-control'))).toBe(false);
    expect((await ask('OPTIONS /api/nothing', { as: null })).status).toBe(404);
  });

  it('allows exactly the configured origins, also on streams and errors', async () => {
    const { ask, server } = setup({ cors: { origins: [friend] } });
    const said = await ask('OPTIONS /api/sessions', { as: null, headers: preflight(friend) });
    expect(Object.fromEntries(said.headers)).toMatchObject({
      'access-control-allow-origin': friend,
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
      vary: 'origin',
    });
    expect(said.headers.has('access-control-allow-credentials')).toBe(false);
    const stranger = await ask('OPTIONS /api/sessions', { as: null, headers: preflight(evil) });
    expect(stranger.headers.has('access-control-allow-origin')).toBe(false);
    expect(stranger.headers.get('vary')).toBe('origin');
    await ask('POST /api/sessions', { body: { id: 's' } });
    for (const line of ['GET /api/sessions/s/events', 'GET /api/sessions/none', 'GET /api/no']) {
      const response = await server(requestFor(line, { headers: { origin: friend } }));
      expect(response.headers.get('access-control-allow-origin'), line).toBe(friend);
      expect(response.headers.get('vary'), line).toBe('origin');
      void response.body?.cancel();
    }
    const anonymous = await ask('GET /api/info', { as: null, headers: { origin: friend } });
    expect(anonymous.headers.get('access-control-allow-origin')).toBe(friend);
    const other = await ask('GET /api/info', { headers: { origin: evil } });
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('allows credentials only if configured, and only for allowed origins', async () => {
    const { ask } = setup({ cors: { origins: [friend], credentials: true } });
    const said = await ask('GET /api/info', { headers: { origin: friend } });
    expect(said.headers.get('access-control-allow-credentials')).toBe('true');
    const evilly = await ask('GET /api/info', { headers: { origin: evil } });
    expect(evilly.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('does not echo invalid header names', async () => {
    const { ask } = setup({ cors: { origins: [friend] } });
    for (const asked of ['x y', 'a;b', 'x'.repeat(100), '<script>']) {
      const headers = preflight(friend, asked);
      const said = await ask('OPTIONS /api/sessions', { as: null, headers });
      expect(said.headers.has('access-control-allow-headers')).toBe(false);
    }
  });
});
