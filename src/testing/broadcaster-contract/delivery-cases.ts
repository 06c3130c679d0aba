import { BroadcastError, type Broadcast } from '../../broadcasting/broadcaster.ts';
import type { Envelope } from '../../broadcasting/envelope.ts';
import { same } from '../store-contract/expect.ts';
import type { BroadcasterHarness } from './broadcaster-harness.ts';
import { chunkLike, largest, oddText, session, sessionWith } from './sample-envelopes.ts';

export type DeliveryCase = readonly [
  name: string,
  run: (harness: BroadcasterHarness) => Promise<void>,
];

export const deliveryCases: readonly DeliveryCase[] = [
  [
    'delivers an envelope unchanged, whatever it contains',
    async ({ broadcaster, read }) => {
      const { channel, envelope } = sessionWith(oddText);
      const arrived = await read(channel);
      await broadcaster.broadcast(channel, envelope);
      same(await arrived(), [envelope], 'what arrived');
    },
  ],
  [
    'delivers single calls in order',
    async ({ broadcaster, read }) => {
      const { channel, envelopes } = session(12);
      const arrived = await read(channel);
      for (const envelope of envelopes) await broadcaster.broadcast(channel, envelope);
      same(await arrived(), envelopes, 'what arrived');
    },
  ],
  [
    'delivers a whole batch in order, and later calls after it',
    async ({ broadcaster, read }) => {
      const { channel, envelopes } = session(9);
      const arrived = await read(channel);
      const most = Math.min(4, broadcaster.batchSize ?? 4);
      const batch = envelopes.slice(0, most).map((envelope) => ({ channel, envelope }));
      await broadcaster.broadcastBatch(batch);
      for (const envelope of envelopes.slice(most)) await broadcaster.broadcast(channel, envelope);
      same(await arrived(), envelopes, 'what arrived');
    },
  ],
  [
    'keeps the order of chunks, which have no number',
    async ({ broadcaster, read }) => {
      const { channel, envelopes } = session(4);
      const mixed = envelopes.map((e, i) => (i % 2 === 0 ? e : chunkLike(e)));
      const arrived = await read(channel);
      for (const envelope of mixed) await broadcaster.broadcast(channel, envelope);
      same(await arrived(), mixed, 'what arrived');
    },
  ],
  [
    'sends nothing for an empty batch',
    async ({ broadcaster, read }) => {
      const { channel } = session(0);
      const arrived = await read(channel);
      await broadcaster.broadcastBatch([]);
      same(await arrived(), [], 'what arrived');
    },
  ],
  [
    'keeps channels separate, also within one batch',
    async ({ broadcaster, read }) => {
      const [a, b] = [session(2), session(2)];
      const [ofA, ofB] = [await read(a.channel), await read(b.channel)];
      const both = [a, b].flatMap(({ channel, envelopes }) =>
        envelopes.map((envelope): Broadcast => ({ channel, envelope })),
      );
      const size = broadcaster.batchSize ?? both.length;
      for (let i = 0; i < both.length; i += size)
        await broadcaster.broadcastBatch(both.slice(i, i + size));
      same(await ofA(), a.envelopes, 'what arrived on the first channel');
      same(await ofB(), b.envelopes, 'what arrived on the second channel');
    },
  ],
  [
    'reports the cost of an envelope, and accepts a call at the limit',
    async ({ broadcaster, read }) => {
      const { frameBytes } = broadcaster;
      if (frameBytes === undefined) return;
      const { channel, envelope } = largest(broadcaster, frameBytes);
      const arrived = await read(channel);
      await broadcaster.broadcast(channel, envelope);
      same(await arrived(), [envelope], 'what arrived');
    },
  ],
  [
    'D65: refuses a call that is too large as not retryable, sends nothing of it, and continues',
    async ({ broadcaster, read }) => {
      const { frameBytes } = broadcaster;
      if (frameBytes === undefined) return;
      const { channel, envelope } = sessionWith('x'.repeat(frameBytes + 1));
      const small = sessionWith('small', channel).envelope;
      const arrived = await read(channel);
      const errors = [
        await failure(() => broadcaster.broadcast(channel, envelope)),
        await failure(() =>
          broadcaster.broadcastBatch([small, envelope].map((e) => ({ channel, envelope: e }))),
        ),
      ];
      for (const error of errors) isTyped(error, false, 'a call that is too large');
      await broadcaster.broadcast(channel, small);
      same(await arrived(), [small], 'what arrived');
    },
  ],
  [
    'makes no call with an aborted signal',
    async ({ broadcaster, read }) => {
      const { channel, envelopes } = session(2);
      const [first, second] = envelopes as [Envelope, Envelope];
      const arrived = await read(channel);
      const signal = AbortSignal.abort(new Error('enough'));
      await failure(() => broadcaster.broadcast(channel, first, signal));
      await failure(() => broadcaster.broadcastBatch([{ channel, envelope: first }], signal));
      await broadcaster.broadcast(channel, second, new AbortController().signal);
      same(await arrived(), [second], 'what arrived');
    },
  ],
  [
    'D65: a transport error is typed and retryable, and the next call works',
    async ({ broadcaster, read, breakdown }) => {
      if (!breakdown) return;
      const { channel, envelopes } = session(2);
      const [first, second] = envelopes as [Envelope, Envelope];
      const arrived = await read(channel);
      const restore = await breakdown('error');
      const error = await failure(() => broadcaster.broadcast(channel, first));
      restore();
      isTyped(error, true, 'a transport that fails');
      await broadcaster.broadcast(channel, second);
      const seen = await arrived();
      same(seen.at(-1), second, 'the last envelope');
    },
  ],
  [
    'D65: ends a hanging call with its signal',
    async ({ broadcaster, read, breakdown }) => {
      if (!breakdown) return;
      const { channel, envelopes } = session(2);
      const [first, second] = envelopes as [Envelope, Envelope];
      const arrived = await read(channel);
      const restore = await breakdown('hang');
      const stop = new AbortController();
      const hanging = failure(() => broadcaster.broadcast(channel, first, stop.signal));
      stop.abort(new Error('enough'));
      await hanging;
      restore();
      await broadcaster.broadcast(channel, second);
      same((await arrived()).at(-1), second, 'the last envelope');
    },
  ],
];

/** Returns the error of a call, thrown or rejected. */
async function failure(call: () => Promise<void> | void): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('The call succeeded, expected an error.');
}

function isTyped(error: unknown, retryable: boolean, what: string): void {
  const seen = BroadcastError.is(error) ? { retryable: error.retryable } : { error: String(error) };
  same(seen, { retryable }, `${what}: the BroadcastError`);
}
