import { afterEach, describe, expect, it, vi } from 'vitest';
import { shortId, uuid } from './ids.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('shortId', () => {
  it('is a readable prefix and sixteen letters that cannot be confused', () => {
    for (const prefix of ['msg_', 'step_', 'call_', ''])
      expect(shortId(prefix)).toMatch(new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{16}$`));
  });

  it('does not repeat, and every letter comes up in every place', () => {
    const ids = Array.from({ length: 20_000 }, () => shortId(''));
    expect(new Set(ids).size).toBe(ids.length);
    for (let place = 0; place < 16; place++)
      expect(new Set(ids.map((id) => id[place])).size).toBe(32);
  });
});

describe('uuid', () => {
  it('is a random UUID', () => {
    const ids = Array.from({ length: 1_000 }, uuid);
    for (const id of ids) expect(id).toMatch(uuidV4);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is one as well where crypto.randomUUID is missing', () => {
    const real = globalThis.crypto;
    vi.stubGlobal('crypto', { getRandomValues: real.getRandomValues.bind(real) });
    const ids = Array.from({ length: 1_000 }, uuid);
    for (const id of ids) expect(id).toMatch(uuidV4);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
