import type { SessionRow } from './session-rows.ts';

/** A retry of a parked session. */
export interface RetryRecord {
  readonly by: string | null;
  readonly at: string;
}

export const lastRetryOf = ({
  retriedBy: by,
  retriedAt: at,
}: Pick<SessionRow, 'retriedBy' | 'retriedAt'>): RetryRecord | null =>
  at === null ? null : { by, at };
