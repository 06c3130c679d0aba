import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as the server saw it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON. */
  readonly body: Record<string, unknown>;
  /** Resolves when the client disconnects before the answer is complete. */
  readonly left: Promise<void>;
}

export type Reply = (response: ServerResponse, request: Received) => void | Promise<void>;

export interface Loopback {
  readonly url: string;
  readonly requests: readonly Received[];
  readonly close: () => Promise<void>;
}

/** A local server that sends these replies in order, then status 599. */
async function loopback(...replies: readonly Reply[]): Promise<Loopback> {
  const requests: Received[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      let text = '';
      for await (const piece of incoming.setEncoding('utf8')) text += String(piece);
      const left = new Promise<void>((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve();
        });
      });
      const received: Received = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        left,
      };
      const reply = replies[requests.length] ?? json({ error: 'no reply is left' }, 599);
      requests.push(received);
      await reply(response, received);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  };
  return { url: `http://127.0.0.1:${port}/v1`, requests, close };
}

/** The same server, closed when the test ends. */
export async function serve(...replies: readonly Reply[]): Promise<Loopback> {
  const server = await loopback(...replies);
  onTestFinished(server.close);
  return server;
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
};

/** Chunks as server-sent events, then `[DONE]`. */
export const sse =
  (...chunks: readonly unknown[]): Reply =>
  (response) => {
    begin(response);
    response.end([...chunks, '[DONE]'].map(event).join(''));
  };

/** Chunks, then a broken connection. */
export const broken =
  (...chunks: readonly unknown[]): Reply =>
  async (response) => {
    begin(response);
    response.write(chunks.map(event).join(''));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  };

/** Chunks, then silence. */
export const silent =
  (...chunks: readonly unknown[]): Reply =>
  (response) => {
    begin(response);
    response.write(chunks.length === 0 ? ': waiting\n\n' : chunks.map(event).join(''));
  };

/** Sends nothing, not even a status. */
export const mute: Reply = () => {};

const event = (chunk: unknown): string =>
  `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`;

/** One chunk of a streamed Chat Completions answer. */
export const delta = (
  content: string | Record<string, unknown>,
  finish_reason: string | null = null,
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  object: 'chat.completion.chunk',
  choices: [
    { index: 0, delta: typeof content === 'string' ? { content } : content, finish_reason },
  ],
  ...more,
});

/** A complete Chat Completions answer. */
export const completion = (
  message: string | Record<string, unknown>,
  finish_reason: string = 'stop',
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message:
        typeof message === 'string'
          ? { role: 'assistant', content: message }
          : { role: 'assistant', content: null, ...message },
      finish_reason,
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  ...more,
});

export const toolCall = (
  name: string,
  args: string | Record<string, unknown> = {},
  id: string | null = 'call_1',
): Record<string, unknown> => ({
  ...(id === null ? null : { id }),
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});
