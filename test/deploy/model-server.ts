import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

interface Body {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string }[];
}

/** What the model says after it has read the result of its tool, in these pieces. */
const pieces = ['Order 7 ', 'is ', 'shipped.'];
const call = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'find_order', arguments: '{"number":"7"}' },
};

/** A server with Chat Completions: it calls `find_order`, then answers in pieces. Returns its URL. */
export async function startModelServer(): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { stream = false, messages } = JSON.parse(text) as Body;
    const hasResult = messages.some(({ role }) => role === 'tool');
    if (stream) return answerInPieces(response, hasResult);
    const message = hasResult
      ? { content: pieces.join('') }
      : { content: null, tool_calls: [call] };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'x',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', ...message },
            finish_reason: reason(hasResult),
          },
        ],
        usage,
      }),
    );
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const reason = (hasResult: boolean): string => (hasResult ? 'stop' : 'tool_calls');

async function answerInPieces(response: ServerResponse, hasResult: boolean): Promise<void> {
  response.setHeader('content-type', 'text/event-stream');
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ id: 'x', choices })}\n\n`);
  };
  for (const delta of hasResult
    ? pieces.map((content) => ({ content }))
    : [{ tool_calls: [call] }]) {
    send({ role: 'assistant', ...delta });
    await rest(100);
  }
  send({}, reason(hasResult));
  response.end(`data: ${JSON.stringify({ id: 'x', choices: [], usage })}\n\ndata: [DONE]\n\n`);
}
