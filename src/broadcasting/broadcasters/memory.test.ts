import { describe, expect, it } from 'vitest';
import { broadcasterContract } from '../../testing/broadcaster-contract.ts';
import { session } from '../../testing/broadcaster-contract/sample-envelopes.ts';
import { memoryBroadcaster } from './memory.ts';

describe.each([{}, { frameBytes: 2_000 }])(
  'memoryBroadcaster(%j) passes the contract',
  (options) => {
    const broadcaster = memoryBroadcaster(options);
    const cases = broadcasterContract(() => ({
      broadcaster,
      read: (channel) => () => broadcaster.envelopes(channel),
    }));
    it.each(cases.map((c) => [c.name, c] as const))('%s', (_name, { run }) => run());
  },
);

describe('memoryBroadcaster', () => {
  it('a listener gets the envelopes of its channel until it unsubscribes', () => {
    const broadcaster = memoryBroadcaster();
    const [a, b] = [session(3), session(1)];
    const received: unknown[] = [];
    const listener = (envelope: unknown): void => void received.push(envelope);
    void broadcaster.broadcast(a.channel, a.envelopes[0]!);
    const leave = broadcaster.subscribe(a.channel, listener);
    const leaveAgain = broadcaster.subscribe(a.channel, listener);
    leaveAgain();
    leaveAgain();
    void broadcaster.broadcastBatch([
      { channel: a.channel, envelope: a.envelopes[1]! },
      { channel: b.channel, envelope: b.envelopes[0]! },
    ]);
    leave();
    void broadcaster.broadcast(a.channel, a.envelopes[2]!);
    expect(received).toEqual([a.envelopes[1]]);
    expect(broadcaster.envelopes(a.channel)).toEqual(a.envelopes);
    expect(broadcaster.envelopes()).toHaveLength(4);
    broadcaster.clear();
    expect(broadcaster.sent).toEqual([]);
  });

  it('keeps the newest envelopes', () => {
    const broadcaster = memoryBroadcaster({ keep: 2 });
    const { channel, envelopes } = session(3);
    for (const envelope of envelopes) void broadcaster.broadcast(channel, envelope);
    expect(broadcaster.envelopes(channel)).toEqual(envelopes.slice(1));
  });
});
