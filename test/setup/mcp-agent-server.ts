import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionRuntime } from 'onward';
import { mcpServer, type AgentMcpServerOptions } from 'onward/mcp/server';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { expect, onTestFinished } from 'vitest';
import { mcpAgents } from './mcp-agents.ts';
import { httpClient, type ClientOptions, type Generation } from './mcp-clients.ts';
import { runtimeOn, sqlitePlace } from './sessions.ts';

const tokens: Readonly<Record<string, string>> = { 'token-a': 'ann', 'token-b': 'bob' };
export const generations: readonly Generation[] = ['modern', 'legacy'];

export interface AgentServerSetup {
  readonly runtime: SessionRuntime;
  readonly url: string;
  readonly errors: unknown[];
  effects(): readonly string[];
  client(owner: 'a' | 'b', options?: ClientOptions): ReturnType<typeof httpClient>;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** Our HTTP server on a port, with agents behind `POST /api/mcp`. */
export async function agentsOverHttp(
  options: Partial<AgentMcpServerOptions> = {},
): Promise<AgentServerSetup> {
  const place = sqlitePlace();
  const effects = join(place.folder, 'effects');
  writeFileSync(effects, '');
  const runtime = runtimeOn(place.open(), mcpAgents(effects));
  const errors: unknown[] = [];
  const handler = mcpServer({ runtime, onError: (error) => errors.push(error), ...options });
  const server = agentServer({
    runtime,
    owner: ({ headers }) => tokens[headers.get('authorization')?.slice(7) ?? ''] ?? null,
    rateLimit: null,
    mcp: handler,
    onError: (error) => errors.push(error),
  });
  const running = await serve({ fetch: server, port: 0 });
  const close = async (): Promise<void> => {
    await server.close();
    await running.close({ graceMs: 0 });
  };
  onTestFinished(async () => {
    await close();
    expect(errors.splice(0)).toEqual([]);
  });
  const url = `${running.url}/api/mcp`;
  return {
    runtime,
    url,
    errors,
    effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean),
    client: (owner, more) => httpClient(url, `token-${owner}`, more),
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          authorization: 'Bearer token-a',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    close,
  };
}

export const ofAnn: { readonly owner: string } = { owner: 'ann' };

/** A message that leads to a call that needs approval. */
export const remove = { message: 'call remove {"article":"lamp"}' };
