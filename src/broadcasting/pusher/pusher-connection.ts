import { AgentError } from '../../errors/agent-error.ts';
import { isRecord, parseJson } from '../../json.ts';
import { BroadcastError } from '../broadcaster.ts';
import { givenUp, notPusher, pusherFailure, timedOut, type PusherAnswer } from './pusher-errors.ts';
import type { PusherEvent } from './pusher-frame.ts';

/** The part of the official SDK's `Pusher` that is used. */
export interface PusherLike {
  trigger(channel: string, event: string, data: string): Promise<unknown>;
  triggerBatch(batch: { channel: string; name: string; data: string }[]): Promise<unknown>;
}

export interface PusherApp {
  readonly appId: string;
  readonly key: string;
  readonly secret: string;
  readonly useTLS: boolean;
  readonly host: string;
  readonly port: number | undefined;
  readonly path: string;
}

export interface ConnectionOptions {
  readonly via: PusherApp | PusherLike;
  /** Origin of the server, for messages. */
  readonly server: string;
  readonly timeoutMs: number;
}

/** Node built-ins that this file uses, imported by a computed name so that bundlers ignore them. */
interface ClientRequest {
  once(
    event: 'response',
    listener: (response: {
      readonly statusCode?: number;
      readonly headers: Readonly<Record<string, string | undefined>>;
    }) => void,
  ): unknown;
  destroy(): unknown;
}
interface Agent {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void;
  destroy(): void;
}
type AgentClass = new (options: { readonly keepAlive: true; readonly maxSockets: 1 }) => Agent;
type Builtins = (name: 'node:http' | 'node:https') => { readonly Agent: AgentClass } | undefined;

/** A client with a connection of its own, and the facts about the request on it. */
interface Line {
  readonly client: PusherLike;
  request: ClientRequest | null;
  answer: PusherAnswer | null;
  cut(): void;
}

export interface PusherSender {
  /** Rejects if the package is missing. */
  ready(): Promise<void>;
  send(
    events: readonly PusherEvent[],
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<void>;
}

/** Sends with the SDK. Each call has its own connection, which is reused if the server keeps it open. */
export function connectPusher({ via, server, timeoutMs }: ConnectionOptions): PusherSender {
  const idle: Line[] = [];
  let loading: Promise<() => Line> | null = null;
  const open = (): Promise<() => Line> => {
    loading ??= ('trigger' in via ? borrowed(via) : lines(via)).catch((error: unknown) => {
      loading = null; // the package may be installed before the next call
      throw error;
    });
    return loading;
  };

  // load it now, so that the first run does not wait; a send reports what is missing
  open().catch(() => {});

  const send: PusherSender['send'] = async (events, bytes, signal) => {
    const makeLine = await open();
    if (signal?.aborted) throw givenUp(server, signal.reason);
    const line = idle.pop() ?? makeLine();
    line.request = line.answer = null;
    try {
      await raced(deliver(line.client, events, server), server, timeoutMs, signal);
    } catch (error) {
      line.cut();
      throw error instanceof BroadcastError
        ? error
        : pusherFailure(error, { server, bytes, answer: line.answer });
    }
    idle.push(line);
  };
  return { send, ready: async () => void (await open()) };
}

async function deliver(
  client: PusherLike,
  events: readonly PusherEvent[],
  server: string,
): Promise<void> {
  const [first] = events;
  const response =
    events.length === 1 && first
      ? await client.trigger(first.channel, first.name, first.data)
      : await client.triggerBatch([...events]);
  const { text } = (response ?? {}) as { text?: () => Promise<string> };
  if (typeof text !== 'function') return;
  const answer = parseJson(await text.call(response));
  if (!answer.ok || !isRecord(answer.value)) throw notPusher(server);
}

/**
 * Limits the time of a call. The SDK's own limit ends with the first byte of the response, and it accepts no signal.
 */
function raced(
  work: Promise<void>,
  server: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => settle(() => reject(givenUp(server, signal?.reason)));
    const timer = setTimeout(() => settle(() => reject(timedOut(server, timeoutMs))), timeoutMs);
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      how();
    };
    signal?.addEventListener('abort', aborted, { once: true });
    work.then(
      () => settle(resolve),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** Uses a client that the caller configured: its connections are not inspected. */
async function borrowed(client: PusherLike): Promise<() => Line> {
  return () => ({ client, request: null, answer: null, cut: () => {} });
}

async function lines(app: PusherApp): Promise<() => Line> {
  const sdk = await import('pusher').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'The Pusher broadcaster needs the package pusher, which is not installed. Run: npm install pusher',
      { cause },
    );
  });
  const Agent = builtins?.(app.useTLS ? 'node:https' : 'node:http')?.Agent;
  const { port, path, ...rest } = app;
  // the SDK supports no path before /apps, and the path is not signed: so it is part of the address
  const address = port === undefined ? { host: rest.host + path } : { port: `${port}${path}` };
  return () => {
    const agent = Agent && new Agent({ keepAlive: true, maxSockets: 1 });
    const options = { ...rest, ...address, ...(agent && { agent: agent as never }) };
    const line: Line = {
      client: new sdk.default(options),
      request: null,
      answer: null,
      cut() {
        line.request?.destroy();
        agent?.destroy();
      },
    };
    if (agent) watch(agent, line);
    return line;
  };
}

/**
 * Creates an agent for the SDK, which cannot cancel a request, drops the headers of a refusal and follows redirects.
 */
function watch(agent: Agent, line: Line): void {
  const { addRequest } = agent;
  agent.addRequest = (request, ...rest) => {
    if (line.request) throw new TypeError('A redirect is not followed.');
    line.request = request;
    request.once('response', ({ statusCode = 0, headers }) => {
      line.answer = {
        status: statusCode,
        retryAfter: headers['retry-after'],
        location: headers['location'],
      };
    });
    addRequest.call(agent, request, ...rest);
  };
}

const builtins: Builtins | undefined = (globalThis as { process?: { getBuiltinModule?: Builtins } })
  .process?.getBuiltinModule;
