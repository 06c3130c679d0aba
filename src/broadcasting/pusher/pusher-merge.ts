import { BroadcastError, type Broadcast } from '../broadcaster.ts';
import { quietTimer, type Timer } from '../transport-call.ts';

/** Milliseconds between two requests that are not full. The first after a pause is sent at once. */
const EVERY_MS = 10;

export interface MergeOptions {
  /** Most envelopes of a request. */
  readonly batchSize: number;
  /** Most bytes of a request, as `bytesOf` counts them. */
  readonly frameBytes: number;
  bytesOf(broadcast: Broadcast): number;
  /** Sends one request. */
  send(broadcasts: readonly Broadcast[], signal: AbortSignal | undefined): Promise<void>;
}

type Send = MergeOptions['send'];

interface Call {
  readonly broadcasts: readonly Broadcast[];
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Puts the calls of many sessions into one request, because a server limits requests. The envelopes of a call stay
 * together and in order. A request that is refused for its content is sent again call by call, so that one session
 * cannot prevent the delivery of others.
 */
export function mergedCalls(options: MergeOptions): Send {
  const { batchSize, frameBytes, bytesOf } = options;
  let waiting: Call[] = [];
  let isPlanned = false;
  let timer: Timer | null = null;
  let sentAt = Number.NEGATIVE_INFINITY;

  const isFull = (): boolean =>
    waiting.reduce((sum, { broadcasts }) => sum + broadcasts.length, 0) >= batchSize ||
    waiting.reduce((sum, { bytes }) => sum + bytes, 0) >= frameBytes;
  const plan = (): void => {
    if (isPlanned) return;
    const leftMs = sentAt + EVERY_MS - performance.now();
    if (leftMs > 0 && !isFull()) {
      timer ??= quietTimer(sendAll, leftMs);
      return;
    }
    isPlanned = true;
    // calls of the same tick go together
    queueMicrotask(sendAll);
  };

  const sendAll = (): void => {
    isPlanned = false;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    // the wire rejects them, and sends nothing
    for (const call of waiting.filter(isAborted)) void sendAlone(options.send, call);
    const calls = waiting.filter((call) => !isAborted(call));
    waiting = [];
    if (calls.length === 0) return;
    sentAt = performance.now();
    let group: Call[] = [];
    let [count, bytes] = [0, 0];
    for (const call of calls) {
      const fits = count + call.broadcasts.length <= batchSize && bytes + call.bytes <= frameBytes;
      if (!fits) {
        if (group.length > 0) void sendGroup(options.send, group);
        group = [];
        [count, bytes] = [0, 0];
      }
      group.push(call);
      count += call.broadcasts.length;
      bytes += call.bytes;
    }
    void sendGroup(options.send, group);
  };

  return (broadcasts, signal) =>
    new Promise((resolve, reject) => {
      const bytes = broadcasts.reduce((sum, broadcast) => sum + bytesOf(broadcast), 0);
      waiting.push({ broadcasts, bytes, signal, resolve, reject });
      plan();
    });
}

const isAborted = ({ signal }: Call): boolean => signal?.aborted === true;

async function sendGroup(send: Send, group: readonly Call[]): Promise<void> {
  const [only] = group;
  if (only && group.length === 1) return sendAlone(send, only);
  const shared = sharedSignal(group);
  try {
    await send(
      group.flatMap(({ broadcasts }) => broadcasts),
      shared.signal,
    );
    for (const { resolve } of group) resolve();
  } catch (error) {
    const isOfContent = BroadcastError.is(error) && !error.retryable && !error.pauses;
    if (isOfContent) await Promise.all(group.map((call) => sendAlone(send, call)));
    else for (const { reject } of group) reject(error);
  } finally {
    shared.release();
  }
}

async function sendAlone(send: Send, { broadcasts, signal, resolve, reject }: Call): Promise<void> {
  try {
    await send(broadcasts, signal);
    resolve();
  } catch (error) {
    reject(error);
  }
}

/** Returns a signal that aborts when each of the calls was aborted. */
function sharedSignal(group: readonly Call[]): {
  readonly signal: AbortSignal;
  release(): void;
} {
  const controller = new AbortController();
  let left = group.length;
  const aborted = (event: Event): void => {
    left -= 1;
    if (left === 0) controller.abort((event.target as AbortSignal).reason);
  };
  for (const { signal } of group) signal?.addEventListener('abort', aborted, { once: true });
  return {
    signal: controller.signal,
    release() {
      for (const { signal } of group) signal?.removeEventListener('abort', aborted);
    },
  };
}
