import { AgentError } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { isRecord } from '../../json.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { providerError } from './provider-error.ts';

/** Whatever the SDK or the network threw, as one record; our own record is found inside the SDK's wrapping. */
export function connectionError(
  thrown: unknown,
  now: number,
  partial: PartialAnswer = {},
): unknown {
  for (let error: unknown = thrown, depth = 0; error && depth < 5; depth++) {
    if (AgentError.is(error)) return error;
    if (isAbort(error)) return thrown;
    if (hasStatus(error))
      return modelCallFailed(
        providerError(error.status, headersOf(error), bodyOf(error), now),
        partial,
        { cause: thrown },
      );
    error = (error as { cause?: unknown }).cause;
  }
  const message = rootMessage(thrown);
  return modelCallFailed(
    {
      type: 'timeout',
      code: 'connection_failed',
      message: `The connection to the model failed: ${message}`,
    },
    partial,
    { cause: thrown },
  );
}

const isAbort = (error: unknown): boolean =>
  isRecord(error) && (error['name'] === 'AbortError' || error['name'] === 'APIUserAbortError');

const hasStatus = (
  error: unknown,
): error is { readonly status: number } & Record<string, unknown> =>
  isRecord(error) && typeof error['status'] === 'number';

function headersOf(error: Record<string, unknown>): Record<string, string> {
  const { headers } = error;
  if (headers instanceof Headers) return Object.fromEntries(headers.entries());
  return isRecord(headers)
    ? Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), String(v)]))
    : {};
}

const bodyOf = (error: Record<string, unknown>): string =>
  error['error'] === undefined
    ? JSON.stringify({ message: error['message'] })
    : JSON.stringify({ error: error['error'] });

/** The innermost message says most: "ECONNREFUSED" rather than "fetch failed". */
function rootMessage(thrown: unknown): string {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && isRecord(error) && error['cause']; depth++)
    error = error['cause'];
  return messageOf(error);
}
