import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filled, hashesOf, LARGE_CHARACTERS, packed, readPacked } from './large-values.ts';

const unpacked = async (
  texts: readonly string[],
  fetch: (hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>,
) => {
  const rows = texts.map(readPacked);
  const hashes = hashesOf(rows);
  const large = hashes.length > 0 ? await fetch(hashes) : new Map<string, string>();
  return Promise.all(rows.map((row) => filled(row, large, () => undefined)));
};

/** Stores extracted values under short names. */
function box() {
  const kept = new Map<string, string>();
  const asked: (readonly string[])[] = [];
  return {
    kept,
    asked,
    keep: async (text: string) => {
      const known = [...kept].find(([, inside]) => inside === text)?.[0] ?? `h${kept.size}`;
      kept.set(known, text);
      return known;
    },
    fetch: async (hashes: readonly string[]) => {
      asked.push(hashes);
      return new Map(hashes.flatMap((hash) => (kept.has(hash) ? [[hash, kept.get(hash)!]] : [])));
    },
  };
}

const large = 'x'.repeat(LARGE_CHARACTERS + 1);
const small = 'x'.repeat(LARGE_CHARACTERS);

describe('a packed row', () => {
  it('is plain JSON if it has no large text, whatever its length', async () => {
    const { keep, kept } = box();
    for (const value of [null, 'a', { a: 1 }, [small.slice(2)], Array(9_000).fill(1)]) {
      expect(await packed(value, keep)).toBe(JSON.stringify(value));
    }
    expect(kept.size).toBe(0);
  });

  it.each<[string, unknown, string[]]>([
    ['a text', large, [large]],
    ['a text inside', { a: [{ b: large }], c: 1 }, [large]],
    ['the same text twice', { a: large, b: large }, [large]],
    ['two texts', { a: large, b: `${large}!` }, [large, `${large}!`]],
    [
      'a result, as its message has it',
      { callId: 'c', value: { rows: [small, 1] } },
      [JSON.stringify({ rows: [small, 1] })],
    ],
    [
      'the event of a result',
      { toolCallId: 'c', result: [small, 1] },
      [JSON.stringify([small, 1])],
    ],
    [
      'a key of any name',
      JSON.parse(`{"__proto__":{"a":"${large}"},"constructor":"${large}"}`),
      [large],
    ],
  ])('stores %s once outside the row and restores it', async (_what, value, texts) => {
    const { keep, kept, fetch } = box();
    const text = await packed(value, keep);
    expect(text.length).toBeLessThan(400);
    expect([...kept.values()]).toEqual(texts);
    const [back] = await unpacked([text], fetch);
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
  });

  it('rejects with invalid_state if a large text is missing', async () => {
    const { keep, kept, fetch } = box();
    const text = await packed({ a: large }, keep);
    kept.clear();
    await expect(unpacked([text], fetch)).rejects.toMatchObject({
      code: 'invalid_state',
      message: expect.stringContaining('is not in the store any more'),
    });
  });

  it('is read together with others in one request that names each text once', async () => {
    const { keep, asked, fetch } = box();
    const values = [{ a: large }, 'plain', { b: [large, `${large}!`] }];
    const texts: string[] = [];
    for (const value of values) texts.push(await packed(value, keep));
    expect(await unpacked(texts, fetch)).toEqual(values);
    expect(asked).toEqual([['h0', 'h1']]);
    await unpacked(['1', '"@"'], fetch);
    expect(asked).toHaveLength(1);
  });
});

it('restores any JSON value', async () => {
  const leaf = fc.oneof(fc.jsonValue(), fc.constantFrom(large, small, `@${large}`));
  const keys = fc.oneof(
    fc.string(),
    fc.constantFrom('value', 'callId', 'result', 'toolCallId', '__proto__'),
  );
  const tree = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc
      .array(fc.tuple(keys, tie('value')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  })).value;
  await fc.assert(
    fc.asyncProperty(tree, async (value) => {
      const { keep, fetch } = box();
      const [back] = await unpacked([await packed(value, keep)], fetch);
      expect(JSON.stringify(back)).toBe(JSON.stringify(value));
    }),
    { numRuns: 300 },
  );
});
