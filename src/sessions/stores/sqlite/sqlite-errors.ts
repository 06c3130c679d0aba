import { AgentError } from '../../../errors/agent-error.ts';
import { resultCode, SqliteCode } from './sqlite-codes.ts';
import type { SqliteFile } from './sqlite-database.ts';
import { withoutFullStop } from '../../../sentence.ts';

type Reason = 'busy' | 'damaged' | 'full' | 'read_only' | 'unreachable' | 'failed';

const reasons = new Map<number, Reason>([
  [SqliteCode.Busy, 'busy'],
  [SqliteCode.ReadOnly, 'read_only'],
  [SqliteCode.IoError, 'unreachable'],
  [SqliteCode.Corrupt, 'damaged'],
  [SqliteCode.Full, 'full'],
  [SqliteCode.CannotOpen, 'unreachable'],
  [SqliteCode.NotADatabase, 'damaged'],
]);

const advice: Record<Reason, (file: SqliteFile) => string> = {
  busy: ({ path, busyTimeoutMs }) =>
    ` for longer than ${busyTimeoutMs} ms. Another process locks ${path}: end it, or raise busyTimeoutMs`,
  damaged: ({ path }) =>
    `. The file ${path} is damaged or not a SQLite database: stop all processes that use it and restore a backup (onward backup makes one)`,
  full: ({ path }) => `. No space is left for ${path}: free some. Nothing was written`,
  read_only: ({ path }) => `. Let this process write to ${path} and to its folder`,
  unreachable: ({ path }) =>
    `. Check that ${path} is a file on a working disk and that this process may write to it and to its folder`,
  failed: ({ path }) => `. The file is ${path}`,
};

/** Wraps an SQLite error. Its message names tables and columns, never their data. */
export function sqliteFailure(file: SqliteFile, operation: string, cause: unknown): AgentError {
  const reason = reasons.get(resultCode(cause)) ?? 'failed';
  const said = cause instanceof Error ? withoutFullStop(cause.message) : 'no reason given';
  return new AgentError(
    'store_failed',
    `The SQLite store failed at ${operation}: ${said}${advice[reason](file)}.`,
    { cause, details: { operation, path: file.path, reason } },
  );
}
