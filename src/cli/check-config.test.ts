import { describe, expect, it } from 'vitest';
import { createAgent } from '../agent/agent.ts';
import { inProcessBus } from '../bus/in-process-bus.ts';
import { inProcessQueue } from '../sessions/in-process-queue.ts';
import { memoryStore } from '../sessions/stores/memory/index.ts';
import { checkedConfig, entriesOf } from './check-config.ts';
import { defineConfig } from './config.ts';

const driver = { name: 'none', infer: () => Promise.reject(new Error('never asked')) };
const agent = createAgent({ name: 'a', driver });
const file = '/project/onward.config.ts';

describe('a config', () => {
  it('accepts agents, entries and every other field', () => {
    const config = defineConfig({
      name: 'Shop',
      agents: [agent, { agent: createAgent({ name: 'b', driver }), title: 'B' }],
      store: memoryStore(),
      port: 0,
      owner: 'ann',
      tokens: { 'token-of-bob': 'bob' },
      pusher: { key: 'k', secret: 's' },
      deps: { db: 1 },
      lease: { leaseMs: 1_000, heartbeatMs: 300 },
      queue: (options) => inProcessQueue(options),
      bus: inProcessBus(),
      auth: () => 'ann',
      console: true,
      mcp: true,
      agUi: true,
      server: { maxStreams: 5, rateLimit: null },
    });
    expect(checkedConfig(config, file)).toBe(config);
    expect(entriesOf(config).map((entry) => entry.agent.name)).toEqual(['a', 'b']);
  });

  const copied = { ...agent };
  it.each([
    [undefined, 'the default export is undefined, expected defineConfig'],
    [{}, 'agents is undefined, expected a list with at least one agent'],
    [{ agents: [] }, 'agents is an array of 0'],
    [{ agents: [agent, 7] }, 'agents[1] is 7, expected the result of createAgent() or build()'],
    [{ agents: [{ agent: {} }] }, 'agents[0] is an object with agent'],
    [{ agents: [agent, agent] }, 'agents[1] is "a", expected a different name'],
    [{ agents: [copied] }, 'agents[0] is "a", expected an agent from the same copy of onward'],
    [{ agents: [agent], nmae: 'x' }, 'nmae is "x", expected one of these fields: name, agents'],
    [{ agents: [agent], name: 7 }, 'name is 7, expected a text'],
    [{ agents: [agent], store: 7 }, 'store is 7, expected the path'],
    [{ agents: [agent], store: {} }, 'store is an empty object'],
    [{ agents: [agent], port: '4111' }, 'port is "4111", expected a number from 0 to 65535'],
    [{ agents: [agent], owner: '' }, 'owner is "", expected a text'],
    [{ agents: [agent], tokens: { a: 7 } }, 'tokens is an object with a, expected'],
    [
      { agents: [agent], pusher: { key: 'k' } },
      'pusher is an object with key, expected { key, secret }',
    ],
    [{ agents: [agent], deps: 'db' }, 'deps is "db"'],
    [{ agents: [agent], lease: 5 }, 'lease is 5'],
    [{ agents: [agent], queue: {} }, 'queue is an empty object, expected a queue such as'],
    [{ agents: [agent], bus: 'redis' }, 'bus is "redis", expected a bus such as'],
    [{ agents: [agent], auth: 'jwt' }, 'auth is "jwt", expected a function that returns the owner'],
    [{ agents: [agent], console: 'yes' }, 'console is "yes", expected true or false'],
    [{ agents: [agent], mcp: 'on' }, 'mcp is "on", expected true or false'],
    [{ agents: [agent], agUi: 'on' }, 'agUi is "on", expected true or false'],
    [{ agents: [agent], server: 7 }, 'server is 7, expected an object with one of these fields'],
    [{ agents: [agent], server: { port: 1 } }, 'server.port is 1, expected one of these fields'],
  ])('is refused with file, field, value and expectation: %#', (value, message) => {
    expect(() => checkedConfig(value, file)).toThrow(`${file}: ${message}`);
  });
});
