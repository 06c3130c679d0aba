import type { ProviderReport } from '../model-call-info.ts';
import { string } from './chat-message.ts';
import type { HeaderMap } from './retry-after.ts';

/** Headers with the id of a request: OpenAI and most others, Anthropic, Azure, Bedrock. */
const names = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid'] as const;

/** Returns the provider's id of a request; undefined if no header has it. */
export function requestIdIn(headers: HeaderMap): string | undefined {
  for (const name of names) if (headers[name]) return headers[name];
  return undefined;
}

/** Reads the model and the id from an answer of any OpenAI API. */
export function reportIn(body: Record<string, unknown>): ProviderReport {
  const model = string(body['model']);
  const requestId = string(body['id']);
  return { ...(model && { model }), ...(requestId && { requestId }) };
}
