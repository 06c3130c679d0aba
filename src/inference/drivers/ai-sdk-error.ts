import { AgentError } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { isRecord } from '../../json.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { connectionError } from './connection-error.ts';
import { providerError } from './provider-error.ts';

/** Errors by name: an instance check would fail across copies of their packages. */
const unreadable = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);
const misconfigured = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError', 'AI_NoSuchModelError']);

/** What a provider package threw or put into its stream, as one record. */
export function aiSdkError(thrown: unknown, now: number, partial: PartialAnswer = {}): unknown {
  if (AgentError.is(thrown)) return thrown;
  if (!isRecord(thrown)) return inStream(String(thrown), now, partial, thrown);
  const name = String(thrown['name']);
  if (name === 'AI_APICallError') return refusal(thrown, now, partial);
  if (unreadable.has(name))
    return modelCallFailed(
      { type: 'validation', code: 'unreadable_body', message: messageOf(thrown) },
      partial,
      { cause: thrown },
    );
  if (misconfigured.has(name))
    return modelCallFailed(
      { type: 'model', code: 'auth', message: messageOf(thrown), retryable: false },
      partial,
      { cause: thrown },
    );
  if (thrown instanceof Error) return connectionError(thrown, now, partial);
  return inStream(
    JSON.stringify('error' in thrown ? thrown : { error: thrown }),
    now,
    partial,
    thrown,
  );
}

function refusal(error: Record<string, unknown>, now: number, partial: PartialAnswer): unknown {
  const status = typeof error['statusCode'] === 'number' ? error['statusCode'] : 0;
  const body = typeof error['responseBody'] === 'string' ? error['responseBody'] : '';
  if (status === 0) return connectionError(error, now, partial);
  if (status < 400)
    return body === '' || !body.includes('error')
      ? modelCallFailed(
          {
            type: 'validation',
            code: 'unreadable_body',
            message: String(error['message']),
            status,
          },
          partial,
          { cause: error },
        )
      : inStream(body, now, partial, error);
  const headers = isRecord(error['responseHeaders']) ? error['responseHeaders'] : {};
  return modelCallFailed(
    providerError(
      status,
      Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), String(v)])),
      body || JSON.stringify({ message: error['message'] }),
      now,
    ),
    partial,
    { cause: error },
  );
}

const inStream = (body: string, now: number, partial: PartialAnswer, cause: unknown): AgentError =>
  modelCallFailed(providerError(200, {}, body, now), partial, { cause });
