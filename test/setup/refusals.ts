import { providerError } from '../../src/inference/drivers/provider-error.ts';

const now = Date.parse('2026-01-16T12:00:00.000Z');
/** Reads the error response of a provider. */
export const read = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ReturnType<typeof providerError> =>
  providerError(status, headers, typeof body === 'string' ? body : JSON.stringify(body), now);

/** The error body that most providers send. */
export const error = (
  message: string,
  more: Record<string, unknown> = {},
): { readonly error: Record<string, unknown> } => ({
  error: { message, ...more },
});
