import { describe, expect, it, vi } from 'vitest';
import { createAgent } from '../agent/agent.ts';
import type { ExecutionQueue } from '../sessions/execution-queue.ts';
import type { OnwardConfig } from './config.ts';
import { queueOf } from './project-queue.ts';

const driver = { name: 'none', infer: () => Promise.reject(new Error('never asked')) };
const agents = [createAgent({ name: 'a', driver })];

const fakeQueue = () => ({
  start: vi.fn<ExecutionQueue['start']>(),
  add: vi.fn<ExecutionQueue['add']>(),
  isFull: false,
  waiting: 0,
  drain: vi.fn<ExecutionQueue['drain']>(async () => {}),
});

describe('the queue of a process', () => {
  it('is the one of the config where processes share it', () => {
    const queue = fakeQueue();
    const config: OnwardConfig = { agents, queue };
    expect(queueOf(config, { isShared: true })).toBe(queue);
    // a command that works here at once
    expect(queueOf(config, {})).toBeUndefined();
    expect(queueOf({ agents }, { isShared: true })).toBeUndefined();
  });

  it('is made by a function with the concurrency of the command line', () => {
    const made = vi.fn((_options: object) => fakeQueue());
    queueOf({ agents, queue: made }, { isShared: true, concurrency: 7 });
    queueOf({ agents, queue: made }, { isShared: true });
    expect(made.mock.calls).toEqual([[{ concurrency: 7 }], [{}]]);
  });

  it('cannot get another concurrency once it is made', () => {
    expect(() =>
      queueOf({ agents, queue: fakeQueue() }, { isShared: true, concurrency: 7 }),
    ).toThrow('queue: (options) => bullQueue({ connection, ...options })');
  });

  it('of a process without work is the shared one, for what it accepts', () => {
    const queue = fakeQueue();
    expect(queueOf({ agents, queue }, { isDetached: true })).toBe(queue);
    expect(queueOf({ agents }, { isDetached: true })).toBeUndefined();
  });
});
