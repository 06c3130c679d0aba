import type { Clock } from '../clock.ts';
import { whole } from '../errors/agent-error.ts';
import { ApiRefusal } from './refusal.ts';

export interface OpenStreamsOptions {
  /** Of one owner at the same time. */
  readonly maxStreams: number;
  /** Whether the request would still be let in, as the same owner. */
  readonly isWelcome: (request: Request, owner: string) => Promise<boolean>;
  /** How often that is asked. */
  readonly askAgainMs: number;
  readonly clock: Clock;
}

/** The event streams that are open: counted by owner, and ended when their owner may not read any more. */
export interface OpenStreams {
  open(request: Request, owner: string, start: () => Promise<Response>): Promise<Response>;
  /** Stops asking. */
  close(): void;
}

export function openStreams(options: OpenStreamsOptions): OpenStreams {
  const { isWelcome, clock } = options;
  const maxStreams = whole('maxStreams', options.maxStreams);
  const counts = new Map<string, number>();
  const watches = new Set<() => void>();

  const add = (owner: string, change: 1 | -1): void => {
    const now = (counts.get(owner) ?? 0) + change;
    if (now > 0) counts.set(owner, now);
    else counts.delete(owner);
  };

  /** Asks again and again until the watch is given up. */
  const watch = (request: Request, owner: string, end: () => void): (() => void) => {
    let cancel = (): void => {};
    let isOver = false;
    const ask = async (): Promise<void> => {
      const isStill = await isWelcome(request, owner).catch(() => false);
      if (isOver) return;
      if (isStill) cancel = clock.after(options.askAgainMs, () => void ask());
      else end();
    };
    cancel = clock.after(options.askAgainMs, () => void ask());
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
  /** Resolves whichever side ended it. */
  readonly ended: Promise<void>;
}

/** The same bytes, taken only when they are wanted, so that a slow client is still seen as one. */
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
    `You have ${maxStreams} event streams open already. Close one of them first.`,
    { details: { maxStreams }, headers: { 'retry-after': '5' } },
  );
