import { AgentError } from '../../errors/agent-error.ts';
import { defaultRedactor } from '../../errors/make-redactor.ts';

/** What `pg`, its server and Node put on an error; the first two also put data of rows there. */
interface DatabaseFailure {
  readonly message?: string;
  readonly code?: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Classes of SQLSTATE whose messages quote neither values nor the connection string. */
const quotable: ReadonlySet<string> = new Set([
  '23',
  '25',
  '40',
  '42',
  '53',
  '54',
  '55',
  '57',
  'XX',
]);
const explained: Readonly<Record<string, string>> = {
  '08': 'the connection failed',
  '22': 'the server refused a value; texts may hold no NUL character',
  '28': 'the server refused the login',
  '3D': 'the server has no such database',
};

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/** An error of this library stays as it is; any other is told without what rows or the connection string hold. */
export function storeFailed(operation: string, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  const { code = '' } = (error ?? {}) as DatabaseFailure;
  return new AgentError('store_failed', `PostgreSQL could not ${operation}: ${reasonOf(error)}.`, {
    cause: withoutData(error),
    details: { operation, ...(code !== '' && { code }) },
  });
}

/** Whether the same statement may go through when it is sent again: nothing of it was written. */
export const isPassing = (error: unknown): boolean =>
  ['40001', '40P01'].includes((error as DatabaseFailure | null)?.code ?? '');

/** Whether a table or the schema is not there. */
export const isMissingTable = (error: unknown): boolean =>
  ['42P01', '3F000'].includes((error as DatabaseFailure | null)?.code ?? '');

function reasonOf(error: unknown): string {
  const { code = '', message = 'no reason was given' } = (error ?? {}) as DatabaseFailure;
  if (code === '') return message;
  if (!isSqlState(code)) return code;
  const kind = code.slice(0, 2);
  return `${quotable.has(kind) ? message : (explained[kind] ?? 'the server refused it')} (${code})`;
}

/** A copy: the original carries details such as the row that failed. */
function withoutData(error: unknown): Error {
  const { message = '', code, table, constraint } = (error ?? {}) as DatabaseFailure;
  const isData = code !== undefined && code.startsWith('22');
  return Object.assign(new Error(isData ? reasonOf(error) : defaultRedactor.text(message)), {
    ...(code !== undefined && { code }),
    ...(table !== undefined && { table }),
    ...(constraint !== undefined && { constraint }),
  });
}
