import { logMessage, logText } from '../errors/log-text.ts';
import type { Broadcaster } from './broadcaster.ts';
import type { Envelope } from './envelope.ts';

/** Envelopes that readers will not get; they see the gap by `prev`. */
export interface Drop {
  readonly envelopes: readonly Envelope[];
  /** No room, refused by the transport, too many tries, or the queue was closed. */
  readonly reason: 'overflow' | 'refused' | 'gave_up' | 'closed';
  readonly error: unknown;
}

/** A transport that is left alone because it refuses everything as it is set up, or that works again. */
export type TransportChange =
  | {
      readonly state: 'paused';
      readonly transport: string;
      /** Says what to check. */
      readonly error: unknown;
      /** The next try. */
      readonly retryMs: number;
    }
  | {
      readonly state: 'resumed';
      readonly transport: string;
      readonly error: null;
      readonly pausedMs: number;
    };

/** A failing listener must not break a delivery. */
export function heard<T>(listener: (value: T) => void, value: T): void {
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
    `onward: ${logText(broadcaster.name)} lost ${envelopes.length} of the envelopes for ${logText(channel)} (${reason}). ` +
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
      `The next try is in ${inSeconds(change.retryMs)}.`,
  );
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
