import { describe, expect, it } from 'vitest';
import { setup } from './setup.ts';

/** Large enough that slow code exceeds the timeout of a test. */
const size = 200_000;
const all = (text: string): string => text.repeat(Math.ceil(size / text.length));

describe('bodies that attack performance', () => {
  it.each<[string, string, string]>([
    ['a string without an end', `{"message":"${all('a')}`, 'invalid_json'],
    ['escapes without an end', `{"message":"${all('\\n')}`, 'invalid_json'],
    ['quotes', all('"'), 'invalid_json'],
    ['blanks before an invalid value', `{"message":${all(' ')}x`, 'invalid_json'],
    ['a number of many digits', `{"message":${all('1')}x`, 'invalid_json'],
    ['brackets without an end', all('['), 'invalid_request'],
    [
      'lists in lists',
      `{"metadata":{"a":${'['.repeat(90_000)}${']'.repeat(90_000)}}}`,
      'invalid_request',
    ],
    [
      'many keys',
      `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join()}}`,
      'invalid_request',
    ],
    ['a repeated key', `{${all('"x":1,')}"x":1}`, 'invalid_request'],
    ['a name as long as the body', `{"${all('a')}":1}`, 'invalid_request'],
    ['blanks as a message', JSON.stringify({ message: all(' ') }), 'invalid_request'],
    [
      'almost base64',
      JSON.stringify({ message: [{ type: 'file', data: `${all('A')}!`, mediaType: 'a/b' }] }),
      'invalid_request',
    ],
    [
      'a long type',
      JSON.stringify({ message: [{ type: 'file', data: 'A', mediaType: all('a/') }] }),
      'invalid_request',
    ],
    [
      'many wrong parts',
      JSON.stringify({ message: Array.from({ length: 10_000 }, () => ({ type: 'x' })) }),
      'invalid_request',
    ],
  ])('%s', async (_what, body, code) => {
    const { ask } = setup();
    const said = await ask('POST /api/sessions', { body });
    expect([said.status, said.body.error.code]).toEqual([400, code]);
    expect(said.text.length).toBeLessThan(1_000);
  });

  it('with answers for many unknown calls are refused', async () => {
    const { ask, runtime } = setup();
    await runtime.create({ id: 's', owner: 'ann' });
    const approvals = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`call${i}`, { approve: i % 2 === 0 }]),
    );
    const said = await ask('POST /api/sessions/s/resume', { body: { approvals } });
    expect([said.status, said.body.error.code]).toEqual([400, 'invalid_request']);
    expect(said.text.length).toBeLessThan(1_000);
  });
});

describe('URLs that attack performance', () => {
  it.each([
    ['a search', `sessions?search=${'%20'.repeat(1_000)}x`],
    ['a cursor', `sessions?cursor=${'a'.repeat(1_000)}`],
    ['a repeated parameter', `sessions?${'limit=1&'.repeat(1_000)}`],
    ['a position', `sessions/s/log?after=1@${'%20'.repeat(1_001)}`],
    ['a ref', `sessions/s/refs?ref=1.content.${'%20'.repeat(2_000)}`],
    ['an id', `sessions/${'%2e'.repeat(1_200)}`],
  ])('%s', async (_what, path) => {
    const { ask, runtime } = setup();
    await runtime.create({ id: 's', owner: 'ann' });
    const said = await ask(`GET /api/${path}`);
    expect([400, 404]).toContain(said.status);
    expect(said.text.length).toBeLessThan(4_000);
  });
});

describe('keys of the object prototype', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '%s does not pollute other objects',
    async (key) => {
      const { ask } = setup();
      const body = `{"metadata":{"a":{"${key}":{"isAdmin":true}}}}`;
      const said = await ask('POST /api/sessions', { body });
      expect(said.status).toBe(key === '__proto__' ? 400 : 201);
      expect('isAdmin' in {}).toBe(false);
      expect((await ask(`POST /api/sessions`, { body: `{"${key}":1}` })).status).toBe(400);
      expect((await ask(`GET /api/sessions?status=${key}`)).status).toBe(400);
      expect((await ask(`GET /api/sessions/${key}`)).status).toBe(404);
    },
  );
});

describe('data of another session', () => {
  it('cannot be read by a ref, log position, execution id or cursor', async () => {
    const { ask, runtime } = setup();
    for (const [id, owner] of [
      ['theirs', 'bob'],
      ['mine', 'ann'],
    ] as const) {
      await runtime.create({ id, owner });
      await runtime.send(id, `words of ${owner}`, { owner });
      await runtime.wait(id, { owner });
    }
    const { executionId, events } = await runtime.events('theirs', { owner: 'bob' });
    const run = String(executionId);
    const said = events.find(({ event }) => event.type === 'MessageAdded');
    const refs = await ask(`GET /api/sessions/mine/refs?ref=${said!.seq}.content.${run}`);
    expect([refs.status, refs.body.error.code]).toEqual([404, 'ref_not_found']);
    const log = await ask(`GET /api/sessions/mine/log?after=0@${run}`);
    expect(log.body.envelopes ?? []).toEqual([]);
    const trace = await ask(`GET /api/sessions/mine/trace?execution=${run}`);
    expect(trace.status).toBe(400);
    const page = await ask('GET /api/sessions?limit=1', { as: 'bob' });
    const cursor = encodeURIComponent(String(page.body.cursor ?? ''));
    const listed = await ask(`GET /api/sessions?search=words${cursor && `&cursor=${cursor}`}`);
    for (const { text } of [refs, log, trace, listed]) expect(text).not.toContain('words of bob');
    expect(listed.text).not.toContain('theirs');
  });
});
