import { afterEach, expect, it, vi } from 'vitest';
import { SessionListeners } from './session-listeners.ts';
import type { LiveEvent } from './feed/live-source.ts';
import type { SessionEvent } from './session-worker.ts';

const event = {
  sessionId: 's',
  owner: 'ann',
  seq: 1,
  follows: 0,
  event: { type: 'AgentStarted' },
} as LiveEvent;

afterEach(() => {
  vi.restoreAllMocks();
});

it('reports a listener that throws or rejects, and still notifies the others', async () => {
  const said: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => said.push(line));
  const listeners = new SessionListeners();
  const received: SessionEvent[] = [];
  listeners.listen(null, () => {
    throw new Error('at once');
  });
  // like an async function, which the type allows
  const rejects = (): unknown => Promise.reject(new Error('later'));
  listeners.listen('s', rejects);
  listeners.listen('s', (reported) => received.push(reported));
  listeners.notify(event);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(received).toEqual([event]);
  expect(said).toEqual([expect.stringContaining('at once'), expect.stringContaining('later')]);
});
