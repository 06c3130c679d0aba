import { AgentError } from '../../../errors/agent-error.ts';
import { defaultRedactor } from '../../../errors/make-redactor.ts';
import { sentence } from '../../../sentence.ts';

/** Fields that `pg`, its server and Node set on an error. The first two also add data of rows. */
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
  '22': 'the server refused a value; texts must not have NUL characters',
  '28': 'the server refused the login',
  '3D': 'the server has no such database',
};

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/** Returns an `AgentError` unchanged. Wraps any other error without data of rows or of the connection string. */
export function storeFailed(operation: string, error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  const { code = '' } = (error ?? {}) as DatabaseFailure;
  return new AgentError(
    'store_failed',
    `PostgreSQL could not ${operation}: ${sentence(reasonOf(error))}`,
    {
      cause: withoutData(error),
      details: { operation, ...(code !== '' && { code }) },
    },
  );
}

/** Whether the same statement may succeed if it is sent again: nothing of it was written. */
export const isPassing = (error: unknown): boolean =>
  ['40001', '40P01'].includes((error as DatabaseFailure | null)?.code ?? '');

/** The server did not answer: the statement may have run, or may still run. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export const noAnswer = (ms: number): Error =>
  new NoAnswer(`the server did not answer within ${ms} ms, and its connection was dropped`);
export const isNoAnswer = (error: unknown): boolean => error instanceof NoAnswer;

/** Nothing was sent. */
class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

export const noConnection = (ms: number): Error =>
  new NoConnection(`no connection was available within ${ms} ms (connectTimeoutMs, poolSize)`);
export const noTurn = (ms: number): Error =>
  new NoConnection(`other work of this process on the same session took longer than ${ms} ms`);

/** Whether a statement may have run although its connection failed. */
export const isAmbiguous = (error: unknown): boolean =>
  isOfConnection(error) && !(error instanceof NoConnection);

/** Whether the connection is unusable. It stays usable after an error that the server reports about a statement. */
export function isOfConnection(error: unknown): boolean {
  if (AgentError.is(error)) return false;
  const { code = '' } = (error ?? {}) as DatabaseFailure;
  return !isSqlState(code) || code.startsWith('08') || code.startsWith('57P');
}

/** Whether another transaction kept a row locked for longer than the statement waits. */
export const isLockedOut = (error: unknown): boolean =>
  AgentError.is(error, 'store_failed') && error.details['code'] === '55P03';

/** Returns the SQLSTATE of an error of the store, or null. */
export const sqlState = (error: unknown): string | null => {
  const code = AgentError.is(error, 'store_failed') ? error.details['code'] : null;
  return typeof code === 'string' && isSqlState(code) ? code : null;
};

/** Whether the server refused a statement, of which nothing was written, and the connection stays usable. */
export const isOfStatement = (error: unknown): boolean => {
  const code = sqlState(error);
  return code !== null && !isOfConnection({ code });
};

/** Creates the error for a value that the server would refuse. */
export const refusedValue = (reason: string): AgentError =>
  storeFailed('commit', Object.assign(new Error(reason), { code: '22021' }));

/** Whether a table or the schema does not exist. */
export const isMissingTable = (error: unknown): boolean =>
  ['42P01', '3F000'].includes((error as DatabaseFailure | null)?.code ?? '');

function reasonOf(error: unknown): string {
  const { code = '', message = 'no reason was given' } = (error ?? {}) as DatabaseFailure;
  if (code === '') return message;
  if (!isSqlState(code)) return code;
  const kind = code.slice(0, 2);
  return `${quotable.has(kind) ? message : (explained[kind] ?? 'the server refused it')} (${code})`;
}

/** Copies an error without details such as the row that failed. */
function withoutData(error: unknown): Error {
  const { message = '', code, table, constraint } = (error ?? {}) as DatabaseFailure;
  const isData = code !== undefined && code.startsWith('22');
  return Object.assign(new Error(isData ? reasonOf(error) : defaultRedactor.text(message)), {
    ...(code !== undefined && { code }),
    ...(table !== undefined && { table }),
    ...(constraint !== undefined && { constraint }),
  });
}
