import { describe, expect, it, vi } from 'vitest';
import type { SessionStore } from '../sessions/session-store.ts';
import { healthOf, type Health } from './health.ts';

const DEADLINE_MS = 20;
const asked = (health: Health, path: string, method = 'GET') =>
  health.answer(new Request(`http://x${path}`, { method }));

/** Status and body of an answer. */
async function said(health: Health, path: string): Promise<readonly [number, unknown]> {
  const response = (await asked(health, path))!;
  return [response.status, await response.json()];
}

const storeThat = (find: SessionStore['find']) => ({ find: vi.fn(find) });
const down = { status: 'unavailable', code: 'store', reason: 'The session store does not answer.' };

describe('health', () => {
  it('answers two paths, and leaves all others to the API', async () => {
    const health = healthOf(storeThat(async () => null));
    expect(await said(health, '/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await said(health, '/readyz')).toEqual([200, { status: 'ready' }]);
    expect(asked(health, '/api/health')).toBeNull();
    expect(asked(health, '/healthz/more')).toBeNull();
    expect((await asked(health, '/readyz', 'POST'))!.status).toBe(405);
  });

  it('is not ready while the store fails or hangs, and says nothing of why', async () => {
    const secret = new Error('connect postgres://user:secret@db');
    const failing = healthOf(storeThat(() => Promise.reject(secret)));
    expect(await said(failing, '/readyz')).toEqual([503, down]);
    expect(await said(failing, '/healthz')).toEqual([200, { status: 'ok' }]);
    const hanging = storeThat(() => new Promise(() => {}));
    const health = healthOf(hanging, DEADLINE_MS);
    expect(await Promise.all([said(health, '/readyz'), said(health, '/readyz')])).toEqual([
      [503, down],
      [503, down],
    ]);
    expect(hanging.find).toHaveBeenCalledTimes(1);
  });

  it('asks the store once a second at most, and is ready again when it answers', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const store = storeThat(() => Promise.reject(new Error('down')));
      const health = healthOf(store);
      await said(health, '/readyz');
      store.find.mockResolvedValue(null);
      expect((await said(health, '/readyz'))[0]).toBe(503);
      expect(store.find).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(1_001);
      expect((await said(health, '/readyz'))[0]).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not ready once it drains, and alive all the same', async () => {
    const store = storeThat(async () => null);
    const health = healthOf(store);
    health.drain();
    expect(await said(health, '/readyz')).toEqual([
      503,
      { status: 'unavailable', code: 'draining', reason: 'The process is shutting down.' },
    ]);
    expect(await said(health, '/healthz')).toEqual([200, { status: 'ok' }]);
    expect(store.find).not.toHaveBeenCalled();
  });
});
