import { own, parseJson } from '../../json.ts';
import type { Connection, EnvelopeSink, EnvelopeSource } from './envelope-source.ts';
import { readsOf, type ReadOptions } from './http-reads.ts';
import { envelopeTypes, readEnvelope } from '../read-envelope.ts';
import { SourceError } from './source-error.ts';

export interface ChannelOptions extends ReadOptions {
  readonly sessionId: string;
  /** How long the server may take to confirm the channel. Default: 10 seconds. */
  readonly subscribeMs?: number;
}

/** The connection of a Pusher client, as far as a source needs it. */
export interface PusherConnection {
  readonly state: string;
  bind(event: string, callback: (data: unknown) => void): unknown;
  unbind(event: string, callback: (data: unknown) => void): unknown;
}

/** A private channel, whichever client holds it. */
export interface ChannelLink {
  readonly connection: PusherConnection;
  isSubscribed(): boolean;
  bind(type: string, callback: (data: unknown) => void): void;
  unbind(type: string, callback: (data: unknown) => void): void;
  /** Called again after every reconnect. */
  onSubscribed(callback: () => void): void;
  onRefused(callback: (error: unknown) => void): void;
  leave(): void;
}

const states: Readonly<Record<string, Connection>> = {
  initialized: 'connecting',
  connecting: 'connecting',
  connected: 'connecting',
};

/** What Echo and Pusher have in common: a channel that replays nothing and does not always say no. */
export function channelSource(
  options: ChannelOptions,
  channel: string,
  join: () => ChannelLink,
): EnvelopeSource {
  return {
    key: `channel ${channel}`,
    open: (sink) => listen(join(), sink, channel, options.subscribeMs ?? 10_000),
    ...readsOf(options),
  };
}

function listen(
  link: ChannelLink,
  sink: EnvelopeSink,
  channel: string,
  subscribeMs: number,
): () => void {
  let isOpen = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The last code the connection reported: a wrong signature shows up only there. */
  let code: number | null = null;

  const onEnvelope = (data: unknown): void => {
    if (!isOpen) return;
    const parsed = typeof data === 'string' ? parseJson(data) : { ok: true, value: data };
    const read = parsed.ok && 'value' in parsed ? readEnvelope(parsed.value) : null;
    if (read) sink.envelope(read.envelope);
    else
      sink.failed(
        new SourceError(
          'unreadable',
          `${channel} brought something that is no envelope. It was skipped.`,
        ),
      );
  };
  const subscribed = (): void => {
    clearTimeout(timer);
    if (isOpen) sink.connection('live');
  };
  const refused = (error: unknown): void => {
    clearTimeout(timer);
    if (!isOpen) return;
    sink.connection('offline');
    sink.failed(refusedChannel(channel, error));
  };
  const changed = (): void => {
    clearTimeout(timer);
    const { state } = link.connection;
    if (state === 'connected' && link.isSubscribed()) return subscribed();
    sink.connection(own(states, state) ?? 'offline');
    if (state === 'connected')
      timer = setTimeout(() => {
        sink.connection('offline');
        sink.failed(unconfirmedChannel(channel, subscribeMs, code));
      }, subscribeMs);
    else if (state === 'failed')
      sink.failed(
        new SourceError(
          'refused',
          'The Pusher client cannot connect here: WebSockets are not supported, or its options allow no transport.',
        ),
      );
  };
  const complained = (data: unknown): void => {
    code = codeOf(data) ?? code;
  };

  for (const type of envelopeTypes) link.bind(type, onEnvelope);
  link.onSubscribed(subscribed);
  link.onRefused(refused);
  link.connection.bind('state_change', changed);
  link.connection.bind('error', complained);
  changed();
  return () => {
    isOpen = false;
    clearTimeout(timer);
    for (const type of envelopeTypes) link.unbind(type, onEnvelope);
    link.connection.unbind('state_change', changed);
    link.connection.unbind('error', complained);
    link.leave();
  };
}

/** pusher-js wraps it: `{ type, error: { type, data: { code } } }` or `{ data: { code } }`. */
function codeOf(error: unknown): number | null {
  const outer = error as {
    error?: { data?: { code?: unknown } };
    data?: { code?: unknown };
  } | null;
  const code = outer?.error?.data?.code ?? outer?.data?.code;
  return typeof code === 'number' ? code : null;
}

function refusedChannel(channel: string, error: unknown): SourceError {
  const status = (error as { status?: unknown } | null)?.status;
  return new SourceError(
    'refused',
    `${channel} was refused${typeof status === 'number' ? `: the auth endpoint answered ${status}` : ''}. Check that the client's auth endpoint is the right one, that its request carries the user's cookie or token, and that the session is theirs.`,
    typeof status === 'number' ? { status } : {},
  );
}

const unconfirmedChannel = (channel: string, ms: number, code: number | null): SourceError =>
  new SourceError(
    'unreachable',
    `${channel} was not confirmed within ${ms} ms${code === null ? '' : `; the server reported ${code}`}. A wrong signature is answered with silence on this wire: check that the auth endpoint signs with the secret that belongs to the client's app key.`,
  );

/** Two screens of one session share a channel: only the last one that leaves ends it. */
export function sharedChannel(client: object, channel: string, wasThere: boolean): () => boolean {
  const counts = holders.get(client) ?? new Map<string, number>();
  holders.set(client, counts);
  // a channel that somebody else had joined is not ours to leave
  const before = counts.get(channel) ?? (wasThere ? 1 : 0);
  counts.set(channel, before + 1);
  return () => {
    const left = (counts.get(channel) ?? 1) - 1;
    if (left > 0) counts.set(channel, left);
    else counts.delete(channel);
    return left <= 0;
  };
}

const holders = new WeakMap<object, Map<string, number>>();
