import type { Envelope, Refill } from '../../broadcasting/envelope.ts';
import type { UiMessage } from '../ui-message.ts';
import type { LogPlace } from '../ui-state.ts';

export type Connection = 'connecting' | 'live' | 'offline';

/** Callbacks for what a source delivers. */
export interface EnvelopeSink {
  envelope(envelope: Envelope): void;
  /** Reports the connection. Call `failed` with the reason before `offline`. */
  connection(state: Connection): void;
  /** Called when the conversation has changed more than the log describes: read it again. */
  stale(): void;
  /** Reports a problem to the developer: a refused channel, a response that cannot be read. */
  failed(error: Error): void;
}

/** A source of envelopes for a view. */
export interface EnvelopeSource {
  /** Key of what it reads: two sources with the same key deliver the same. Absent: only the same object does. */
  readonly key?: string;
  /** Whether a reconnect delivers what was missed. Absent: the listener asks for a refill. */
  readonly replays?: boolean;
  /** Connects and stays connected until the returned function is called. `place` says how much is known already. */
  open(sink: EnvelopeSink, place: () => LogPlace | null): () => void;
  /** Reads the log after a position; null for the newest execution from its beginning. */
  refill?(place: LogPlace | null, signal: AbortSignal): Promise<Refill>;
  /** Reads the server's conversation. */
  history?(signal: AbortSignal): Promise<readonly UiMessage[]>;
}

/** Formats a position for `Last-Event-ID` and for the `after` of a refill: `12@execution`. */
export const placeText = ({ executionId, after }: LogPlace): string =>
  `${after}@${encodeURIComponent(executionId.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))}`;
