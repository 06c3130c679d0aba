import { afterEach, expect, it, vi } from 'vitest';
import { BroadcastError, type Broadcast } from '../broadcaster.ts';
import type { Envelope } from '../envelope.ts';
import { mergedCalls } from './pusher-merge.ts';

afterEach(() => {
  vi.useRealTimers();
});

const one = (channel: string, type: string = 'x'): Broadcast => ({
  channel,
  envelope: { type } as unknown as Envelope,
});

/** Records the channels of each request. */
function recorded(fails: (channels: readonly string[]) => Error | null = () => null) {
  const requests: string[][] = [];
  const send = mergedCalls({
    batchSize: 3,
    frameBytes: 100,
    bytesOf: ({ envelope }) => (envelope.type === ('large' as string) ? 90 : 1),
    async send(broadcasts) {
      const channels = broadcasts.map(({ channel }) => channel);
      requests.push(channels);
      const error = fails(channels);
      if (error) throw error;
    },
  });
  return { requests, send: (...broadcasts: Broadcast[]) => send(broadcasts, undefined) };
}

it('sends the first call at once, and then what arrived within the interval together', async () => {
  vi.useFakeTimers();
  const { requests, send } = recorded();
  await send(one('a'));
  expect(requests).toEqual([['a']]);
  const later = [send(one('b')), send(one('c'))];
  await vi.advanceTimersByTimeAsync(9);
  expect(requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2);
  await Promise.all(later);
  expect(requests).toEqual([['a'], ['b', 'c']]);
});

it('does not wait with a full request, and splits no call', async () => {
  const { requests, send } = recorded();
  await Promise.all([send(one('a'), one('a')), send(one('b'), one('b')), send(one('c'))]);
  expect(requests).toEqual([
    ['a', 'a'],
    ['b', 'b', 'c'],
  ]);
});

it('limits the bytes of a request', async () => {
  const { requests, send } = recorded();
  await Promise.all([send(one('a', 'large')), send(one('b', 'large')), send(one('c'))]);
  expect(requests).toEqual([['a'], ['b', 'c']]);
});

it('sends a request that is refused for its content again call by call', async () => {
  const refusal = new BroadcastError('no such channel', { retryable: false });
  const { requests, send } = recorded((channels) => (channels.includes('b') ? refusal : null));
  const settled = await Promise.allSettled([send(one('a')), send(one('b')), send(one('c'))]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(requests).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});

it('rejects every call if the server cannot be reached', async () => {
  const outage = new BroadcastError('no answer', { retryable: true });
  const { requests, send } = recorded(() => outage);
  const settled = await Promise.allSettled([send(one('a')), send(one('b'))]);
  expect(settled).toEqual([
    { status: 'rejected', reason: outage },
    { status: 'rejected', reason: outage },
  ]);
  expect(requests).toEqual([['a', 'b']]);
});

it('aborts a request when each of its calls was aborted', async () => {
  const signals: AbortSignal[] = [];
  const send = mergedCalls({
    batchSize: 10,
    frameBytes: 100,
    bytesOf: () => 1,
    send: (_broadcasts, signal) =>
      new Promise((_resolve, reject) => {
        if (!signal) throw new Error('no signal');
        signals.push(signal);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  });
  const [a, b] = [new AbortController(), new AbortController()];
  const calls = Promise.allSettled([send([one('a')], a.signal), send([one('b')], b.signal)]);
  await Promise.resolve();
  a.abort(new Error('late'));
  expect(signals[0]?.aborted).toBe(false);
  b.abort(new Error('later'));
  expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
