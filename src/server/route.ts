import type { JsonSchema } from '../tools/schema.ts';
import type { Field, Fields, FieldsOf, Rules } from './fields.ts';

/** A request that may be handled: the owner is known, and all values are checked. */
export interface Call<Query = unknown, Body = unknown> {
  readonly request: Request;
  /** Owner; empty on a public route and on one for operators. */
  readonly owner: string;
  /** Operator; empty on any other route. */
  readonly by: string;
  /** Values of the path; empty if it has none. */
  readonly id: string;
  readonly callId: string;
  readonly query: Query;
  readonly body: Body;
}

export interface RouteAnswer {
  /** Status; with 201 the response has an `id`, and `location` names the new session. */
  readonly status: 200 | 201 | 202 | 204;
  readonly about: string;
  /** Schema of the response; null if there is no JSON. */
  readonly schema: JsonSchema | null;
  /** Content type. Default application/json. */
  readonly contentType?: string;
}

interface RouteOf<Query, Body> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the base path; `{id}` and `{callId}` each match one segment. */
  readonly path: string;
  /** Operation id in the document, such as `sendMessage`. */
  readonly name: string;
  readonly summary: string;
  /** Whether the route works without sign-in. */
  readonly isOpen?: true;
  /** Whether the route is for operators, across all owners, instead of an owner. */
  readonly isAdmin?: true;
  /** Whether the body names a session, so that it may not be found. */
  readonly isOfSession?: true;
  readonly query?: FieldsOf<Query>;
  /** Whether the body may hold the images and files of a message, up to `maxMessageBytes`. */
  readonly takesFiles?: true;
  /** Fields of a JSON body. */
  readonly body?: FieldsOf<Body>;
  /** Rules over several fields; their descriptions are part of the document. */
  readonly bodyRules?: Rules;
  /** Content types of a body that the handler reads itself. */
  readonly bodyTypes?: readonly string[];
  /** Headers that it reads. */
  readonly headers?: Readonly<Record<string, Field>>;
  readonly answer: RouteAnswer;
  /** Returns the body that the schema describes, or a response. */
  handle(call: Call<Query, Body>): unknown;
}

/** One entry of the route table: matching, checks and the OpenAPI document derive from it. */
export interface Route extends Omit<RouteOf<never, never>, 'query' | 'body' | 'handle'> {
  readonly query?: Fields;
  readonly body?: Fields;
  handle(call: Call): unknown;
}

/** Infers the types that a handler reads from its fields. */
export const route = <Query = object, Body = object>(definition: RouteOf<Query, Body>): Route =>
  definition;
