import { uuid } from '../ids.ts';
import type { RefusalAnswer } from './refusal.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** Headers of every response. `nosniff`: text of a model stays JSON, whatever it contains. */
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const json = { 'content-type': 'application/json; charset=utf-8' };
const REQUEST_ID = /^[\w.-]{8,64}$/;

/** Returns the id that a proxy has set, if a header can carry it. */
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

/** Whether a value has the shape of a response: adapters use their own classes. */
export const isResponse = (value: unknown): value is Response =>
  value instanceof Response ||
  (typeof value === 'object' &&
    value !== null &&
    'headers' in value &&
    'bodyUsed' in value &&
    'status' in value);

/** Adds the headers of every response to one from elsewhere; its own headers win. */
export function withHeaders(response: Response, more: HeaderRecord): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries({ ...always, ...more }))
    if (name === 'vary') headers.append(name, value);
    else if (name === 'x-request-id' || !headers.has(name)) headers.set(name, value);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
