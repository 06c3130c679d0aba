import { defineTool, type SessionRuntime, type SessionRuntimeOptions, type Tool } from 'onward';
import { agUiServer, type AgUiServer } from 'onward/ag-ui';
import type { EvalReports } from 'onward/evals';
import { mcpServer, type AgentMcpServer } from 'onward/mcp/server';
import { agentServer, type AgentServer, type AgentServerOptions } from 'onward/server';
import { ScenarioStep } from 'onward/testing';
import { expect, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { JsonObject } from '../../src/json.ts';
import { readySchema, type ReadySchema } from '../../src/tools/schema.ts';
import { builderWith, followingDriver, runtimeOn, sqlitePlace } from '../setup/sessions.ts';

const { final, toolCall, toolCalls } = ScenarioStep;

/** Returns the user of the token; `Bearer dan` is not signed in. */
const people = new Set(['ann', 'bob']);
export const owner = (request: Request): string | null => {
  const name = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  return people.has(name) ? name : null;
};

/** `Bearer root` is an operator, and no owner. */
export const operator = (request: Request): { by: string } | null =>
  request.headers.get('authorization') === 'Bearer root' ? { by: 'root' } : null;

const look: Tool = defineTool({
  name: 'look',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { article: { type: 'string' } } },
  execute: ({ article }) => ({ article, pieces: 7 }),
});
const remove: Tool = defineTool({
  name: 'remove',
  description: 'Removes an article.',
  parameters: {
    type: 'object',
    properties: { article: { type: 'string' } },
    required: ['article'],
    additionalProperties: false,
  },
  needsApproval: true,
  execute: ({ article }) => `removed ${JSON.stringify(article)}`,
});

/** The first turn calls `look`, then `remove` twice; the second is a plain answer. */
const turns: readonly (readonly ScenarioStep[])[] = [
  [
    toolCall('look', { article: 'lamp' }, 'Let me look.'),
    toolCalls([
      { name: 'remove', args: { article: 'lamp' } },
      { name: 'remove', args: { article: 'shade' } },
    ]),
    final('All done.'),
  ],
  [final('And again.')],
  [final('A third time.')],
];
/** Calls that need approval after the first turn. */
export const calls = ['t0s1c0', 't0s1c1'] as const;

/** For servers whose OpenAPI document alone is read. */
export const unusedMcp: AgentMcpServer = {
  fetch: () => Promise.reject(new Error('not used')),
  stdio: () => Promise.reject(new Error('not used')),
  close: () => Promise.resolve(),
};

export const unusedAgUi: AgUiServer = { fetch: () => Promise.reject(new Error('not used')) };

export const unusedEvals: EvalReports = {
  list: () => Promise.reject(new Error('not used')),
  read: () => Promise.reject(new Error('not used')),
  latest: () => Promise.reject(new Error('not used')),
  save: () => Promise.reject(new Error('not used')),
};

export interface Setup {
  readonly runtime: SessionRuntime;
  readonly server: AgentServer;
  readonly errors: unknown[];
  readonly ask: Ask;
}

export interface SetupOptions extends Partial<Omit<AgentServerOptions, 'runtime'>> {
  readonly turns?: readonly (readonly ScenarioStep[])[];
  readonly maxSteps?: number;
  /** Clock of the agent; `clock` is the one of the server. */
  readonly agentClock?: Clock;
  readonly sessions?: Partial<SessionRuntimeOptions>;
}

/** Creates a server on SQLite. The test fails on an unexpected error. */
export function setup({
  turns: script = turns,
  maxSteps = 20,
  agentClock = systemClock,
  sessions = {},
  ...options
}: SetupOptions = {}): Setup {
  const agent = builderWith(followingDriver(...script), look, remove)
    .withMaxSteps(maxSteps)
    .withClock(agentClock)
    .build();
  const runtime = runtimeOn(sqlitePlace().open(), agent, sessions);
  const errors: unknown[] = [];
  const server = agentServer({
    runtime,
    owner,
    agents: [agent],
    name: 'test',
    store: 'SQLite',
    rateLimit: null,
    mcp: mcpServer({ runtime }),
    agUi: agUiServer({ runtime }),
    payloads: true,
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await server.close();
    if (!options.onError) expect(errors.splice(0)).toEqual([]);
  });
  return { runtime, server, errors, ask: asking(server) };
}

export interface AskOptions {
  readonly as?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON, without a type. */
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any -- the schema has checked it
}

export type Ask = (line: string, options?: AskOptions) => Promise<Answer>;

export const host = 'http://localhost';

export function requestFor(line: string, options: AskOptions = {}): Request {
  const [method = '', path = ''] = line.split(' ');
  const { as = 'ann', body, headers } = options;
  const isRaw = typeof body === 'string';
  return new Request(`${host}${path}`, {
    method,
    headers: {
      ...(as !== null && { authorization: `Bearer ${as}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
}

/** Returns a function that sends requests and checks every response against the OpenAPI document. */
export function asking(server: AgentServer): Ask {
  const check = documentCheck(server.openapi);
  return async (line, options) => {
    const request = requestFor(line, options);
    const response = await server(request);
    const { status, headers } = response;
    expect(headers.get('x-request-id')).toMatch(/^[\w.-]{8,64}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toContain('no-store');
    const text = await response.text();
    const isJson =
      text !== '' && (headers.get('content-type') ?? '').startsWith('application/json');
    const body: unknown = isJson ? JSON.parse(text) : null;
    await check(request, status, isJson ? body : undefined);
    return { status, headers, text, body };
  };
}

export interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonObject }>> }>
  >;
}

export const operations = ({
  openapi,
}: AgentServer): { method: string; path: string; operation: Operation }[] =>
  Object.entries(openapi['paths'] as unknown as Record<string, Record<string, Operation>>).flatMap(
    // checked by the tests of the document
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
  );

/** Checks that the document describes the status and every field of a response. */
function documentCheck(
  openapi: JsonObject,
): (request: Request, status: number, body: unknown) => Promise<void> {
  const all = operations({ openapi } as AgentServer).map(({ method, path, operation }) => ({
    method,
    operation,
    pattern: new RegExp(`^/api${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const ready = new Map<string, ReadySchema>();
  const readied = (schema: JsonObject): ReadySchema => {
    const key = JSON.stringify(schema);
    const known = ready.get(key);
    if (known) return known;
    const whole = closed({ ...schema, components: openapi['components'] }) as JsonObject;
    const made = readySchema('answer', whole);
    ready.set(key, made);
    return made;
  };
  return async (request, status, body) => {
    const { pathname } = new URL(request.url);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = all.find((one) => one.method === method && one.pattern.test(pathname));
    const said = found?.operation.responses[String(status)];
    if (found && request.method !== 'OPTIONS' && status !== 404)
      expect(Object.keys(found.operation.responses), `${method} ${pathname}`).toContain(
        String(status),
      );
    if (body === undefined) return;
    const schema = said?.content?.['application/json']?.schema ?? {
      $ref: '#/components/schemas/ApiError',
    };
    const checked = await readied(schema).check(body);
    expect(checked, `${method} ${pathname} ${status} ${JSON.stringify(body)}`).toMatchObject({
      ok: true,
    });
  };
}

/** Forbids unnamed properties in a schema. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)] as const);
  const copy = Object.fromEntries(entries) as Record<string, unknown>;
  if ('properties' in copy && copy['type'] === 'object') copy['additionalProperties'] ??= false;
  return copy;
}

/** Creates a session of ann with two pending approvals. */
export async function waitingSession({ runtime, ask }: Setup, id = 's'): Promise<string> {
  const made = await ask('POST /api/sessions', { body: { id, message: 'Remove the lamp.' } });
  expect(made.status).toBe(201);
  await runtime.wait(id, { owner: 'ann' });
  return id;
}
