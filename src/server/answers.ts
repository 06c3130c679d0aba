import { uuid } from '../ids.ts';
import type { RefusalAnswer } from './refusal.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** On every answer. `nosniff`: what a model wrote stays JSON, whatever it looks like. */
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const json = { 'content-type': 'application/json; charset=utf-8' };
const REQUEST_ID = /^[\w.-]{8,64}$/;

/** As a proxy has named it, where that can go into a header. */
export function requestIdOf({ headers }: Request): string {
  const given = headers.get('x-request-id');
  return given !== null && REQUEST_ID.test(given) ? given : uuid();
}

export const jsonAnswer = (status: number, body: unknown, headers: HeaderRecord): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...always, ...json, ...headers } });

export const emptyAnswer = (status: number, headers: HeaderRecord): Response =>
  new Response(null, { status, headers: { ...always, ...headers } });

export function refusalResponse(refusal: RefusalAnswer, headers: HeaderRecord): Response {
  const { status, code, message, details } = refusal;
  const error = { code, message, ...(Object.keys(details).length > 0 && { details }) };
  return jsonAnswer(status, { error }, { ...headers, ...refusal.headers });
}

/** By its looks: adapters bring classes of their own. */
export const isResponse = (value: unknown): value is Response =>
  value instanceof Response ||
  (typeof value === 'object' &&
    value !== null &&
    'headers' in value &&
    'bodyUsed' in value &&
    'status' in value);

/** A response that others made, with what every answer of this server has; its own headers win. */
export function dressed(response: Response, more: HeaderRecord): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries({ ...always, ...more }))
    if (name === 'vary') headers.append(name, value);
    else if (name === 'x-request-id' || !headers.has(name)) headers.set(name, value);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
