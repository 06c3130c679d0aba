import { AgentError } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { isRecord } from '../../json.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { providerError } from './provider-error.ts';
import { headerMap } from './retry-after.ts';

/** Converts an error of the SDK or the network to one error; the SDK may wrap an `AgentError`. */
export function connectionError(
  thrown: unknown,
  now: number,
  partial: PartialAnswer = {},
): AgentError {
  for (let error: unknown = thrown, depth = 0; isRecord(error) && depth < 5; depth++) {
    if (AgentError.is(error)) return error;
    if (typeof error['status'] === 'number')
      return modelCallFailed(
        providerError(error['status'], headerMap(error['headers']), bodyOf(error), now),
        partial,
      );
    error = error['cause'];
  }
  // the engine refuses values that are nested too deeply or texts that are too long; networks have no such error
  if (thrown instanceof RangeError)
    return modelCallFailed(
      {
        type: 'validation',
        code: 'unreadable_body',
        message: `The provider's answer cannot be read: it is too large or nested too deeply (${thrown.message}).`,
      },
      partial,
    );
  return modelCallFailed(
    {
      type: 'timeout',
      code: 'connection_failed',
      message: `The connection to the model failed: ${rootMessage(thrown)}`,
    },
    partial,
    { cause: thrown },
  );
}

const bodyOf = (error: Record<string, unknown>): string =>
  JSON.stringify({ error: error['error'] ?? { message: error['message'] } });

/** Returns the innermost message, which is the most specific: "connect ECONNREFUSED" rather than "fetch failed". */
function rootMessage(thrown: unknown): string {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && isRecord(error); depth++) {
    const { cause, errors } = error;
    const inner: unknown = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
    if (!inner) break;
    error = inner;
  }
  return messageOf(error);
}
