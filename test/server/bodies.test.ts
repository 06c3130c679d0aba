import { describe, expect, it } from 'vitest';
import { host, requestFor, setup, type AskOptions } from './setup.ts';

describe('request validation', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it.each<[string, AskOptions, number, string, RegExp]>([
    [
      'invalid JSON',
      { body: '{"id": nope}' },
      400,
      'invalid_json',
      /expected value at line 1, column 8/,
    ],
    [
      'incomplete JSON',
      { body: '{\n  "id": "x",' },
      400,
      'invalid_json',
      /line 2, column 13, where the body/,
    ],
    ['a list', { body: [1] }, 400, 'invalid_request', /not a JSON object/],
    ['a number', { body: 5 }, 400, 'invalid_request', /not a JSON object/],
    [
      'an unknown field',
      { body: { mesage: 'Hi' } },
      400,
      'invalid_request',
      /"mesage".*It accepts agent, id, metadata, message\./,
    ],
    [
      'a wrong type',
      { body: { metadata: 'x', id: 7 } },
      400,
      'invalid_request',
      /id got 7, expected an unused id .*; metadata got "x", expected an object/,
    ],
    ['a bad id', { body: { id: '../etc' } }, 400, 'invalid_request', /id got "\.\.\/etc"/],
    ['a blank message', { body: { message: ' \n ' } }, 400, 'invalid_request', /not blank/],
    [
      'a part with a URL',
      { body: { message: [{ type: 'image', url: 'http://169.254.169.254/' }] } },
      400,
      'invalid_request',
      /data \(base64\)/,
    ],
    [
      'deeply nested JSON',
      { body: `{"metadata": ${nested(200_000)}}` },
      400,
      'invalid_request',
      /deeper than 64/,
    ],
    [
      'a __proto__ key',
      { body: '{"metadata": {"a": [{"__proto__": {"isAdmin": true}}]}}' },
      400,
      'invalid_request',
      /__proto__/,
    ],
    [
      'a form',
      { body: 'id=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
      /application\/json/,
    ],
    [
      'a text',
      { body: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
      /text\/plain/,
    ],
    [
      'a type that only starts like JSON',
      { body: '{}', headers: { 'content-type': 'application/jsonp' } },
      415,
      'unsupported_media_type',
      /jsonp/,
    ],
    [
      'a body that is too large',
      { body: { metadata: { x: 'x'.repeat(5_000) } } },
      413,
      'body_too_large',
      /4000 bytes/,
    ],
    [
      'few characters with too many bytes',
      { body: { metadata: { x: '€'.repeat(1_900) } } },
      413,
      'body_too_large',
      /4000/,
    ],
  ])('refuses %s', async (what, options, status, code, words) => {
    const { ask, runtime } = setup({
      maxBodyBytes: what === 'deeply nested JSON' ? 1_000_000 : 4_000,
    });
    const said = await ask('POST /api/sessions', options);
    expect([said.status, said.body.error.code]).toEqual([status, code]);
    expect(said.body.error.message).toMatch(words);
    expect((await runtime.list({ owner: 'ann' })).sessions).toEqual([]);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it('refuses bytes that are not UTF-8', async () => {
    const { server } = setup();
    const { headers } = requestFor('POST /api/sessions', { body: {} });
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    const response = await server(
      new Request(`${host}/api/sessions`, { method: 'POST', headers, body }),
    );
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('not UTF-8');
  });

  it('lists invalid fields in the details of the error', async () => {
    const { ask } = setup();
    const { body } = await ask('POST /api/sessions/x/messages', { body: { whenBusy: 'now' } });
    expect(body.error.details.fields).toEqual([
      { field: 'content', seen: 'nothing', expected: expect.stringContaining('a text') },
      { field: 'whenBusy', seen: '"now"', expected: 'one of refuse, queue' },
    ]);
  });

  it('stops reading a body at the size limit, whatever Content-Length is', async () => {
    const { server } = setup({ maxBodyBytes: 10_000 });
    for (const length of [null, '5']) {
      let pulled = 0;
      let isCancelled = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new TextEncoder().encode(' '.repeat(1_000)));
        },
        cancel() {
          isCancelled = true;
        },
      });
      const request = new Request('http://localhost/api/sessions', {
        method: 'POST',
        headers: {
          authorization: 'Bearer ann',
          'content-type': 'application/json',
          ...(length !== null && { 'content-length': length }),
        },
        body,
        duplex: 'half',
      } as RequestInit);
      expect((await server(request)).status).toBe(413);
      expect(isCancelled).toBe(true);
      expect(pulled).toBeLessThan(20);
    }
  });

  it('does not read the body of a request without sign-in', async () => {
    const { server } = setup();
    const request = requestFor('POST /api/sessions', { as: 'dan', body: 'x'.repeat(100) });
    expect((await server(request)).status).toBe(401);
    expect(request.bodyUsed).toBe(false);
  });

  it('accepts images in a message', async () => {
    const { ask, runtime } = setup();
    const part = { type: 'image', data: 'aGk=', mediaType: 'image/png' };
    const said = await ask('POST /api/sessions', {
      body: { id: 's', message: [{ type: 'text', text: 'See ' }, part] },
    });
    expect(said.status).toBe(201);
    await runtime.wait('s', { owner: 'ann' });
    const [first] = (await runtime.state('s', { owner: 'ann' })).messages;
    expect(first!.content).toEqual([{ type: 'text', text: 'See ' }, part]);
  });

  it('keeps the text of a message unchanged', async () => {
    const { ask, runtime } = setup();
    const words = '  <b>\u0000 "quotes" \\ 🙂 password=hunter2 __proto__\n';
    await ask('POST /api/sessions', { body: { id: 's', message: words } });
    await runtime.wait('s', { owner: 'ann' });
    const [first] = (await runtime.state('s', { owner: 'ann' })).messages;
    expect(first!.content).toBe(words);
  });

  it.each([
    ['sessions?limit=0', 'limit got 0, expected a whole number from 1 to 200.'],
    ['sessions?limit=1e3', 'limit got "1e3", expected a whole number'],
    ['sessions?limit=5&limit=6', 'more than once'],
    ['sessions?status=busy', 'status got "busy", expected one of idle, processing'],
    ['sessions?cursor=%00', 'cursor got'],
    ['sessions?cursor=nonsense', 'cursor'],
    [`sessions?search=${'x'.repeat(300)}`, 'search got'],
    ['sessions/s/messages?before=-1', 'before got -1'],
    ['sessions/s/log?after=x', 'after got "x", expected a position such as 12@execution'],
    ['sessions/s/trace?limit=9999', 'limit got 9999'],
  ])('refuses the query of %s', async (path, words) => {
    const { ask } = setup();
    const said = await ask(`GET /api/${path}`);
    expect(said.status).toBe(400);
    expect(said.body.error.message).toContain(words);
  });

  it.each([
    [{ decision: 'deny' }, 'send a reason'],
    [{ decision: 'deny', reason: 'no', args: {} }, 'send a reason and no args'],
    [{ decision: 'approve', reason: 'yes' }, 'to approve, send no reason'],
    [{ decision: 'maybe' }, 'one of approve, deny'],
  ])('refuses the approval answer %j', async (body, words) => {
    const { ask } = setup();
    const said = await ask('POST /api/sessions/s/approvals/c', { body });
    expect(said.status).toBe(400);
    expect(said.body.error.message).toContain(words);
  });

  it.each([
    { grant: {} },
    { grant: { steps: 0 } },
    { grant: { favors: 3 } },
    { approvals: { c: {} } },
  ])('refuses a resume with %j', async (body) => {
    const { ask } = setup();
    expect((await ask('POST /api/sessions/s/resume', { body })).status).toBe(400);
  });
});
