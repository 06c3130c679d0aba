import { own } from '../json.ts';
import { withoutFullStop } from '../sentence.ts';

/** A model that an execution gave up since its last answer. */
export interface ModelFailure {
  /** Id of the model in the agent: the name of its driver. */
  readonly model: string;
  /** Code and message of its last error record. */
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** ISO time before which the provider asks not to retry. */
  readonly until?: string;
}

const failures: Readonly<Record<string, string>> = {
  overloaded: 'was overloaded',
  rate_limit: 'received too many requests',
  quota: 'has no quota left',
  not_found: 'was not found',
  model_not_found: 'was not found',
  auth: 'rejected the API key',
  timeout: 'did not answer in time',
  server: 'had a server error',
  connection_failed: 'could not be reached',
  stream_incomplete: 'sent an incomplete answer',
};

const MAX_CHARACTERS = 200;

/** Returns the clause "openai:gpt-5 was overloaded". A failure without a known code is quoted. */
export function failureText({
  model,
  code,
  message,
}: Pick<ModelFailure, 'model' | 'code' | 'message'>): string {
  const known = own(failures, code);
  if (known !== undefined) return `${model} ${known}`;
  const text = withoutFullStop(message);
  return `${model} failed (${text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text})`;
}
