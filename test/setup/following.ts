import type { FollowedEvent, FollowOptions, LogPosition, SessionRuntime } from 'onward';
import { onTestFinished } from 'vitest';
import { ann, until } from './sessions.ts';

/** A reader of `follow` that takes everything, and what it has seen. */
export interface Follower {
  readonly seen: FollowedEvent[];
  /** Where it would continue. */
  readonly position: LogPosition | undefined;
  /** Resolves when the feed has ended. */
  readonly ended: Promise<void>;
  leave(): void;
}

export function followerOf(
  runtime: SessionRuntime,
  sessionId: string,
  options: Partial<FollowOptions> & { readonly paceMs?: () => number } = {},
): Follower {
  const { paceMs, ...more } = options;
  const leaving = new AbortController();
  const seen: FollowedEvent[] = [];
  const read = async (): Promise<void> => {
    const feed = runtime.follow(sessionId, { ...ann, ...more, signal: leaving.signal });
    for await (const event of feed) {
      seen.push(event);
      const ms = paceMs?.() ?? 0;
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };
  const ended = read();
  ended.catch(() => {});
  onTestFinished(() => leaving.abort());
  return {
    seen,
    ended,
    get position() {
      const last = seen.findLast(({ seq }) => seq !== null);
      return last && { executionId: last.event.executionId, seq: last.seq ?? 0 };
    },
    leave: () => leaving.abort(),
  };
}

/** Numbered events as text, gaps included. */
export const numberedIn = (seen: readonly FollowedEvent[]): string[] =>
  seen.filter(({ seq }) => seq !== null).map(({ seq, event }) => `${seq} ${event.type}`);

/** The text that chunks have brought, by message. */
export function textIn(seen: readonly FollowedEvent[]): string {
  return seen.map(({ event }) => (event.type === 'StreamChunk' ? event.content : '')).join('');
}

export const endsIn = (seen: readonly FollowedEvent[]): number =>
  seen.filter(
    ({ event }) =>
      (event.type === 'AgentFinished' || event.type === 'AgentPaused') &&
      event.parentAgentId === null,
  ).length;

export const hasEnded = (follower: Follower, times = 1): Promise<unknown> =>
  until(() => endsIn(follower.seen) >= times);
