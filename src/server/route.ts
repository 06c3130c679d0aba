import type { JsonSchema } from '../tools/schema.ts';
import type { Field, Fields, FieldsOf, Rules } from './fields.ts';

/** A request that may be carried out: who asks is known, and all values were checked. */
export interface Call<Query = unknown, Body = unknown> {
  readonly request: Request;
  /** Empty on a route that is open to all. */
  readonly owner: string;
  /** Of the path; empty where it has none. */
  readonly id: string;
  readonly callId: string;
  readonly query: Query;
  readonly body: Body;
}

export interface RouteAnswer {
  /** With 201 the answer has an `id`, and `location` names the new session. */
  readonly status: 200 | 201 | 202 | 204;
  readonly about: string;
  /** Null where there is no JSON. */
  readonly schema: JsonSchema | null;
  /** Default application/json. */
  readonly contentType?: string;
}

interface RouteOf<Query, Body> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base path; `{id}` and `{callId}` stand for one segment each. */
  readonly path: string;
  /** As the document calls it, such as `sendMessage`. */
  readonly name: string;
  readonly summary: string;
  /** Whether the route works without sign-in. */
  readonly isOpen?: true;
  readonly query?: FieldsOf<Query>;
  /** The fields of a JSON body. */
  readonly body?: FieldsOf<Body>;
  /** What no single field can tell; its description says it to people. */
  readonly bodyRules?: Rules;
  /** The handler reads the body itself, in these types as well. */
  readonly bodyTypes?: readonly string[];
  /** Headers that it reads. */
  readonly headers?: Readonly<Record<string, Field>>;
  readonly answer: RouteAnswer;
  /** Answers with what the schema says, or with a response of its own. */
  handle(call: Call<Query, Body>): unknown;
}

/** One line of the route table: the matching, the checks and the OpenAPI document are made from it. */
export interface Route extends Omit<RouteOf<never, never>, 'query' | 'body' | 'handle'> {
  readonly query?: Fields;
  readonly body?: Fields;
  handle(call: Call): unknown;
}

/** Types what the handler reads by what the fields say. */
export const route = <Query = object, Body = object>(definition: RouteOf<Query, Body>): Route =>
  definition;
