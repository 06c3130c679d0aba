import { httpStatuses } from '../broadcasting/sse/sse-request.ts';
import { AgentError } from '../errors/agent-error.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { toJsonValue, type JsonObject } from '../json.ts';

/** Codes that the server itself refuses with, and their statuses. */
const ownStatuses = {
  invalid_json: 400,
  invalid_request: 400,
  unauthorized: 401,
  cross_site: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_streams: 429,
  internal: 500,
} as const;
export type ApiErrorCode = keyof typeof ownStatuses;

/** Every `code` that a client can get, for the OpenAPI document. */
export const errorCodes: readonly string[] = [
  ...Object.keys(ownStatuses),
  ...Object.keys(httpStatuses),
];

type HeaderRecord = Readonly<Record<string, string>>;

/** A refused request, with a message for the client. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly code: ApiErrorCode;
  readonly details: JsonObject;
  readonly headers: HeaderRecord;

  constructor(
    code: ApiErrorCode,
    message: string,
    options: { readonly details?: JsonObject; readonly headers?: HeaderRecord } = {},
  ) {
    // it may quote the request
    super(defaultRedactor.text(message));
    this.code = code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** An error as the client gets it. */
export interface RefusalAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: JsonObject;
  readonly headers: HeaderRecord;
}

/** `fault` marks errors that no client can cause: an operator should check them. */
export function refusalAnswer(error: unknown, fault: () => ApiRefusal): RefusalAnswer {
  if (error instanceof ApiRefusal) {
    const { code, message, headers } = error;
    return { status: ownStatuses[code], code, message, details: safeDetails(error), headers };
  }
  const status = AgentError.is(error) ? httpStatuses[error.code] : undefined;
  if (!AgentError.is(error) || status === undefined) return refusalAnswer(fault(), fault);
  const { code } = error;
  // why the store or the queue fails is not for clients
  if (status === 503)
    return {
      status,
      code,
      message: 'Try again soon.',
      details: {},
      headers: { 'retry-after': '2' },
    };
  return { status, code, message: error.message, details: safeDetails(error), headers: {} };
}

/** Everything that a client learns about a server error. */
export const internalFault = (requestId: string): ApiRefusal =>
  new ApiRefusal(
    'internal',
    'Something went wrong on the server. Give its operator the request id.',
    { details: { requestId } },
  );

function safeDetails({ details }: AgentError | ApiRefusal): JsonObject {
  try {
    return defaultRedactor.value(toJsonValue(details)) as JsonObject; // a record stays a record
  } catch {
    return {}; // JSON has no such values
  }
}
