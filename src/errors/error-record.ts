import type { ErrorType } from './error-type.ts';

/** A failure as the state keeps it: plain data, never an `Error`. */
export interface ErrorRecord {
  readonly type: ErrorType;
  /** Stable word for programs, such as `tool_failed`, `bad_arguments` or `refusal`. */
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  /** Judged for failed model calls only: `false` makes the policy stop. */
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly toolName?: string;
  readonly at: string;
}

/** A record before it is stamped with its time. */
export type ErrorReport = Omit<ErrorRecord, 'at' | 'retryable'> & { readonly retryable?: boolean };

/** The text of anything that can be thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
