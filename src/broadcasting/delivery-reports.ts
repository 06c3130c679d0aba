import { logMessage, logText } from '../errors/log-text.ts';
import type { Broadcaster } from './broadcaster.ts';
import type { Envelope } from './envelope.ts';

/** Envelopes that readers will not get. Readers detect the gap by `prev`. */
export interface Drop {
  readonly envelopes: readonly Envelope[];
  /** Why: the queue is full, the transport refused, retries are used up, or the queue was closed. */
  readonly reason: 'overflow' | 'refused' | 'gave_up' | 'closed';
  readonly error: unknown;
}

/** A transport that is paused because it refuses every call, or that works again. */
export type TransportChange =
  | {
      readonly state: 'paused';
      readonly transport: string;
      /** Error of the transport; its message says what to check. */
      readonly error: unknown;
      /** Milliseconds until the next attempt. */
      readonly retryMs: number;
    }
  | {
      readonly state: 'resumed';
      readonly transport: string;
      readonly error: null;
      readonly pausedMs: number;
    };

/** Calls a listener and logs what it throws: a failing listener must not break a delivery. */
export function callListener<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    console.error(`onward: a listener for broadcasts threw. ${logMessage(error)}`);
  }
}

export function reportDrop(
  { envelopes, reason, error }: Drop,
  { broadcaster, channel }: { readonly broadcaster: Broadcaster; readonly channel: string },
): void {
  const why = error === null ? '' : ` ${logMessage(error)}`;
  console.error(
    `onward: ${logText(broadcaster.name)} dropped ${envelopes.length} of the envelopes for ${logText(channel)} (${reason}). ` +
      `Readers see the gap and refill.${why}`,
  );
}

export function reportChange(change: TransportChange): void {
  const name = logText(change.transport);
  if (change.state === 'resumed')
    return console.error(
      `onward: ${name} works again after ${inSeconds(change.pausedMs)}. Readers refill what they missed.`,
    );
  console.error(
    `onward: ${name} is paused. ${logMessage(change.error)} Runs continue, and readers get what is in the log. ` +
      `The next attempt is in ${inSeconds(change.retryMs)}.`,
  );
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
