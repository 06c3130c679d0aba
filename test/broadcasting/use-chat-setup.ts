import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readUIMessageStream, uiMessageChunkSchema, type UIMessage, type UIMessageChunk } from 'ai';
import type { InferenceDriver, InferenceChunk } from 'onward/drivers';
import {
  chatHandler,
  type ChatHandlerOptions,
  type OnwardDataParts,
  type OnwardMetadata,
  type UiMessageChunk,
} from 'onward/broadcasting/use-chat';
import type { ScenarioStep } from 'onward/testing';
import { expect, onTestFinished } from 'vitest';
import { ann, followingDriver } from '../setup/sessions.ts';

export type OnwardUIMessage = UIMessage<OnwardMetadata, OnwardDataParts>;

export type Handler = (request: Request) => Promise<Response>;

/** Creates a handler for ann, unless a header names another user. */
export const handlerOn = (
  runtime: ChatHandlerOptions['runtime'],
  options: Partial<ChatHandlerOptions> = {},
): Handler =>
  chatHandler({
    runtime,
    owner: (request) => request.headers.get('x-user') ?? ann.owner,
    pollMs: 20,
    ...options,
  });

/** Serves the handler on a port, like a Node server. */
export async function serveChat(handler: Handler): Promise<string> {
  const server = createServer((incoming, outgoing) => void pass(handler, incoming, outgoing));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;
}

async function pass(
  handler: Handler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const { method = 'GET', url = '/', headers } = incoming;
  const body = pieces.length > 0 ? { body: Buffer.concat(pieces) } : {};
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  const request = new Request(`http://127.0.0.1${url}`, { method, headers: given, ...body });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return void outgoing.end();
  const reader = response.body.getReader();
  outgoing.on('close', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    outgoing.write(value);
  }
  outgoing.end();
}

/** Creates a model whose chunks the test can delay. */
export interface Pace {
  /** Called and awaited before each chunk. */
  beforePiece: (text: string) => Promise<void> | void;
}

export function pacedDriver(
  pace: Pace,
  ...turns: readonly (readonly ScenarioStep[])[]
): InferenceDriver {
  const driver = followingDriver(...turns);
  return {
    name: 'paced',
    infer: (request, options) => driver.infer(request, options),
    async *stream(request, options): AsyncIterable<InferenceChunk> {
      for await (const chunk of driver.stream?.(request, options) ?? []) {
        if (chunk.type === 'content') await pace.beforePiece(chunk.text);
        yield chunk;
      }
    },
  };
}

/** Checks every chunk with the AI SDK schema. */
export async function isValid(chunks: readonly unknown[]): Promise<void> {
  const schema = uiMessageChunkSchema();
  for (const chunk of chunks) {
    const result = await schema.validate?.(JSON.parse(JSON.stringify(chunk)));
    expect({ chunk, ...result }).toMatchObject({ success: true });
  }
}

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of stream) list.push(one);
  return list;
}

/** Returns the final message of a client and its errors. */
export async function readBy(
  chunks: readonly UiMessageChunk[],
  message?: OnwardUIMessage,
): Promise<{ readonly message: OnwardUIMessage; readonly errors: readonly string[] }> {
  await isValid(chunks);
  const errors: string[] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  const states = await all(
    readUIMessageStream<OnwardUIMessage>({
      stream,
      ...(message && { message }),
      onError: (error) => errors.push((error as Error).message),
    }),
  );
  const last = states.at(-1);
  if (!last) throw new Error('the client has read no message');
  return { message: last, errors };
}

/** Returns the chunks of a response after checking its headers, frames and end. */
export async function chunksIn(response: Response): Promise<UiMessageChunk[]> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data:'));
  expect(frames.at(-1)).toBe('data: [DONE]');
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)) as UiMessageChunk);
}

const URL = 'http://host/api/chat';

export const post = (body: unknown, headers: Record<string, string> = {}): Request =>
  new Request(URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export const follow = (chatId: string, headers: Record<string, string> = {}): Request =>
  new Request(`${URL}/${encodeURIComponent(chatId)}/stream`, { headers });

export const says = (text: string, id = 'user-msg-1'): object => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** Returns the parts without discarded ones, which have metadata. */
export const shown = (message: { readonly parts: readonly object[] } | undefined): unknown[] =>
  (message?.parts ?? []).flatMap((part) => {
    const plain = JSON.parse(JSON.stringify(part)) as Record<string, unknown>;
    const { providerMetadata, toolMetadata } = plain;
    return providerMetadata === undefined && toolMetadata === undefined ? [plain] : [];
  });
