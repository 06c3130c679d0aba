import { messageOf } from '../errors/error-record.ts';
import type { ErrorType } from '../errors/error-type.ts';
import { sentence } from '../sentence.ts';
import { ToolFailure } from '../tools/tool-failure.ts';

/** Codes of failed MCP calls. */
export type McpFailureCode =
  /** The server answered that the call failed. */
  | 'mcp_tool_error'
  /** The server refused the request. */
  | 'mcp_refused'
  /** The server was not reached, so the call was not run. */
  | 'mcp_unreachable'
  /** The server does not accept the credentials of the owner. */
  | 'mcp_unauthorized'
  /** The server asks for input that cannot be given. */
  | 'input_required'
  /** The connection was lost before the result came. */
  | 'effect_unknown';

export const mcpFailure = (code: McpFailureCode, message: string, cause?: unknown): ToolFailure => {
  const type: ErrorType = code === 'effect_unknown' ? 'unknown' : 'tool';
  return new ToolFailure({ type, code, message }, cause === undefined ? {} : { cause });
};

export const unreachable = (what: string, server: string, reason: string): ToolFailure =>
  mcpFailure('mcp_unreachable', `${what} was not run: ${server} cannot be reached (${reason}).`);

export const unauthorized = (what: string, server: string, reason: string): ToolFailure =>
  mcpFailure(
    'mcp_unauthorized',
    `${what} was not run: ${server} does not accept the credentials (${reason}).`,
  );

export const unreadable = (what: string, reason: string): ToolFailure =>
  mcpFailure(
    'mcp_tool_error',
    `The answer to ${what} cannot be read, and it may have taken effect: ${sentence(reason)}`,
  );

export const effectUnknown = (what: string, reason: string): ToolFailure =>
  mcpFailure(
    'effect_unknown',
    `The connection was lost while ${what} ran (${reason}): whether it took effect is unknown. ` +
      'It was not run again. Find out before you repeat it.',
  );

/** Returns the text of an error with that of its innermost cause: `fetch failed` alone says nothing. */
export function causeText(error: unknown): string {
  let text = messageOf(error);
  for (let at = (error as { cause?: unknown } | null)?.cause, depth = 0; at && depth < 5; depth++) {
    const { code } = at as { readonly code?: unknown };
    const inner = messageOf(at) || (typeof code === 'string' ? code : '');
    if (inner !== '' && !text.includes(inner)) text += `: ${inner}`;
    at = (at as { cause?: unknown }).cause;
  }
  return text;
}

/** What an error of the client package says about a request. */
export type RequestFate =
  /** It never reached a server that could run it. */
  | 'not_sent'
  /** It was refused by a server that does not know the session any more. */
  | 'stale'
  | 'unauthorized'
  /** The server answered with an error. */
  | 'answered'
  /** The server answered with something else than a result. */
  | 'invalid'
  /** Unknown. */
  | 'ambiguous';

interface ErrorLike {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly data?: { readonly status?: unknown };
  readonly cause?: unknown;
}

/** Codes of sockets and of the resolver for a connection that was never made. */
const neverConnected: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Code of the JSON-RPC error for an answer that did not come. */
export const LOST_ANSWER = -32_099;

/** Reads the fate of a request from the error. `hasSession` says whether the server had given the client a session. */
export function requestFate(error: unknown, hasSession: boolean): RequestFate {
  const { name, code, status, data, cause } = (error ?? {}) as ErrorLike;
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE') return 'invalid';
  if (code === 'NOT_CONNECTED' || code === 'ALREADY_CONNECTED') return 'not_sent';
  const http = typeof status === 'number' ? status : data?.status;
  if (name === 'UnauthorizedError' || name === 'InsufficientScopeError') return 'unauthorized';
  if (http === 401 || http === 403 || code === 'CLIENT_HTTP_AUTHENTICATION') return 'unauthorized';
  if (hasSession && (http === 404 || http === 400)) return 'stale';
  // any other 4xx: refused before it ran
  if (typeof http === 'number' && http >= 400 && http < 500 && http !== 408) return 'answered';
  if (name === 'ProtocolError') return code === LOST_ANSWER ? 'ambiguous' : 'answered';
  for (let at = cause, depth = 0; at && depth < 5; depth++) {
    const { code: inner, cause: deeper, errors } = at as ErrorLike & { readonly errors?: unknown };
    if (neverConnected.has(inner)) return 'not_sent';
    const tried: readonly unknown[] = Array.isArray(errors) ? errors : [];
    if (tried.length > 0 && tried.every((one) => neverConnected.has((one as ErrorLike).code)))
      return 'not_sent';
    at = deeper;
  }
  return 'ambiguous';
}
