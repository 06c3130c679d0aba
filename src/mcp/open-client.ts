import type { Client, ElicitResult, Transport } from '@modelcontextprotocol/client';
import { AgentError } from '../errors/agent-error.ts';
import type { InputAnswer } from '../tools/input-request.ts';
import { watchedProvider } from './authorization.ts';
import { boundedFetch, MAX_BYTES } from './bounded-fetch.ts';
import type { Credentials } from './credentials.ts';
import { keepListening } from './keep-listening.ts';
import { LOST_ANSWER } from './mcp-failure.ts';
import type { McpHttpServer, McpServer, McpStdioServer } from './mcp-options.ts';

type McpPackage = typeof import('@modelcontextprotocol/client');

/** The client of the package. */
export type McpClient = Client;

/** An open connection of the client package. */
export interface OpenClient {
  readonly client: Client;
  /** Whether the server gave the client a session, which it may forget. */
  readonly hasSession: boolean;
  close(): Promise<void>;
}

export interface OpenHooks {
  /** The connection was closed or lost. */
  onClose(): void;
  onToolsChanged(): void;
  /** A token that was sent. */
  onSecret(secret: string): void;
  /** The auth provider would send the user to this address. */
  onAuthorization(url: string): void;
  /** The server asks in the middle of a call. The signal aborts when it does not wait any more. */
  onQuestion(params: unknown, signal: AbortSignal): Promise<InputAnswer>;
}

/** Most messages at once, and per second, besides the answers to requests. */
const NOTICES = 2_000;
const NOTICES_PER_SECOND = 200;
/** Characters of what a child process wrote last, for the error of a failed start. */
const STDERR_CHARS = 2_000;
const MAX_TIMEOUT_MS = 2_147_483_647;

/** Connects to a server. Rejects within the time, and leaves nothing open then. */
export async function openClient(
  server: McpServer,
  credentials: Credentials,
  connectTimeoutMs: number,
  hooks: OpenHooks,
): Promise<OpenClient> {
  const mcp = await loadClient();
  let wrote: () => string = () => '';
  let transport: Transport & { readonly pid?: number | null };
  if ('command' in server) ({ transport, wrote } = await stdio(server, credentials));
  else transport = http(mcp, server, credentials, hooks);
  const client = new mcp.Client(
    { name: 'onward', version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      // a child process that does not answer may be of the older generation, which is tried afterwards
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: 'command' in server ? connectTimeoutMs / 2 : connectTimeoutMs },
      },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: {
        getValidator: () => (data) => ({
          valid: true,
          data: data as never,
          errorMessage: undefined,
        }),
      },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => hooks.onToolsChanged() },
      },
    },
  );
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const answer = await hooks.onQuestion(params, mcpReq.signal);
    return answer as ElicitResult; // checked against the schema of the question
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    isOpen = false;
    await client.close().catch(() => {});
    // not yet attached to the client, or already detached
    await transport.close().catch(() => {});
    release();
  };
  const release = keepForExit(() => transport.pid ?? null);
  // neither is an event target
  Object.assign(client, {
    onclose: () => {
      release();
      if (isOpen) hooks.onClose();
      isOpen = false;
    },
    // each failed request rejects by itself
    onerror: () => {},
  });
  const failAll = answerLost(
    transport,
    noticeLimit(() => {
      hooks.onClose();
      failAll();
      void close();
    }),
  );
  try {
    await inTime(client.connect(transport, { timeout: connectTimeoutMs }), connectTimeoutMs);
  } catch (error) {
    await close();
    const said = wrote().trim();
    if (said === '' || !(error instanceof Error)) throw error;
    throw new Error(`${error.message} (it wrote: ${said})`, { cause: error });
  }
  keepListening(client, () => isOpen, hooks.onToolsChanged).catch(() => {}); // lists are read again by age
  const { sessionId } = transport;
  return { client, hasSession: sessionId !== undefined, close };
}

async function stdio(
  { command, args = [], cwd }: McpStdioServer,
  { env }: Credentials,
): Promise<{ readonly transport: Transport; wrote(): string }> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    stderr: 'pipe',
    maxBufferSize: MAX_BYTES,
  });
  let tail = '';
  transport.stderr?.on('data', (chunk: unknown) => {
    tail = (tail + String(chunk)).slice(-STDERR_CHARS);
  });
  return { transport, wrote: () => tail };
}

function http(
  mcp: McpPackage,
  { url }: McpHttpServer,
  { headers, authProvider }: Credentials,
  { onSecret, onAuthorization }: OpenHooks,
): Transport {
  return new mcp.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(onSecret),
    ...(authProvider && {
      authProvider: watchedProvider(authProvider, onAuthorization) as never, // checked by the package
    }),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
}

/**
 * Answers a request with an error if the stream of its answer ended without one. The client package would wait for its
 * timeout. Returns a function that answers all requests this way.
 */
function answerLost(transport: Transport, received: (message: object) => void): () => void {
  const pending = new Set<string | number>();
  const fail = (id: string | number): void => {
    if (!pending.delete(id)) return;
    const error = { code: LOST_ANSWER, message: 'the connection ended before the answer' };
    transport.onmessage?.({ jsonrpc: '2.0', id, error });
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!('method' in message) || !('id' in message)) return send(message, options);
    const { id } = message;
    pending.add(id);
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      setTimeout(() => fail(id), 0);
    };
    return send(message, { ...options, onRequestStreamEnd }).catch((error: unknown) => {
      pending.delete(id);
      throw error;
    });
  };
  const onmessage: Transport['onmessage'] = (message) => {
    if ('id' in message && !('method' in message) && message.id !== undefined)
      pending.delete(message.id);
    received(message);
  };
  Object.assign(transport, { onmessage });
  return () => pending.forEach(fail);
}

/** Closes a connection whose server sends notifications without end. */
function noticeLimit(onFlood: () => void): (message: object) => void {
  let left = NOTICES;
  let at = Date.now();
  return (message) => {
    if (!('method' in message)) return;
    const now = Date.now();
    left = Math.min(NOTICES, left + ((now - at) / 1000) * NOTICES_PER_SECOND) - 1;
    at = now;
    if (left < 0) {
      left = Number.POSITIVE_INFINITY;
      onFlood();
    }
  };
}

/** Child processes by the function that returns their id. They are killed if this process exits without closing them. */
const children = new Set<() => number | null>();
let isWatching = false;

interface NodeProcess {
  once(event: 'exit', listener: () => void): unknown;
  kill(pid: number): unknown;
}

function keepForExit(pidOf: () => number | null): () => void {
  const { process } = globalThis as { process?: NodeProcess };
  if (process?.once === undefined) return () => {};
  if (!isWatching) {
    isWatching = true;
    process.once('exit', () => {
      for (const child of children) {
        const pid = child();
        if (pid === null) continue;
        try {
          process.kill(pid);
        } catch {
          // it is gone
        }
      }
    });
  }
  children.add(pidOf);
  return () => void children.delete(pidOf);
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${ms} ms`)),
      Math.min(ms, MAX_TIMEOUT_MS),
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const loadClient = (): Promise<McpPackage> =>
  import('@modelcontextprotocol/client').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'mcp() needs the official MCP client, which is not installed. Run: npm install @modelcontextprotocol/client',
      { cause },
    );
  });
