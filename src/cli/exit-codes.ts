import { StopReason } from '../continuation/stop-reason.ts';
import { AgentError, type ErrorCode } from '../errors/agent-error.ts';
import type { Session } from '../sessions/session.ts';
import type { CliSignal } from './cli-io.ts';

interface ExitCodeRow {
  readonly code: number;
  /** Name in scripts and in `--json`. */
  readonly name: string;
  readonly meaning: string;
}

/** All exit codes: help, docs and tests read this table. */
export const exitCodes: readonly ExitCodeRow[] = [
  {
    code: 0,
    name: 'completed',
    meaning: 'The run completed, or the command succeeded.',
  },
  { code: 1, name: 'unexpected', meaning: 'Unexpected error.' },
  { code: 2, name: 'usage', meaning: 'The command line, the config or the installation is wrong.' },
  { code: 3, name: 'session_not_found', meaning: 'There is no such session of this owner.' },
  { code: 4, name: 'conflict', meaning: 'The session is busy, or its status does not allow this.' },
  {
    code: 5,
    name: 'store_failed',
    meaning: 'The session store could not be read or written.',
  },
  { code: 6, name: 'address_in_use', meaning: 'The server could not listen on its address.' },
  { code: 7, name: 'paused', meaning: 'The run is paused: it needs approval or a resume.' },
  {
    code: 8,
    name: 'processing',
    meaning: 'The run continues in another process, or can be recovered.',
  },
  { code: 9, name: 'eval_failed', meaning: 'A case of an eval did not pass.' },
  { code: 10, name: 'steps_limit', meaning: 'The run stopped at its step limit.' },
  { code: 11, name: 'token_limit', meaning: 'The run stopped at its token limit.' },
  { code: 12, name: 'time_limit', meaning: 'The run stopped at its time limit.' },
  { code: 13, name: 'retry_limit', meaning: 'The run failed: all retries were used.' },
  { code: 14, name: 'error', meaning: 'The run failed: an error that the policy does not retry.' },
  {
    code: 15,
    name: 'finish_reason',
    meaning: 'The provider truncated the answer (length, content filter).',
  },
  {
    code: 16,
    name: 'guard',
    meaning: 'A guard stopped the run: cost, no progress, or a custom criterion.',
  },
  { code: 17, name: 'user_requested', meaning: 'A stop request ended the run.' },
  {
    code: 130,
    name: 'interrupted',
    meaning: 'Ctrl-C: the run was stopped here and can be resumed.',
  },
  {
    code: 143,
    name: 'terminated',
    meaning: 'SIGTERM: the step was finished; `onward recover` continues the run.',
  },
];

const byName = new Map(exitCodes.map(({ code, name }) => [name, code]));

export const exitCodeNamed = (name: string): number => byName.get(name) ?? 1;

export const exitCodeOfSignal = (signal: CliSignal): number =>
  exitCodeNamed(signal === 'SIGTERM' ? 'terminated' : 'interrupted');

/** Returns the exit code for the end of a run. */
export function exitCodeOf({ status, stopReason }: Pick<Session, 'status' | 'stopReason'>): number {
  if (status === 'paused') return exitCodeNamed('paused');
  if (status === 'in_progress') return exitCodeNamed('processing');
  return exitCodeNamed(stopReason ?? StopReason.Completed);
}

const byError: Partial<Record<ErrorCode, string>> = {
  session_not_found: 'session_not_found',
  ref_not_found: 'session_not_found',
  conflict: 'conflict',
  not_resumable: 'conflict',
  unknown_approval: 'conflict',
  unknown_input: 'conflict',
  stale_approval: 'conflict',
  execution_open: 'conflict',
  no_new_message: 'conflict',
  stale_owner: 'conflict',
  queue_full: 'conflict',
  runtime_closed: 'conflict',
  parked: 'conflict',
  read_only: 'conflict',
  awaiting_approval: 'paused',
  store_failed: 'store_failed',
  invalid_state: 'store_failed',
  unsupported_state_version: 'store_failed',
  state_too_large: 'store_failed',
  invalid_option: 'usage',
  invalid_approval: 'usage',
  invalid_input: 'usage',
  invalid_message: 'usage',
  invalid_tool: 'usage',
  duplicate_tool: 'usage',
  unknown_agent: 'usage',
  driver_missing: 'usage',
  package_missing: 'usage',
};

/** Returns the exit code of an error: by its own name, or by the library's code. */
export function exitCodeOfError(error: unknown): number {
  if (!AgentError.is(error)) return exitCodeNamed('unexpected');
  const own = error.details['exitCode'];
  if (typeof own === 'number') return own;
  return exitCodeNamed(byError[error.code] ?? 'unexpected');
}

/** Formats the table for the help. */
export function exitCodeTable(): string {
  const width = Math.max(...exitCodes.map(({ name }) => name.length));
  return exitCodes
    .map(
      ({ code, name, meaning }) =>
        `  ${String(code).padStart(3)}  ${name.padEnd(width)}  ${meaning}`,
    )
    .join('\n');
}
