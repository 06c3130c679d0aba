export type SourceErrorCode =
  /** Not let in: no new try until something else changes. */
  | 'refused'
  /** Nothing there under this address. */
  | 'not_found'
  /** No connection, or an answer that says to come back later. */
  | 'unreachable'
  /** An answer that is not what this version expects. */
  | 'unreadable';

/** Why a screen does not get its envelopes, and what to check. Holds no header, token or body. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;
  /** Of the HTTP answer, where there was one. */
  readonly status: number | null;
  /** How long the server wants to be left alone. */
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

  /** Trying the same again cannot help. */
  get isFinal(): boolean {
    return this.code === 'refused' || this.code === 'not_found';
  }

  /** Works across duplicate installs, where `instanceof` does not. */
  static is(error: unknown, code?: SourceErrorCode): error is SourceError {
    const candidate = error as Partial<SourceError> | null;
    return candidate?.name === 'SourceError' && (code === undefined || candidate.code === code);
  }
}

export const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));
