import { isRecord, parseJson } from '../../json.ts';
import { envelopeTypes, readEnvelope } from '../read-envelope.ts';
import { backoff, sleep, type BackoffOptions } from './backoff.ts';
import { channelLink, type ChannelHost, type ChannelLink } from './channel-link.ts';
import type { EnvelopeSink, EnvelopeSource } from './envelope-source.ts';
import { connectionFailure, httpFailure, pusherCodeText } from './failures.ts';
import { readsOf, type ReadOptions } from './http-reads.ts';
import { SourceError } from './source-error.ts';

export interface ChannelOptions extends ReadOptions {
  readonly sessionId: string;
  /** Milliseconds in which the server must confirm the channel. Default: 10,000. */
  readonly subscribeMs?: number;
  /** Waits before a retry, if the channel was not confirmed or its authorization failed temporarily. */
  readonly backoff?: BackoffOptions;
}

/** Creates a source for Echo or Pusher: a channel that replays nothing and does not always report a refusal. */
export function channelSource(
  options: ChannelOptions,
  channel: string,
  host: () => ChannelHost,
): EnvelopeSource {
  return {
    key: `channel ${channel}`,
    open: (sink) => new Listening(channelLink(channel, host()), sink, channel, options).begin(),
    ...readsOf(options),
  };
}

/** Milliseconds in which an error of the connection counts as the cause of a loss. */
const CAUSE_MS = 15_000;

/** One source on one channel: live, or offline with a reason and, unless that is final, a retry. */
class Listening {
  readonly #link: ChannelLink;
  readonly #sink: EnvelopeSink;
  readonly #channel: string;
  readonly #options: ChannelOptions;
  #isOpen = true;
  /** Timer of the confirmation or of the next attempt. */
  #wait: AbortController | null = null;
  #failures = 0;
  /** The last code that the connection reported: only it shows a wrong signature. */
  #said: { readonly code: number; readonly at: number } | null = null;

  constructor(link: ChannelLink, sink: EnvelopeSink, channel: string, options: ChannelOptions) {
    this.#link = link;
    this.#sink = sink;
    this.#channel = channel;
    this.#options = options;
  }

  begin(): () => void {
    const { connection } = this.#link;
    for (const type of envelopeTypes) this.#link.bind(type, this.#onEnvelope);
    this.#link.bind('pusher:subscription_succeeded', this.#onSubscribed);
    this.#link.bind('pusher:subscription_error', this.#onRefused);
    connection.bind('state_change', this.#onState);
    connection.bind('error', this.#onError);
    this.#onState();
    return () => {
      this.#isOpen = false;
      this.#stopWaiting();
      connection.unbind('state_change', this.#onState);
      connection.unbind('error', this.#onError);
      this.#link.leave();
    };
  }

  readonly #onEnvelope = (data: unknown): void => {
    if (!this.#isOpen) return;
    const parsed = typeof data === 'string' ? parseJson(data) : { ok: true, value: data };
    const read = parsed.ok && 'value' in parsed ? readEnvelope(parsed.value) : null;
    if (read) this.#sink.envelope(read.envelope);
    else
      this.#sink.failed(
        new SourceError(
          'unreadable',
          `${this.#channel} sent something that is not an envelope. It was skipped.`,
        ),
      );
  };

  readonly #onSubscribed = (): void => {
    if (!this.#isOpen) return;
    this.#stopWaiting();
    this.#failures = 0;
    this.#said = null;
    this.#sink.connection('live');
  };

  readonly #onRefused = (error: unknown): void => {
    if (!this.#isOpen) return;
    const failure = refusedChannel(this.#channel, error);
    this.#offline(failure);
    if (failure.isFinal) this.#stopWaiting();
    else this.#tryLater(failure.retryAfterMs);
  };

  readonly #onState = (): void => {
    if (!this.#isOpen) return;
    const { state } = this.#link.connection;
    this.#stopWaiting();
    if (state === 'connected') {
      if (this.#link.isSubscribed()) return this.#onSubscribed();
      this.#said = null;
      this.#sink.connection('connecting');
      this.#awaitConfirmation();
    } else if (state === 'initialized' || state === 'connecting')
      this.#sink.connection('connecting');
    else this.#offline(connectionFailure(state, this.#cause()));
  };

  readonly #onError = (data: unknown): void => {
    const code = codeOf(data);
    if (code !== null) this.#said = { code, at: performance.now() };
  };

  #awaitConfirmation(): void {
    const { subscribeMs = 10_000 } = this.#options;
    void this.#after(subscribeMs, () => {
      this.#offline(unconfirmedChannel(this.#channel, subscribeMs, this.#said?.code ?? null));
      this.#tryLater(0);
    });
  }

  /** A lost connection reconnects by itself, with its channels. */
  #tryLater(atLeastMs: number): void {
    const wait = backoff(this.#failures, this.#options.backoff);
    this.#failures += 1;
    void this.#after(
      Math.max(wait, atLeastMs),
      () => {
        if (this.#link.connection.state !== 'connected') return;
        this.#awaitConfirmation();
        this.#link.rejoin();
        if (this.#link.isSubscribed()) this.#onSubscribed();
      },
      'online',
    );
  }

  async #after(ms: number, then: () => void, wakeOn?: 'online'): Promise<void> {
    this.#stopWaiting();
    const wait = new AbortController();
    this.#wait = wait;
    await sleep(ms, wait.signal, wakeOn);
    if (this.#wait === wait) then();
  }

  #stopWaiting(): void {
    this.#wait?.abort();
    this.#wait = null;
  }

  #cause(): number | null {
    const said = this.#said;
    return said && performance.now() - said.at < CAUSE_MS ? said.code : null;
  }

  #offline(error: SourceError): void {
    this.#sink.failed(error);
    this.#sink.connection('offline');
  }
}

/** Reads the code, which pusher-js wraps: `{ type, error: { type, data: { code } } }` or `{ data: { code } }`. */
function codeOf(error: unknown): number | null {
  const dataIn = (value: unknown): unknown => (isRecord(value) ? value['data'] : null);
  const data = dataIn(isRecord(error) ? error['error'] : null) ?? dataIn(error);
  const code = isRecord(data) ? data['code'] : null;
  return typeof code === 'number' ? code : null;
}

/** pusher-js exposes a status and no headers; `channelAuthorizer` writes both into the message of its error. */
function refusedChannel(channel: string, error: unknown): SourceError {
  const { status, error: words = '' } = isRecord(error) ? error : {};
  const text = typeof words === 'string' ? words : '';
  const said = /\banswered (\d{3})\b/.exec(text)?.[1];
  const known = typeof status === 'number' ? status : said === undefined ? 0 : Number(said);
  const retryAfter = /\bretry after (\d{1,6}) s\b/i.exec(text)?.[1] ?? null;
  const what =
    known === 0
      ? `${channel} was not authorized: the auth endpoint did not answer`
      : `${channel} was not authorized: the auth endpoint answered ${known}`;
  return httpFailure(what, known, retryAfter);
}

const unconfirmedChannel = (channel: string, ms: number, code: number | null): SourceError =>
  new SourceError(
    'unreachable',
    `${channel} was not confirmed within ${ms} ms${code === null ? '' : `; the server reported ${pusherCodeText(code)}`}. It is retried. The server does not answer a wrong signature: check that the auth endpoint signs with the secret of the client's app key.`,
  );
