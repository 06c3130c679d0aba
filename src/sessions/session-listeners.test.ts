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

it('a listener that throws, or whose promise rejects, is reported, and the others hear all the same', async () => {
  const said: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => said.push(line));
  const listeners = new SessionListeners();
  const heard: SessionEvent[] = [];
  listeners.add(null, () => {
    throw new Error('at once');
  });
  // as an async function would, which the type lets pass
  const rejects = (): unknown => Promise.reject(new Error('later'));
  listeners.add('s', rejects);
  listeners.add('s', (told) => heard.push(told));
  listeners.notify(event);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(heard).toEqual([event]);
  expect(said).toEqual([expect.stringContaining('at once'), expect.stringContaining('later')]);
});
