import { isRecord } from '../json.ts';

/** Why a request failed: the server's message, or what the browser knows. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.status = status;
    this.code = code;
  }

  /** Whether there is no server, or a response that is not from it. */
  get isUnreachable(): boolean {
    return this.status === 0 || this.status >= 502;
  }

  get isSignedOut(): boolean {
    return this.status === 401;
  }

  /** Whether the session is not found. Sessions of other owners and deleted ones look the same. */
  get isNotFound(): boolean {
    return this.status === 404 || this.status === 403 || this.status === 410;
  }
}

/** Creates a problem from a response other than 2xx. */
export function problemIn(status: number, answer: unknown): ApiProblem {
  const error = isRecord(answer) && isRecord(answer['error']) ? answer['error'] : {};
  const { code, message } = error;
  return new ApiProblem(
    status,
    typeof code === 'string' ? code : `http_${status}`,
    typeof message === 'string' ? message : `The server answered ${status}.`,
  );
}

/** Converts any error. Errors of actions and of the event stream have a status and a code too. */
export function problemOf(thrown: unknown): ApiProblem {
  if (thrown instanceof ApiProblem) return thrown;
  const { status, code, message } = (isRecord(thrown) ? thrown : {}) as Partial<ApiProblem>;
  return new ApiProblem(
    typeof status === 'number' ? status : 0,
    typeof code === 'string' ? code : 'unreachable',
    typeof message === 'string' ? message : 'The server does not respond.',
    { cause: thrown },
  );
}
