import { agentServer } from 'onward/server';
import { ScenarioStep } from 'onward/testing';
import { httpActions, newUiState, reduceEnvelope } from 'onward/ui';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { agentWith, ann, places, runtimeOn } from '../setup/sessions.ts';
import { asking, owner } from './setup.ts';

/** Base64 that is long enough to be stored outside its row. */
const picture = Buffer.from(
  Uint8Array.from({ length: 30_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 13),
).toString('base64');

describe.each(places)('images and files of a message (%s)', (_name, open) => {
  it('are sent as parts, stored once, shown as images or chips, and deleted with the session', async () => {
    const agent = agentWith([ScenarioStep.final('I see.'), ScenarioStep.final('Again.')]);
    const store = open().open();
    const hashes = new Set<string>();
    let written = 0;
    // counts the large values as they are written
    const commit = store.commit.bind(store);
    store.commit = (...given) => {
      for (const { hash } of given[0].blobs ?? []) hashes.add(hash);
      written += JSON.stringify(given[0]).split(picture.slice(0, 2_000)).length - 1;
      return commit(...given);
    };
    const runtime = runtimeOn(store, agent);
    const server = agentServer({ runtime, owner, agents: [agent], name: 'test', rateLimit: null });
    onTestFinished(() => server.close());
    const ask = asking(server);
    await ask('POST /api/sessions', { body: { id: 's' } });
    const { maxAttachmentBytes } = (await ask('GET /api/info')).body;
    expect(maxAttachmentBytes).toBeGreaterThan(2_000_000);
    const { send } = httpActions({
      base: 'http://x/api',
      sessionId: 's',
      fetch: (url, init): Promise<Response> =>
        server(
          new Request(String(url), {
            ...init,
            headers: { ...(init?.headers as object), authorization: 'Bearer ann' },
          } as RequestInit),
        ),
    });
    const files = [
      { type: 'image', data: picture, media_type: 'image/png', filename: 'a.png', bytes: 30_000 },
      {
        type: 'file',
        data: picture,
        media_type: 'image/svg+xml',
        filename: '\u202egvs.<b>',
        bytes: 30_000,
      },
    ] as const;
    await send('Look', { id: 'first', files });
    await runtime.wait('s', ann);
    await send('', { id: 'second', files: files.slice(0, 1) });
    await runtime.wait('s', ann);

    const rows = (await ask('GET /api/sessions/s/messages')).body.messages;
    expect(rows.map(({ content }: { content: string }) => content)).toEqual([
      'Look',
      'I see.',
      '[image]',
      'Again.',
    ]);
    const [image, vector] = rows[0].metadata.files;
    expect(image).toMatchObject({ type: 'image', media_type: 'image/png', data: picture });
    // a vector image may hold scripts: only its name is shown
    expect(vector).toEqual({
      type: 'file',
      media_type: 'image/svg+xml',
      filename: '\u202egvs.<b>',
      bytes: 30_000,
    });
    const { envelopes } = (await ask('GET /api/sessions/s/log')).body;
    const live = (envelopes as Envelope[]).reduce(reduceEnvelope, newUiState());
    expect(live.messages[0]?.metadata.files).toEqual([
      { type: 'image', media_type: 'image/png', filename: 'a.png', bytes: 30_000 },
    ]);
    expect(hashes.size).toBeGreaterThan(0);
    expect(written, 'copies of the picture in all commits').toBeLessThanOrEqual(3);

    await ask('DELETE /api/sessions/s');
    expect(await store.blobs('s', [...hashes])).toEqual([]);
  });

  it('are refused beyond the limit, with an address, or of another kind', async () => {
    const agent = agentWith([ScenarioStep.final('I see.')]);
    const runtime = runtimeOn(open().open(), agent);
    const server = agentServer({
      runtime,
      owner,
      agents: [agent],
      name: 'test',
      rateLimit: null,
      maxBodyBytes: 10_000,
      maxMessageBytes: 20_000,
    });
    onTestFinished(() => server.close());
    const ask = asking(server);
    await ask('POST /api/sessions', { body: { id: 's' } });
    const image = { type: 'image', mediaType: 'image/png' };
    const refusedWith = async (part: object): Promise<number> =>
      (await ask('POST /api/sessions/s/messages', { body: { content: [part] } })).status;
    expect(await refusedWith({ ...image, data: 'A'.repeat(30_000) })).toBe(413);
    expect(await refusedWith({ ...image, url: 'http://169.254.169.254/' })).toBe(400);
    expect(await refusedWith({ ...image, data: '<svg>' })).toBe(400);
    expect(await refusedWith({ ...image, mediaType: 'a/b,<c>', data: 'AAAA' })).toBe(400);
    expect(await refusedWith({ ...image, data: 'A'.repeat(12_000) })).toBe(202);
    const big = { inputId: 'x', action: 'accept', content: { a: 'A'.repeat(12_000) } };
    expect((await ask('POST /api/sessions/s/inputs', { body: big })).status).toBe(413);
  });
});
