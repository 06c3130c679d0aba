import type { Envelope, Refill } from '../../broadcasting/envelope.ts';
import type { UiMessage } from '../ui-message.ts';
import type { LogPlace } from '../ui-state.ts';

export type Connection = 'connecting' | 'live' | 'offline';

/** Who takes what a source brings. */
export interface EnvelopeSink {
  envelope(envelope: Envelope): void;
  /** Before `offline` say why with `failed`. */
  connection(state: Connection): void;
  /** The conversation has changed more than the log can tell: read it anew. */
  stale(): void;
  /** Something to tell the user's developer: a refused channel, an answer that cannot be read. */
  failed(error: Error): void;
}

/** Where a screen gets its envelopes from. */
export interface EnvelopeSource {
  /** What it reads: two sources with the same key bring the same. Absent: only the same object does. */
  readonly key?: string;
  /** Whether a reconnect brings what was missed. Absent: the listener asks for a refill. */
  readonly replays?: boolean;
  /** Connects and stays connected; what it returns ends that. `place` says how much is known already. */
  open(sink: EnvelopeSink, place: () => LogPlace | null): () => void;
  /** What the log has after a place; null for the newest execution from its beginning. */
  refill?(place: LogPlace | null, signal: AbortSignal): Promise<Refill>;
  /** The conversation as the server keeps it. */
  history?(signal: AbortSignal): Promise<readonly UiMessage[]>;
}

/** How a place is written in `Last-Event-ID` and in the `after` of a refill: `12@execution`. */
export const placeText = ({ executionId, after }: LogPlace): string =>
  `${after}@${encodeURIComponent(executionId.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))}`;
