import { AgentError } from '../../../errors/agent-error.ts';
import { defaultRedactor } from '../../../errors/make-redactor.ts';
import { sentence } from '../../../sentence.ts';

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
  return new AgentError(
    'store_failed',
    `PostgreSQL could not ${operation}: ${sentence(reasonOf(error))}`,
    {
      cause: withoutData(error),
      details: { operation, ...(code !== '' && { code }) },
    },
  );
}

/** Whether the same statement may go through when it is sent again: nothing of it was written. */
export const isPassing = (error: unknown): boolean =>
  ['40001', '40P01'].includes((error as DatabaseFailure | null)?.code ?? '');

/** The server gave no answer: what it was asked may have happened, or may still happen. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export const noAnswer = (ms: number): Error =>
  new NoAnswer(`the server gave no answer within ${ms} ms; its connection was dropped`);
export const isNoAnswer = (error: unknown): boolean => error instanceof NoAnswer;

/** Nothing was sent. */
class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

export const noConnection = (ms: number): Error =>
  new NoConnection(`no connection could be had within ${ms} ms (connectTimeoutMs, poolSize)`);
export const noTurn = (ms: number): Error =>
  new NoConnection(`other work of this process on the same session took longer than ${ms} ms`);

/** Whether a statement may have been carried out though its connection failed. */
export const isAmbiguous = (error: unknown): boolean =>
  isOfConnection(error) && !(error instanceof NoConnection);

/** Whether the connection is of no more use; an error that the server reports about a statement leaves it as it was. */
export function isOfConnection(error: unknown): boolean {
  if (AgentError.is(error)) return false;
  const { code = '' } = (error ?? {}) as DatabaseFailure;
  return !isSqlState(code) || code.startsWith('08') || code.startsWith('57P');
}

/** Whether another transaction kept a row locked for longer than the statement waits. */
export const isLockedOut = (error: unknown): boolean =>
  AgentError.is(error, 'store_failed') && error.details['code'] === '55P03';

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
