import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { pusherBroadcaster } from 'onward/broadcasting/pusher';
import { until } from '../setup/sessions.ts';

/** Counts loaded modules of the SDK. This file must not load them itself. */
const loaded = (): number =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) =>
    /[\\/]node_modules[\\/]pusher[\\/]/.test(path),
  ).length;

describe('the package pusher', () => {
  it('is loaded by pusherBroadcaster(), not by the import', async () => {
    expect(loaded()).toBe(0);
    const broadcaster = pusherBroadcaster({
      appId: 'a',
      key: 'k',
      secret: 's',
      host: '127.0.0.1',
    });
    await until(() => loaded() > 0);
    await expect(broadcaster.ready?.()).resolves.toBeUndefined();
  });
});
