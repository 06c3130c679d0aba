import { describe, expect, it } from 'vitest';
import { RowReader } from './row-reader.ts';
import { plainBody, RowWriter } from './row-writer.ts';
import type { BlobRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { memoryStore } from './stores/memory/index.ts';

const large = 'x'.repeat(10_000);

/** Reads a row with only these large values. */
async function readBack(body: string, blobs: readonly BlobRow[]): Promise<unknown> {
  const store = memoryStore();
  const fetch: SessionStore['blobs'] = async (_id, hashes) =>
    blobs.filter(({ hash }) => hashes.includes(hash));
  return (
    await new RowReader({ ...store, blobs: fetch }, { id: 's', owner: 'ann' }).values([{ body }])
  )[0];
}

describe('a large value', () => {
  it('is sent with one commit, and not again once it is stored', async () => {
    const rows = new RowWriter(memoryStore(), 'salt');
    const first = await rows.body('message', { a: large }, '');
    expect(await rows.body('step', { a: large }, '')).toBe(first);
    const blobs = rows.takeBlobs();
    expect(blobs).toHaveLength(1);
    expect(rows.takeBlobs()).toEqual([]);
    expect(await readBack(first, blobs)).toEqual({ a: large });
    // the commit failed, so the next one has to send it
    await rows.body('message', { a: large }, '');
    expect(rows.takeBlobs()).toEqual(blobs);
    rows.stored(blobs);
    await rows.body('message', { a: large }, '');
    expect(rows.takeBlobs()).toEqual([]);
  });

  it('is shared by all scopes if it belongs to the conversation, and otherwise only within its execution', async () => {
    const scopes = async (...order: readonly string[]): Promise<string[]> => {
      const rows = new RowWriter(memoryStore(), 'salt');
      for (const scope of order) await rows.body('x', large, scope);
      return rows.takeBlobs().map(({ scope }) => scope);
    };
    expect(await scopes('', 'e1')).toEqual(['']);
    expect(await scopes('e1', 'e2', 'e1')).toEqual(['e1', 'e2']);
    expect(await scopes('e1', '')).toEqual(['e1', '']);
  });

  it('has a name that is unique and cannot be guessed', async () => {
    const name = async (salt: string, text: string): Promise<string> =>
      new RowWriter(memoryStore(), salt).keep(text, '');
    expect(await name('a', large)).toBe(await name('a', large));
    expect(await name('a', large)).not.toBe(await name('b', large));
    // lone surrogates are all the same to a digest
    expect(await name('a', `${large}\ud800`)).not.toBe(await name('a', `${large}\ud801`));
  });

  it.each(['\u0000 nul', '\ud800 half', '😀 äöü', '"quoted\\"'])(
    'is restored unchanged: %j',
    async (part) => {
      const rows = new RowWriter(memoryStore(), 'salt');
      const value = { a: large + part, b: part };
      const body = await rows.body('message', value, '');
      const blobs = rows.takeBlobs();
      expect(await readBack(body, blobs)).toEqual(value);
      for (const text of [body, ...blobs.map((blob) => blob.body)])
        expect(text).not.toContain('\u0000');
    },
  );
});

describe('the size limit of a row', () => {
  it('counts bytes after the codec, and the error names what was too large', async () => {
    const store = memoryStore({ maxBytes: 100 });
    const rows = new RowWriter(store, '');
    expect(await rows.body('message', 'x'.repeat(98), '')).toHaveLength(100);
    expect(() => rows.body('message', 'x'.repeat(99), '')).toThrow(
      'The message has 101 bytes, but the store accepts at most 100 per row.',
    );
    expect(() => rows.body('message', 'ä'.repeat(50), '')).toThrow('has 102 bytes');
    const doubling = {
      ...store,
      codec: { encode: (t: string) => t + t, decode: (t: string) => t },
    };
    await expect(plainBody(doubling, 'x'.repeat(60))).rejects.toMatchObject({
      code: 'state_too_large',
      details: { bytes: 124, maxBytes: 100 },
    });
  });
});
