import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calls, host, operations, setup, waitingSession } from './setup.ts';

describe('paths', () => {
  it.each([
    ['GET /', 404],
    ['GET /api', 404],
    ['GET /api/', 404],
    ['GET /apiary/health', 404],
    ['GET /API/health', 404],
    ['GET //api/health', 404],
    ['GET /api//health', 404],
    ['GET /api/health/', 404],
    ['GET /api/sessions/', 404],
    ['GET /api/sessions//messages', 404],
    ['GET /api/sessions/s//messages', 404],
    ['GET /api/sessions/%2e%2e/info', 200], // resolved by the URL parser: /api/info, with sign-in
    ['GET /api/sessions/..%2finfo', 404],
    ['GET /api/sessions/s%2Fmessages', 404],
    ['GET /api/sessions/other%2F..%2Fs', 404],
    ['GET /api/sessions/s%00', 404],
    ['GET /api/sessions/s%0d%0aset-cookie:x', 404],
    ['GET /api/sessions/s%5C', 404],
    ['GET /api/sessions/%73', 200], // decoded once
    ['GET /api/sessions/%2573', 404], // and only once
    ['GET /api/sessions/%', 400],
    ['GET /api/sessions/%ff', 400],
    ['GET /api/sessions/%E0%A4%A', 400],
    [`GET /api/sessions/${'x'.repeat(129)}`, 404],
    [`GET /api/sessions/${'x'.repeat(100_000)}`, 404],
    ['GET /api/sessions/S', 404],
    ['GET /api/sessions/s%20', 404],
    ['GET /api/sessions/__proto__', 404],
    ['GET /api/sessions/constructor/trace', 404],
    ['POST /api/sessions/s/approvals/a%2Fb', 404],
    ['GET /api/sessions/s?x=../../', 200],
    ['GET /api/sessions/s;jsessionid=1', 404],
  ])('%s gets %i', async (line, status) => {
    const here = setup();
    await waitingSession(here);
    const said = await here.ask(line, { ...(line.startsWith('POST') && { body: {} }) });
    expect(said.status).toBe(status);
    if (status === 404) expect(['not_found', 'session_not_found']).toContain(said.body.error.code);
  });

  it.each([
    ['PUT /api/sessions', 'GET, HEAD, POST, OPTIONS'],
    ['PATCH /api/sessions/s', 'GET, HEAD, DELETE, OPTIONS'],
    ['GET /api/sessions/s/stop', 'POST, OPTIONS'],
    ['HEAD /api/sessions/s/events', 'GET, OPTIONS'],
    ['DELETE /api/health', 'GET, HEAD, OPTIONS'],
    ['FETCH /api/health', 'GET, HEAD, OPTIONS'],
  ])('%s gets 405 with Allow: %s', async (line, allow) => {
    const { server } = setup();
    const [method = '', path = ''] = line.split(' ');
    const response = await server(new Request(`${host}${path}`, { method }));
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  it('values of a request are checked or encoded in response headers', async () => {
    const { ask } = setup();
    for (const id of [
      'short',
      'x'.repeat(65),
      'has space in it',
      'ünïcödé-ünïcödé'.normalize('NFC'),
    ]) {
      const headers = { 'x-request-id': encodeURI(id) === id ? id : 'a b c d e f g h' };
      const { headers: said } = await ask('GET /api/health', { headers });
      expect(said.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    const named = await ask('GET /api/health', { headers: { 'x-request-id': 'trace-1234.5' } });
    expect(named.headers.get('x-request-id')).toBe('trace-1234.5');
    const made = await ask('POST /api/sessions', { body: { id: 'a;b,c=d@e.f' } });
    expect(made.headers.get('location')).toBe('/api/sessions/a%3Bb%2Cc%3Dd%40e.f');
    const evil = await ask('POST /api/sessions', { body: { id: 'x\r\nset-cookie: a=b' } });
    expect(evil.status).toBe(400);
    expect(evil.headers.has('set-cookie')).toBe(false);
  });
});

it('no path, method, header or body causes an internal error', async () => {
  const here = setup({ pusher: { key: 'app', secret: 'shh-this-is-secret' } });
  await waitingSession(here);
  const known = operations(here.server).map(({ path }) => path);
  const piece = fc.oneof(
    fc.constantFrom(
      's',
      'new',
      calls[0],
      '..',
      '%2e',
      '%',
      '%00',
      '%ff',
      '',
      '__proto__',
      'x'.repeat(200),
    ),
    fc
      .string({ maxLength: 12 })
      .map((text) => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''))),
  );
  const path = fc.oneof(
    fc
      .tuple(fc.constantFrom(...known), piece, piece)
      .map(([shape, id, callId]) => `/api${shape.replace('{id}', id).replace('{callId}', callId)}`),
    fc.array(piece, { maxLength: 5 }).map((pieces) => `/${pieces.join('/')}`),
  );
  const names = [
    'status',
    'agent',
    'limit',
    'cursor',
    'search',
    'before',
    'after',
    'ref',
    'execution',
  ];
  const query = fc
    .array(
      fc.tuple(
        fc.constantFrom(...names),
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.constantFrom('1.content.x', '0@x', 'W10=', 'WzEsMl0='),
        ),
      ),
      { maxLength: 3 },
    )
    .map((pairs) => new URLSearchParams(pairs).toString());
  const field = fc.constantFrom(
    'agent',
    'id',
    'metadata',
    'message',
    'content',
    'whenBusy',
    'executionId',
    'decision',
    'args',
    'reason',
    'grant',
    'approvals',
    'atStep',
    'socket_id',
    'channel_name',
    '__proto__',
    'constructor',
    'toJSON',
  );
  const likely = fc.constantFrom<unknown>(
    'support',
    'approve',
    'deny',
    'queue',
    1,
    -1,
    1e300,
    null,
    {},
    [],
    { steps: 1 },
    { [calls[0]]: { approve: true } },
    { article: 'x' },
    'Hi',
    '1.2',
    'private-agent.s',
    '\u0000',
    '\ud800',
    [{ type: 'text', text: 'x' }],
    { toJSON: 1 },
  );
  const body = fc.oneof(
    fc
      .dictionary(field, fc.oneof(likely, fc.jsonValue({ maxDepth: 3 })))
      .map((value) => JSON.stringify(value)),
    fc.string(),
    fc.constantFrom('', '{}', '[', '{"a":', '"\ud800"', '['.repeat(5_000), 'null'),
  );
  const type = fc.constantFrom(
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    'x',
  );
  const method = fc.constantFrom('GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT');
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      query,
      body,
      type,
      fc.constantFrom('ann', 'bob', 'dan'),
      async (m, p, q, b, t, as) => {
        const hasBody = m !== 'GET' && m !== 'HEAD';
        const request = new Request(`${host}${p}?${q}`, {
          method: m,
          headers: { authorization: `Bearer ${as}`, ...(t !== undefined && { 'content-type': t }) },
          ...(hasBody && { body: b }),
        });
        const response = await here.server(request);
        expect(response.status).not.toBe(500);
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        if (response.status >= 400 && m !== 'HEAD') {
          const { error } = (await response.json()) as { error: { code: string; message: string } };
          expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
        } else await response.body?.cancel();
      },
    ),
    { numRuns: 1_500 },
  );
  expect(here.errors).toEqual([]);
}, 30_000);
