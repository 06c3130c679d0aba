import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepListening } from './keep-listening.ts';
import type { McpClient } from './open-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Stub {
  readonly era?: 'modern' | 'legacy';
  /** Milliseconds for which each stream is open. */
  readonly holdMs: number;
  readonly isRefused?: boolean;
}

/** A client whose streams end by themselves, and how often it opened one and reported a change. */
function listening({ era = 'modern', holdMs, isRefused = false }: Stub) {
  const counts = { opened: 0, changed: 0 };
  let isOpen = true;
  const stream = () => ({
    closed: new Promise((resolve) => void setTimeout(() => resolve('remote'), holdMs)),
  });
  const client = {
    autoOpenedSubscription: era === 'modern' && !isRefused ? stream() : undefined,
    getServerCapabilities: () => ({ tools: { listChanged: true } }),
    getProtocolEra: () => era,
    listen: () => {
      counts.opened += 1;
      return isRefused ? Promise.reject(new Error('refused')) : Promise.resolve(stream());
    },
  } as unknown as McpClient; // the part that is used
  const done = keepListening(
    client,
    () => isOpen,
    () => void (counts.changed += 1),
  );
  return { counts, done, close: () => void (isOpen = false) };
}

describe('the stream of announcements', () => {
  it('opens again, and the list counts as changed each time', async () => {
    const { counts, close, done } = listening({ holdMs: 20_000 });
    await vi.advanceTimersByTimeAsync(20_400);
    expect(counts).toEqual({ opened: 0, changed: 0 });
    await vi.advanceTimersByTimeAsync(200);
    expect(counts).toEqual({ opened: 1, changed: 1 });
    await vi.advanceTimersByTimeAsync(20_600);
    expect(counts).toEqual({ opened: 2, changed: 2 });
    close();
    await vi.advanceTimersByTimeAsync(30_000);
    await done;
    expect(counts.opened).toBe(2);
  });

  it.each([false, true])(
    'waits longer each time that it ends at once (refused: %j)',
    async (isRefused) => {
      const { counts, close, done } = listening({ holdMs: 0, isRefused });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(counts.opened).toBeLessThan(9);
      expect(counts.changed).toBe(isRefused ? 0 : counts.opened);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(counts.opened).toBeLessThan(20);
      close();
      await vi.advanceTimersByTimeAsync(120_000);
      await done;
    },
  );

  it('does not exist for a server of the older generation', async () => {
    const { counts, done } = listening({ era: 'legacy', holdMs: 0 });
    await done;
    expect(counts.opened).toBe(0);
  });
});
