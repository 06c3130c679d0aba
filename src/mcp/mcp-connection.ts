import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { withoutKnown } from '../errors/known-secrets.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { sentence } from '../sentence.ts';
import type { ToolFailure } from '../tools/tool-failure.ts';
import { AuthorizationNeeded } from './authorization.ts';
import {
  causeText,
  effectUnknown,
  mcpFailure,
  requestFate,
  unauthorized,
  unreachable,
  unreadable,
} from './mcp-failure.ts';
import { OpenCalls } from './open-calls.ts';
import type { McpServer, McpSettings } from './mcp-options.ts';
import { secretsIn, secretsOf, type Credentials } from './credentials.ts';
import { openClient, type McpClient, type OpenClient } from './open-client.ts';
import { raced, rest } from './waiting.ts';

/** Waits between attempts to connect, in milliseconds. */
export const FIRST_WAIT_MS = 250;
export const MAX_WAIT_MS = 30_000;
/** Attempts at one request. */
const MAX_TRIES = 3;
/** How long a request waits for a server that cannot be reached. */
const READY_MS = 10_000;
const MAX_MESSAGE = 500;

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Whether the request may be repeated if it is unknown whether it took effect. */
  readonly isRepeatable: boolean;
  /** What the request is, for errors: `"create" of github`. */
  readonly what: string;
}

/** Notified of the life of a connection. */
export interface ConnectionWatch {
  opened(connection: McpConnection): void;
  closed(connection: McpConnection): void;
  /** It has not been used for a while, and closes. */
  idle(connection: McpConnection): void;
}

/** One server for one owner: opens when it is used, reconnects after a loss, and waits longer after each failure. */
export class McpConnection {
  readonly #server: McpServer;
  readonly #settings: McpSettings;
  readonly #credentials: Credentials;
  readonly #secrets: Set<string>;
  readonly #watch: ConnectionWatch;
  #open: OpenClient | null = null;
  /** Number of requests of each client, also of those that are replaced but still answer. */
  readonly #live: Map<OpenClient, number> = new Map();
  #opening: Promise<OpenClient> | null = null;
  #failures = 0;
  #retryAt = 0;
  #lastError = '';
  #idleTimer: ReturnType<typeof setTimeout> | null = null;
  /** Where the user can give permission; null unless the server asked for it last. */
  #authorizationUrl: string | null = null;
  readonly calls: OpenCalls = new OpenCalls();
  /** Number of running requests. */
  busy = 0;
  lastUsed: number = Date.now();
  /** Number of closes: a request does not outlive the close that it met. */
  #closes = 0;
  /** Counts connects and changed lists: a list from an earlier number is out of date. */
  generation = 0;

  constructor(
    server: McpServer,
    settings: McpSettings,
    credentials: Credentials,
    watch: ConnectionWatch,
  ) {
    this.#server = server;
    this.#settings = settings;
    this.#credentials = credentials;
    this.#watch = watch;
    this.#secrets = new Set(secretsOf(credentials));
  }

  /** Milliseconds until the next attempt to connect. */
  get waitMs(): number {
    return this.#open ? 0 : Math.max(0, this.#retryAt - Date.now());
  }

  /** Why the last attempt to connect failed. */
  get lastError(): string {
    return this.#lastError;
  }

  /** Whether the auth provider can send the user to an address. */
  get canAuthorize(): boolean {
    const { authProvider } = this.#credentials;
    return authProvider !== undefined && 'redirectToAuthorization' in authProvider;
  }

  /** Where the user can give permission; null unless the last attempt to connect needed it. */
  get authorizationUrl(): string | null {
    return this.#authorizationUrl;
  }

  /** Connects with the next request, without waiting. */
  retryNow(): void {
    this.#retryAt = 0;
    this.#failures = 0;
  }

  /** Hides the credentials of the owner, which a server may repeat, and bounds the text. */
  text(text: string): string {
    return defaultRedactor.text(withoutKnown(text, [...this.#secrets])).slice(0, MAX_MESSAGE);
  }

  /** Hides the credentials of the owner in a value. */
  value<T>(value: T): T {
    if (this.#secrets.size === 0) return value;
    const text = JSON.stringify(value);
    if (text === undefined || ![...this.#secrets].some((secret) => text.includes(secret)))
      return value;
    return JSON.parse(withoutKnown(text, [...this.#secrets])) as T; // the same JSON with other texts
  }

  /** Sends a request: after a reconnect, and again where that repeats no effect. */
  request<T>(send: (client: McpClient) => Promise<T>, options: RequestOptions): Promise<T> {
    return this.use(() => this.#request(send, options));
  }

  /** Keeps the connection open while the work runs. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.busy += 1;
    this.lastUsed = Date.now();
    try {
      return await work();
    } finally {
      this.busy -= 1;
      this.lastUsed = Date.now();
      this.watchIdle();
    }
  }

  async #request<T>(
    send: (client: McpClient) => Promise<T>,
    { signal, isRepeatable, what }: RequestOptions,
  ): Promise<T> {
    const closes = this.#closes;
    for (let tries = 1; ; tries++) {
      const open = await this.#ready(signal, what, closes);
      this.#live.set(open, (this.#live.get(open) ?? 0) + 1);
      try {
        return await send(open.client);
      } catch (error) {
        signal.throwIfAborted();
        const fate = requestFate(error, open.hasSession);
        if (fate === 'unauthorized') throw this.#unauthorized(what, error);
        if (fate === 'invalid') throw unreadable(what, this.#textOf(error));
        if (fate === 'answered' || (fate === 'stale' && tries > 1))
          throw mcpFailure(
            'mcp_refused',
            `${what} was refused: ${sentence(this.#textOf(error))}`,
            error,
          );
        if (this.#open === open) this.#closed();
        const mayRepeat = isRepeatable || fate !== 'ambiguous';
        if (!mayRepeat) throw effectUnknown(what, this.#textOf(error));
        if (tries === MAX_TRIES) throw this.#unreachable(what, messageOf(error));
      } finally {
        this.#release(open);
      }
    }
  }

  /** Closes the connection. A later request opens it again. */
  async close(): Promise<void> {
    this.#closes += 1;
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    const opening = this.#opening;
    const live = new Set([...this.#live.keys(), ...(this.#open ? [this.#open] : [])]);
    this.#closed();
    await Promise.all([...live].map((open) => open.close()));
    await opening?.catch(() => {});
  }

  /** Connects once, unless it is connected. Waits for nothing else. */
  connect(): Promise<OpenClient> {
    if (this.#open) return Promise.resolve(this.#open);
    this.#opening ??= this.#connect().finally(() => (this.#opening = null));
    return this.#opening;
  }

  async #connect(): Promise<OpenClient> {
    let open: OpenClient | null = null;
    const closes = this.#closes;
    try {
      open = await openClient(this.#server, this.#credentials, this.#settings.connectTimeoutMs, {
        onClose: () => {
          if (this.#open === open) this.#closed();
        },
        onToolsChanged: () => void (this.generation += 1),
        onSecret: (secret) => secretsIn(secret).forEach((one) => this.#secrets.add(one)),
        onAuthorization: (url) => void (this.#authorizationUrl = url),
        // one connection of several owners does not say whom to ask
        onQuestion: (params, signal) =>
          this.#settings.shared
            ? Promise.resolve({ action: 'cancel' })
            : this.calls.ask(this.value(params), signal),
      });
      if (this.#closes > closes) {
        await open.close();
        throw new Error('the connection was closed');
      }
      this.#failures = 0;
      this.#retryAt = 0;
      this.#lastError = '';
      this.#authorizationUrl = null;
      this.generation += 1;
      this.#open = open;
      this.#watch.opened(this);
      this.watchIdle();
      return open;
    } catch (error) {
      this.#failures += 1;
      const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
      this.#retryAt = Date.now() + wait;
      this.#lastError = this.text(causeText(error));
      throw error;
    }
  }

  #closed(): void {
    this.#open = null;
    this.#watch.closed(this);
  }

  /** Closes a client that was replaced after its last request: the package keeps some failures forever. */
  #release(open: OpenClient): void {
    const left = (this.#live.get(open) ?? 1) - 1;
    if (left > 0) return void this.#live.set(open, left);
    this.#live.delete(open);
    if (this.#open !== open) open.close().catch(() => {});
  }

  /** Connects, with growing waits between the attempts. */
  async #ready(signal: AbortSignal, what: string, closes: number): Promise<OpenClient> {
    const until = Date.now() + READY_MS;
    for (;;) {
      if (this.#closes > closes) throw this.#unreachable(what, 'the connection was closed');
      if (!this.#open) await rest(this.waitMs, signal);
      signal.throwIfAborted();
      try {
        return await raced(this.connect(), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (AgentError.is(error)) throw error;
        if (requestFate(error, false) === 'unauthorized') throw this.#unauthorized(what, error);
        if (Date.now() + this.waitMs > until) throw this.#unreachable(what, causeText(error));
      }
    }
  }

  /** Closes the connection when it has not been used for a while. */
  watchIdle(): void {
    if (this.#idleTimer !== null) return;
    const { idleMs } = this.#settings;
    this.#idleTimer = setTimeout(
      () => {
        this.#idleTimer = null;
        if (this.busy > 0 || Date.now() - this.lastUsed < idleMs) return this.watchIdle();
        this.#watch.idle(this);
        this.close().catch(() => {});
      },
      Math.min(idleMs, 2_147_483_647),
    );
    (this.#idleTimer as { unref?(): void }).unref?.();
  }

  #textOf = (error: unknown): string => this.text(causeText(error));

  #unreachable = (what: string, reason: string): ToolFailure =>
    unreachable(what, this.#server.name, this.text(reason));

  #unauthorized(what: string, error: unknown): Error {
    const url = this.#authorizationUrl;
    return url === null
      ? unauthorized(what, this.#server.name, this.#textOf(error))
      : new AuthorizationNeeded(url, `${this.#server.name} needs the permission of the user`);
  }
}
