import type { JsonObject } from '../json.ts';
import { errorCodes } from './refusal.ts';
import type { Field, Fields } from './fields.ts';
import type { Route } from './route.ts';
import { adminSchemas } from './schemas/admin-schemas.ts';
import { evalSchemas } from './schemas/eval-schemas.ts';
import { continuationSchemas } from './schemas/continuation-schemas.ts';
import { historySchemas } from './schemas/history-schemas.ts';
import { replaySchemas } from './schemas/replay-schemas.ts';
import { overviewSchemas } from './schemas/overview-schemas.ts';
import { payloadSchemas } from './schemas/payload-schemas.ts';
import { messageSchemas } from './schemas/message-schemas.ts';
import { sessionSchemas } from './schemas/session-schemas.ts';
import { object, oneOfTexts, record, ref, text } from './schemas/shapes.ts';
import { version } from './version.ts';

const ids: Readonly<Record<string, string>> = {
  id: 'the id of one of your sessions',
  callId: 'the id of a call that needs approval',
};

/** Errors of any request, in addition to those of its handler. */
const problems: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or a value is not valid.',
  401: 'The request is not signed in.',
  403: 'A page of another site requested a change, or the owner hook refuses.',
  404: 'The session does not exist, or it belongs to another owner.',
  409: 'The status of the session does not allow this request: it is busy, needs approval, or has ended.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The answer does not match the call, which still needs approval.',
  429: 'Too many requests or streams: `retry-after` says when to retry.',
  500: 'A server error, without details; `x-request-id` identifies it in the log.',
  503: 'The server is overloaded or about to restart: `retry-after` says when to retry.',
};

/** Creates the OpenAPI document of a route table. */
export function openapiOf(
  routes: readonly Route[],
  { title, basePath }: { readonly title: string; readonly basePath: string },
): JsonObject {
  const hasAdmin = routes.some(({ isAdmin }) => isAdmin);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: { title, version, description: 'Sessions of agents: messages, live updates, traces.' },
    servers: [{ url: basePath || '/' }],
    security: [{ signIn: [] }],
    paths,
    components: {
      securitySchemes: {
        signIn: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Credentials for the owner hook of the server; `onward dev` expects its token.',
        },
        ...(hasAdmin && { operator: operatorScheme }),
      },
      schemas: {
        ...sessionSchemas,
        ...continuationSchemas,
        ...historySchemas,
        ...replaySchemas,
        ...overviewSchemas,
        ...payloadSchemas,
        ...messageSchemas,
        ...(hasAdmin && adminSchemas),
        ...(routes.some(({ path }) => path === '/admin/evals') && evalSchemas),
        ApiError: object({
          error: object({ code: oneOfTexts(errorCodes), message: text }, { details: record }),
        }),
      },
    },
  };
}

const operatorScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'Credentials for the admin hook of the server; `onward dev` expects its token.',
};

function operationOf(route: Route): JsonObject {
  const { name, summary, isOpen, isAdmin, answer } = route;
  const { status, about, schema, contentType = 'application/json' } = answer;
  const body = bodyOf(route);
  const errors = problemsOf(route).map((code) => [
    code,
    { description: problemOf(code, isAdmin), content: json(ref('ApiError')) },
  ]);
  return {
    operationId: name,
    summary,
    ...(isOpen && { security: [] }),
    ...(isAdmin && { security: [{ operator: [] }] }),
    parameters: parametersOf(route),
    ...(body && { requestBody: body }),
    responses: {
      [status]: {
        description: about,
        ...(status === 201 && {
          headers: { location: { description: 'URL of the new session.', schema: text } },
        }),
        ...(schema && { content: { [contentType]: { schema } } }),
      },
      ...(Object.fromEntries(errors) as JsonObject),
    },
  };
}

const problemOf = (code: number, isAdmin: boolean = false): string =>
  isAdmin && code === 403
    ? 'A page of another site requested a change, or the admin hook refuses.'
    : (problems[code] ?? '');

/** Sorted by status. */
function problemsOf(route: Route): number[] {
  const { method, path, isOpen, isAdmin, query, body, bodyTypes, isOfSession } = route;
  const takesBody = body !== undefined || bodyTypes !== undefined;
  const isAsking = method === 'GET';
  const codes = [
    ...(query || takesBody || path.includes('{') ? [400] : []),
    ...(isOpen ? [] : [429, 503]),
    ...(isOpen || isAdmin ? [] : [401]),
    ...(isAsking && !isAdmin ? [] : [403]),
    ...(path.includes('{id}') || isOfSession ? [404] : []),
    ...(takesBody ? [409, 413, 415] : []),
    ...(path.includes('{callId}') ? [422] : []),
    500,
  ];
  return codes.toSorted((a, b) => a - b);
}

function parametersOf({ path, query = {}, headers = {} }: Route): JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: ids[name] ?? '',
    schema: text,
  }));
  const outside = (where: string, fields: Fields): JsonObject[] =>
    Object.entries(fields).map(([name, { schema, expected, isRequired = false }]) => ({
      name,
      in: where,
      required: isRequired,
      description: expected,
      schema,
    }));
  return [...inPath, ...outside('query', query), ...outside('header', headers)];
}

function bodyOf({ body, bodyRules, bodyTypes = [] }: Route): JsonObject | null {
  if (!body) return null;
  const fields: readonly (readonly [string, Field])[] = Object.entries(body);
  const required = fields.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  const schema: JsonObject = {
    ...bodyRules,
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, { description: field.expected, ...field.schema }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  const content = { ...json(schema) };
  return {
    required: required.length > 0,
    content: {
      ...content,
      ...Object.fromEntries(bodyTypes.map((type) => [type, { schema }])),
    },
  };
}

const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
