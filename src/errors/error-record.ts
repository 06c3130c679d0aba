import type { ErrorType } from './error-type.ts';

/** A failure in the state: plain data, never an `Error`. */
export interface ErrorRecord {
  readonly type: ErrorType;
  /** Stable code for programs, such as `tool_failed`, `bad_arguments` or `refusal`. */
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  /** Whether a retry may help, for failed model calls only: `false` makes the policy stop. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly toolName?: string;
  /** On a failed model call: the provider's id of the request. */
  readonly requestId?: string;
  readonly at: string;
}

/** A record before it gets its time. */
export type ErrorReport = Omit<ErrorRecord, 'at' | 'retryable'> & { readonly retryable?: boolean };

/** Returns the text of anything that can be thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
