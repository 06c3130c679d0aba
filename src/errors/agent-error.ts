import { defaultRedactor } from './make-redactor.ts';

export type ErrorCode =
  | 'invalid_option'
  | 'invalid_tool'
  | 'duplicate_tool'
  | 'invalid_message'
  | 'driver_missing'
  | 'invalid_state'
  | 'unsupported_state_version'
  | 'state_too_large'
  | 'foreign_state'
  | 'no_new_message'
  | 'execution_open'
  | 'not_resumable'
  | 'grant_refused'
  | 'unknown_approval'
  | 'invalid_approval'
  | 'stale_approval'
  | 'unknown_input'
  | 'invalid_input'
  | 'model_call_failed'
  | 'script_exhausted'
  | 'session_not_found'
  | 'ref_not_found'
  | 'conflict'
  | 'awaiting_approval'
  | 'parked'
  | 'read_only'
  | 'stale_owner'
  | 'queue_full'
  | 'queue_failed'
  | 'runtime_closed'
  | 'unknown_agent'
  | 'package_missing'
  | 'tools_unavailable'
  | 'store_failed'
  | 'bus_failed';

/** An error that this library throws on purpose. Catch it by `code`, never by its message, which hides secrets. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly details?: Record<string, unknown> } = {},
  ) {
    super(defaultRedactor.text(message), 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details ?? {};
  }

  /** Whether `error` is an `AgentError`. Works across duplicate installs and realms, where `instanceof` does not. */
  static is(error: unknown, code?: ErrorCode): error is AgentError {
    const candidate = error as Partial<AgentError> | null | undefined;
    return candidate?.name === 'AgentError' && (code === undefined || candidate.code === code);
  }
}

/** Creates the error of an option: its name, its value and what was expected. */
export const invalidOption = (option: string, seen: unknown, expected: string): AgentError =>
  new AgentError('invalid_option', `${option} got ${show(seen)}, expected ${expected}.`, {
    details: { option, expected },
  });

/** Formats a value for an error message: its type, shortened. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(defaultRedactor.text(value)));
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const keys = Object.keys(value);
  return keys.length === 0 ? 'an empty object' : `an object with ${clip(keys.join(', '))}`;
}

const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** Requires a positive finite number: a limit of zero would stop every run before it starts. */
export function positive(option: string, value: number): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw invalidOption(option, value, 'a finite number above 0');
}

/** Whether a value is a count: steps, attempts, messages, bytes. Fractions are not. */
export const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;

/** Requires a positive whole number. */
export function whole(option: string, value: number): number {
  if (isWhole(positive(option, value))) return value;
  throw invalidOption(option, value, 'a whole number above 0');
}
