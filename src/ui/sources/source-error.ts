export type SourceErrorCode =
  /** Not authorized: no retry until something else changes. */
  | 'refused'
  /** Nothing exists at this URL. */
  | 'not_found'
  /** No connection, or a response that asks to retry later. */
  | 'unreachable'
  /** A response that this version does not expect. */
  | 'unreadable';

/** Why a view does not get its envelopes, and what to check. Contains no header, token or body. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;
  /** Status of the HTTP response, if there was one. */
  readonly status: number | null;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs: number;

  constructor(
    code: SourceErrorCode,
    message: string,
    options: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }

  /** Whether a retry cannot help. */
  get isFinal(): boolean {
    return this.code === 'refused' || this.code === 'not_found';
  }

  /** Whether `error` is a `SourceError`. Works across duplicate installs, where `instanceof` does not. */
  static is(error: unknown, code?: SourceErrorCode): error is SourceError {
    const candidate = error as Partial<SourceError> | null;
    return candidate?.name === 'SourceError' && (code === undefined || candidate.code === code);
  }
}

export const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));
