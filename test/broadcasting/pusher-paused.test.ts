import { describe, expect, it, onTestFinished } from 'vitest';
import { broadcastSessions, type TransportChange } from 'onward/broadcasting';
import { pusherBroadcaster } from 'onward/broadcasting/pusher';
import { ScenarioStep } from 'onward/testing';
import { pusherServer, type Fault } from '../setup/pusher-server.ts';
import { agentWith, ann, memoryPlace, runtimeOn, until, waiting } from '../setup/sessions.ts';

const turns = Array.from({ length: 30 }, (_t, i) => ScenarioStep.stream([`one `, `two ${i}`]));

describe('a Pusher server that refuses the app', () => {
  it.each<[string, Fault, RegExp]>([
    ['401', { status: 401 }, /answered 401.*appId, key and secret/],
    ['403', { status: 403 }, /answered 403.*enabled and within its quota/],
    ['404', { status: 404 }, /answered 404.*appId, host, port and path/],
    ['405', { status: 405 }, /answered 405.*host, port and path/],
    ['a redirect', { status: 301, headers: { Location: '/x' } }, /answered 301.*useTLS/],
    ['a web page', { status: 200, body: '<html>' }, /another server listens there/],
  ])(
    'with %s gets one request for thirty runs, is reported once, and delays no run',
    async (_name, fault, says) => {
      const server = await pusherServer();
      const { app, host, port } = server;
      const runtime = runtimeOn(memoryPlace().open(), agentWith(turns));
      const changes: TransportChange[] = [];
      const broadcasts = broadcastSessions(runtime, {
        broadcaster: pusherBroadcaster({ ...app, host, port, useTLS: false }),
        onTransport: (change) => changes.push(change),
      });
      onTestFinished(async () => void (await broadcasts.close()));
      server.breakdown(fault);
      const ids = await Promise.all(turns.map(async () => (await runtime.create(ann)).id));
      const [first, ...others] = ids;
      await runtime.send(first!, 'go', waiting);
      await until(() => changes.length > 0);
      const sessions = await Promise.all(others.map((id) => runtime.send(id, 'go', waiting)));
      expect(sessions.every(({ status }) => status === 'completed')).toBe(true);
      expect(server.requests).toHaveLength(1);
      expect(changes).toMatchObject([{ state: 'paused', transport: 'pusher' }]);
      expect(String(changes[0]?.error)).toMatch(says);
      // the final status of each session waits, everything else is dropped
      await until(() => broadcasts.stats.queued === turns.length);
      expect(broadcasts.stats).toMatchObject({ sent: 0, failed: 1, retried: 0 });
      expect(broadcasts.stats.dropped).toBeGreaterThan(turns.length * 5);
    },
  );
});
