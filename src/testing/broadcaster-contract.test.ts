import { describe, expect, it } from 'vitest';
import { BroadcastError, type Broadcaster } from '../broadcasting/broadcaster.ts';
import { memoryBroadcaster } from '../broadcasting/broadcasters/memory.ts';
import { broadcasterContract } from './broadcaster-contract.ts';
import type { BroadcasterHarness } from './broadcaster-contract/broadcaster-harness.ts';

type Change = (broadcaster: Broadcaster) => Partial<Broadcaster>;

/** A slow transport that can be broken, and has the given defect. */
function rigWith(change: Change): BroadcasterHarness {
  const memory = memoryBroadcaster({ frameBytes: 2_000 });
  let broken: 'error' | 'hang' | null = null;
  const carry = async (signal: AbortSignal | undefined, work: () => unknown): Promise<void> => {
    signal?.throwIfAborted();
    await Promise.resolve();
    if (broken === 'error') throw new BroadcastError('500', { retryable: true });
    if (broken === 'hang')
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        if (signal?.aborted) reject(signal.reason as Error);
      });
    await work();
  };
  const sound: Broadcaster = {
    name: 'sound',
    frameBytes: 2_000,
    batchSize: 5,
    broadcast: (channel, envelope, signal) =>
      carry(signal, () => memory.broadcast(channel, envelope)),
    broadcastBatch: (batch, signal) => carry(signal, () => memory.broadcastBatch(batch)),
  };
  return {
    broadcaster: { ...sound, ...change(sound) },
    read: (channel) => () => memory.envelopes(channel),
    breakdown(kind) {
      broken = kind;
      return () => {
        broken = null;
      };
    },
  };
}

async function failures(change: Change): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of broadcasterContract(() => rigWith(change))) {
    const hung = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error('it hangs')), 50);
    });
    await Promise.race([run(), hung]).catch((error: Error) =>
      failed.push(`${name}: ${error.message}`),
    );
  }
  return failed;
}

const mistakes: readonly (readonly [string, Change, RegExp])[] = [
  [
    'loses a batch',
    () => ({ broadcastBatch: async () => {} }),
    /delivers a whole batch.*expected \[/s,
  ],
  [
    'reverses a batch',
    ({ broadcastBatch }) => ({
      broadcastBatch: (batch, signal) => broadcastBatch(batch.toReversed(), signal),
    }),
    /delivers a whole batch/,
  ],
  [
    'sends a batch to one channel',
    ({ broadcastBatch }) => ({
      broadcastBatch: (batch, signal) =>
        broadcastBatch(
          batch.map((b) => ({ ...b, channel: batch[0]!.channel })),
          signal,
        ),
    }),
    /keeps channels separate/,
  ],
  [
    'normalizes unusual text',
    ({ broadcast }) => ({
      broadcast: (channel, envelope, signal) =>
        broadcast(channel, JSON.parse(JSON.stringify(envelope).normalize('NFC')) as never, signal),
    }),
    /whatever it contains/,
  ],
  [
    'sends twice',
    ({ broadcast }) => ({
      async broadcast(channel, envelope, signal) {
        await broadcast(channel, envelope, signal);
        await broadcast(channel, envelope, signal);
      },
    }),
    /delivers single calls in order/,
  ],
  [
    'mutates its arguments',
    ({ broadcast }) => ({
      broadcast(channel, envelope, signal) {
        (envelope as { type: string }).type = `.${envelope.type}`;
        return broadcast(channel, envelope, signal);
      },
    }),
    /Cannot assign to read only/,
  ],
  [
    'makes an error for a large call retryable',
    ({ broadcast }) => ({
      broadcast: async (channel, envelope, signal) => {
        try {
          await broadcast(channel, envelope, signal);
        } catch (error) {
          throw new Error('failed', { cause: error });
        }
      },
    }),
    /refuses a call that is too large/,
  ],
  [
    'silently drops a large call',
    ({ broadcast }) => ({
      broadcast: async (channel, envelope, signal) => {
        if (JSON.stringify(envelope).length <= 2_000) await broadcast(channel, envelope, signal);
      },
    }),
    /too large.*The call succeeded/s,
  ],
  [
    'promises more capacity than it has',
    () => ({ frameBytes: 2_100 }),
    /accepts a call at the limit/,
  ],
  [
    'ignores its signal',
    ({ broadcast }) => ({ broadcast: (channel, envelope) => broadcast(channel, envelope) }),
    /aborted signal.*ends a hanging call with its signal: it hangs/s,
  ],
  [
    'hides an error',
    ({ broadcast }) => ({
      broadcast: async (...call) => {
        try {
          await broadcast(...call);
        } catch (error) {
          if (error instanceof BroadcastError && error.retryable) return;
          throw error;
        }
      },
    }),
    /a transport error is typed/,
  ],
];

describe('the contract of broadcasters', () => {
  it('passes a correct broadcaster', async () => {
    expect(await failures(() => ({}))).toEqual([]);
  });

  it.each(mistakes)('detects one that %s', async (_what, change, expected) => {
    expect((await failures(change)).join('\n')).toMatch(expected);
  });

  it('creates the harness once, and not before a case runs', async () => {
    let made = 0;
    const cases = broadcasterContract(async () => {
      made++;
      return rigWith(() => ({}));
    });
    expect(made).toBe(0);
    await Promise.all(cases.slice(0, 5).map(({ run }) => run()));
    expect(made).toBe(1);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});
