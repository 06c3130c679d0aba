import { describe, expect, it } from 'vitest';
import type { SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { isRecord, type JsonObject } from '../../src/json.ts';
import { readySchema } from '../../src/tools/schema.ts';
import { operations, unusedAgUi, unusedEvals, unusedMcp } from './setup.ts';

const silent = { wiretap: () => () => {} } as unknown as SessionRuntime; // only the OpenAPI document is read
const server = agentServer({
  runtime: silent,
  owner: () => null,
  pusher: { key: 'app', secret: 'shh-this-is-secret' },
  mcp: unusedMcp,
  agUi: unusedAgUi,
  admin: () => null,
  evals: unusedEvals,
});
const { openapi } = server;
const routes = operations(server);

/** Yields every object of the document with its path. */
function* nodes(value: unknown, place = '#'): Generator<[string, Record<string, unknown>]> {
  if (Array.isArray(value))
    for (const [i, one] of value.entries()) yield* nodes(one, `${place}/${i}`);
  if (!isRecord(value)) return;
  yield [place, value];
  for (const [key, inner] of Object.entries(value)) yield* nodes(inner, `${place}/${key}`);
}

const at = (ref: string): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), openapi);

const { schemas } = openapi['components'] as { schemas: Record<string, JsonObject> };
const all = [...nodes(openapi)];

describe('the OpenAPI document', () => {
  it('describes hidden parts, hash and execution of a pending approval', () => {
    const { properties } = schemas['PendingApproval'] as { properties: JsonObject };
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(['hidden', 'argsHash', 'executionId']),
    );
  });

  it('has all routes', () => {
    const lines = routes.map(
      ({ method, path, operation }) => `${method} ${path}: ${operation.operationId}`,
    );
    expect(lines).toMatchInlineSnapshot(`
      [
        "GET /health: health",
        "GET /openapi.json: openapi",
        "GET /info: info",
        "GET /sessions: listSessions",
        "POST /sessions: createSession",
        "GET /sessions/{id}: getSession",
        "DELETE /sessions/{id}: deleteSession",
        "POST /sessions/{id}/messages: sendMessage",
        "GET /sessions/{id}/messages: readMessages",
        "GET /attention: countAttention",
        "GET /overview: readOverview",
        "POST /bulk: changeSessions",
        "GET /sessions/{id}/compactions: readCompactions",
        "GET /sessions/{id}/log: readLog",
        "GET /sessions/{id}/refs: readRef",
        "GET /sessions/{id}/trace: readTrace",
        "GET /sessions/{id}/replay: replaySession",
        "GET /replays: replaySessions",
        "GET /sessions/{id}/export: exportSession",
        "GET /sessions/{id}/model-call: readModelCall",
        "GET /sessions/{id}/tool-calls: readToolCalls",
        "GET /sessions/{id}/payload: readPayload",
        "GET /compare: compareRuns",
        "GET /sessions/{id}/events: streamEvents",
        "POST /sessions/{id}/approvals/{callId}: answerApproval",
        "POST /sessions/{id}/approvals: approveAll",
        "GET /sessions/{id}/rules: listRules",
        "POST /sessions/{id}/rules/revoke: revokeRule",
        "POST /sessions/{id}/inputs: answerInput",
        "POST /sessions/{id}/stop: stopSession",
        "POST /sessions/{id}/pause: pauseSession",
        "POST /sessions/{id}/resume: resumeSession",
        "POST /sessions/{id}/retry: retrySession",
        "POST /sessions/{id}/fork: forkSession",
        "POST /pusher/auth: authorisePusher",
        "POST /mcp: mcp",
        "POST /ag-ui: agUi",
        "GET /admin/workers: listWorkers",
        "GET /admin/queue: readQueue",
        "GET /admin/parked: listParked",
        "GET /admin/sessions: listAllSessions",
        "GET /admin/attention: countAllAttention",
        "GET /admin/overview: readWholeOverview",
        "POST /admin/bulk: changeAllSessions",
        "POST /admin/parked/retry: retryParked",
        "GET /admin/evals: listEvals",
        "GET /admin/evals/report: readEvalReport",
      ]
    `);
  });

  it('is OpenAPI 3.1 as plain JSON', () => {
    expect(openapi['openapi']).toBe('3.1.0');
    expect(openapi['info']).toMatchObject({ title: 'onward', version: expect.any(String) });
    expect(openapi['servers']).toEqual([{ url: '/api' }]);
    expect(JSON.parse(JSON.stringify(openapi))).toEqual(openapi);
    for (const [name] of (openapi['security'] as object[]).flatMap((one) => Object.entries(one)))
      expect(at(`#/components/securitySchemes/${name}`)).toMatchObject({ type: 'http' });
  });

  it.each(routes.map((one) => [one.operation.operationId, one] as const))(
    'describes %s completely',
    (_name, { method, path, operation }) => {
      const { summary, responses, requestBody } = operation as unknown as JsonObject;
      expect(summary).toMatch(/^[A-Z].*\.$/);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters as readonly (JsonObject & { in: string })[];
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath);
      for (const one of parameters) {
        expect(['path', 'query', 'header']).toContain(one.in);
        expect(one).toMatchObject({
          name: expect.any(String),
          required: expect.any(Boolean),
          description: expect.stringMatching(/\S/),
          schema: expect.any(Object),
        });
        if (one.in === 'path') expect(one['required']).toBe(true);
      }
      const codes = Object.keys(responses as object);
      expect(codes.every((code) => /^[2-5]\d\d$/.test(code))).toBe(true);
      expect(codes.filter((code) => code.startsWith('2'))).toHaveLength(1);
      for (const response of Object.values(responses as Record<string, JsonObject>))
        expect(response['description']).toMatch(/\S/);
      if (method !== 'POST') return expect(requestBody).toBeUndefined();
      const { content } = requestBody as { content: Record<string, { schema: JsonObject }> };
      expect(content['application/json']!.schema).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
    },
  );

  it('resolves every ref and uses every schema', () => {
    const refs = all.flatMap(([place, node]) =>
      typeof node['$ref'] === 'string' ? [[place, node['$ref']] as const] : [],
    );
    expect(refs.length).toBeGreaterThan(20);
    for (const [place, ref] of refs) expect(at(ref), `${ref} in ${place}`).toBeDefined();
    const used = new Set(refs.map(([, ref]) => ref.split('/').at(-1)));
    expect(Object.keys(schemas).filter((name) => !used.has(name))).toEqual([]);
  });

  it('has only valid schemas, which refuse invalid values', async () => {
    for (const [name, schema] of Object.entries(schemas)) {
      const whole = { ...schema, components: openapi['components'] } as JsonObject;
      const ready = readySchema(name, whole);
      expect((await ready.check(Symbol.iterator.toString())).ok, name).toBe(false);
      for (const key of (schema['required'] ?? []) as string[])
        expect(Object.keys(schema['properties'] as object), name).toContain(key);
    }
    const kinds = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
    for (const [place, { type }] of all)
      if (typeof type === 'string' && !place.includes('securitySchemes'))
        expect(kinds).toContain(type);
  });

  it('lists the error codes', () => {
    const error = (schemas['ApiError']!['properties'] as JsonObject)['error'] as JsonObject;
    const { code } = error['properties'] as Record<string, { enum: string[] }>;
    expect(code!.enum).toEqual(
      expect.arrayContaining(['not_found', 'session_not_found', 'internal']),
    );
    expect(new Set(code!.enum).size).toBe(code!.enum.length);
  });
});
