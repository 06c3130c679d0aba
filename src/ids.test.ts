import { afterEach, describe, expect, it, vi } from 'vitest';
import { callId, messageId, stepId, uuid } from './ids.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids of messages, steps and calls', () => {
  it.each([
    ['msg_', messageId],
    ['stp_', stepId],
    ['cal_', callId],
  ])('have %s and 16 unambiguous characters', (prefix, make) => {
    expect(make()).toMatch(new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{16}$`));
  });

  it('do not repeat, and have every character in every position', () => {
    const ids = Array.from({ length: 20_000 }, messageId);
    expect(new Set(ids).size).toBe(ids.length);
    for (let place = 4; place < 20; place++)
      expect(new Set(ids.map((id) => id[place])).size).toBe(32);
  });
});

describe('uuid', () => {
  it('is a random UUID', () => {
    const ids = Array.from({ length: 1_000 }, uuid);
    for (const id of ids) expect(id).toMatch(uuidV4);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is a random UUID also without crypto.randomUUID', () => {
    const real = globalThis.crypto;
    vi.stubGlobal('crypto', { getRandomValues: real.getRandomValues.bind(real) });
    const ids = Array.from({ length: 1_000 }, uuid);
    for (const id of ids) expect(id).toMatch(uuidV4);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
