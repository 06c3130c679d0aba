import type { Clock } from '../clock.ts';
import { whole } from '../errors/agent-error.ts';
import { ApiRefusal } from './refusal.ts';

export interface OpenStreamsOptions {
  /** Maximum open streams of one owner. */
  readonly maxStreams: number;
  /** Whether the request would still be admitted as the same owner. */
  readonly isStillAllowed: (request: Request, owner: string) => Promise<boolean>;
  /** Milliseconds between two checks. */
  readonly recheckMs: number;
  readonly clock: Clock;
}

/** Tracks open event streams: counts them by owner, and ends them when their owner may no longer read. */
export interface OpenStreams {
  open(request: Request, owner: string, start: () => Promise<Response>): Promise<Response>;
  /** Stops all checks. */
  close(): void;
}

export function openStreams(options: OpenStreamsOptions): OpenStreams {
  const { isStillAllowed, clock } = options;
  const maxStreams = whole('maxStreams', options.maxStreams);
  const counts = new Map<string, number>();
  const watches = new Set<() => void>();

  const add = (owner: string, change: 1 | -1): void => {
    const now = (counts.get(owner) ?? 0) + change;
    if (now > 0) counts.set(owner, now);
    else counts.delete(owner);
  };

  /** Checks repeatedly until the watch ends. */
  const watch = (request: Request, owner: string, end: () => void): (() => void) => {
    let cancel = (): void => {};
    let isOver = false;
    const ask = async (): Promise<void> => {
      const isAllowed = await isStillAllowed(request, owner).catch(() => false);
      if (isOver) return;
      if (isAllowed) cancel = clock.after(options.recheckMs, () => void ask());
      else end();
    };
    cancel = clock.after(options.recheckMs, () => void ask());
    const giveUp = (): void => {
      isOver = true;
      cancel();
      watches.delete(giveUp);
    };
    watches.add(giveUp);
    return giveUp;
  };

  return {
    async open(request, owner, start) {
      if ((counts.get(owner) ?? 0) >= maxStreams) throw tooMany(maxStreams);
      add(owner, 1);
      let response: Response;
      try {
        response = await start();
      } catch (error) {
        add(owner, -1);
        throw error;
      }
      if (!response.ok || !response.body) {
        add(owner, -1);
        return response;
      }
      const { body, end, ended } = endable(response.body);
      const giveUp = watch(request, owner, end);
      void ended.then(() => {
        giveUp();
        add(owner, -1);
      });
      return new Response(body, { status: response.status, headers: response.headers });
    },
    close() {
      for (const giveUp of watches) giveUp();
    },
  };
}

interface EndableStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly end: () => void;
  /** Resolves when either side has ended it. */
  readonly ended: Promise<void>;
}

/** Copies a stream only on demand, so that a slow client is still detected as slow. */
function endable(source: ReadableStream<Uint8Array>): EndableStream {
  const reader = source.getReader();
  let close = (): void => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => controller.close();
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
        else close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const end = (): void => void reader.cancel().catch(() => {});
  return { body, end, ended: reader.closed.catch(() => {}) };
}

const tooMany = (maxStreams: number): ApiRefusal =>
  new ApiRefusal(
    'too_many_streams',
    `You already have ${maxStreams} open event streams. Close one of them first.`,
    { details: { maxStreams }, headers: { 'retry-after': '5' } },
  );
