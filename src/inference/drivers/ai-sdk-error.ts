import { AgentError } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { excerpt } from '../../errors/excerpt.ts';
import { isRecord, jsonText, parseJson } from '../../json.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import { connectionError } from './connection-error.ts';
import { isErrorBody, providerError } from './provider-error.ts';
import { requestIdIn } from './request-id.ts';
import { headerMap } from './retry-after.ts';

/** Errors by name: an instance check would fail across copies of their packages. */
const unreadable = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
  'AI_NoContentGeneratedError',
]);
const refused: ReadonlyMap<string, string> = new Map([
  ['AI_LoadAPIKeyError', 'auth'],
  ['AI_LoadSettingError', 'auth'],
  ['AI_NoSuchModelError', 'not_found'],
  ['AI_UnsupportedFunctionalityError', 'invalid_request'],
  ['AI_InvalidPromptError', 'invalid_request'],
  ['AI_InvalidArgumentError', 'invalid_request'],
]);

/** Converts an error that a provider package threw or streamed to one error. */
export function aiSdkError(thrown: unknown, now: number, partial: PartialAnswer = {}): AgentError {
  if (AgentError.is(thrown)) return thrown;
  if (!isRecord(thrown)) return inStream(String(thrown), now, partial, thrown);
  const name = String(thrown['name']);
  if (name === 'AI_APICallError') return refusal(thrown, now, partial);
  if (unreadable.has(name) || isOwnMistake(thrown)) {
    const reported = reportedIn(thrown);
    if (reported !== null) return inStream(reported, now, partial, thrown);
    return modelCallFailed(
      {
        type: 'validation',
        code: 'unreadable_body',
        message: rejected(messageOf(thrown), contentOf(thrown)),
      },
      partial,
      { cause: thrown },
    );
  }
  const code = refused.get(name);
  if (code !== undefined)
    return modelCallFailed(
      { type: 'model', code, message: messageOf(thrown), retryable: false },
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

/** Whether a package failed to parse an unexpected response; network errors have a cause or a message. */
const isOwnMistake = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  ['TypeError', 'SyntaxError', 'RangeError'].includes(thrown.name) &&
  thrown.cause === undefined &&
  !/fetch|network|terminated|socket|connection|closed/i.test(thrown.message);

/** Whether the cause of a package's error is the network, and not its attempt to read the answer. */
const isBroken = (cause: unknown): boolean =>
  cause instanceof Error &&
  !cause.name.startsWith('AI_') &&
  !isOwnMistake(cause) &&
  cause.name !== 'ZodError';

/** Returns the error that a package could not read, because it expected an answer. */
function reportedIn({ value, text }: Record<string, unknown>): string | null {
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  const body: unknown = value ?? (parsed?.ok ? parsed.value : undefined);
  return isErrorBody(body) ? JSON.stringify(body) : null;
}

/** Maximum characters of the rejected answer, and of the package's reason, which may repeat the answer. */
const MAX_SHOWN = 500;

/** Says why a package rejected an answer, and what was in it. */
function rejected(reason: string, content: string): string {
  const said = excerpt(reason, MAX_SHOWN);
  if (content === '' || reason.includes(content)) return said;
  return `${said} The answer was: ${excerpt(content, MAX_SHOWN)}`;
}

function contentOf({ value, text, data, responseBody }: Record<string, unknown>): string {
  const content = text ?? responseBody ?? value ?? data;
  return typeof content === 'string' ? content : (jsonText(content) ?? '');
}

/** Returns the error without its cause, which contains the whole request. */
function refusal(error: Record<string, unknown>, now: number, partial: PartialAnswer): AgentError {
  const status = typeof error['statusCode'] === 'number' ? error['statusCode'] : 0;
  const body = typeof error['responseBody'] === 'string' ? error['responseBody'] : '';
  if (status === 0) return connectionError(error['cause'] ?? error, now, partial);
  const parsed = parseJson(body);
  const headers = headerMap(error['responseHeaders']);
  const requestId = requestIdIn(headers);
  const { cause } = error;
  // a package that read the answer when the connection broke
  if (status < 400 && isBroken(cause))
    return connectionError(cause, now, {
      ...(requestId !== undefined && { requestId }),
      ...partial,
    });
  if (status < 400 && !(parsed.ok && isErrorBody(parsed.value)))
    return modelCallFailed(
      {
        type: 'validation',
        code: 'unreadable_body',
        message: rejected(messageOf(error), body),
        status,
        ...(requestId !== undefined && { requestId }),
      },
      partial,
    );
  return modelCallFailed(
    providerError(status, headers, body || JSON.stringify({ message: error['message'] }), now),
    partial,
  );
}

const inStream = (body: string, now: number, partial: PartialAnswer, cause: unknown): AgentError =>
  modelCallFailed(providerError(200, {}, body, now), partial, { cause });
