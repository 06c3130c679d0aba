import { AgentError, type ErrorCode } from '../../errors/agent-error.ts';

/** Why a request was refused: `error.code` of the JSON response. */
export type ChatErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'cross_site'
  | 'chat_not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'awaiting_approval'
  | 'parked'
  | 'unknown_approval'
  | 'approval_mismatch'
  | 'unknown_input'
  | 'invalid_input'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'regenerate_unsupported'
  | 'edit_unsupported'
  | 'overloaded'
  | 'internal';

const statuses: Readonly<Record<ChatErrorCode, number>> = {
  invalid_request: 400,
  regenerate_unsupported: 400,
  edit_unsupported: 400,
  unauthorized: 401,
  cross_site: 403,
  chat_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  awaiting_approval: 409,
  parked: 409,
  unknown_approval: 409,
  approval_mismatch: 409,
  unknown_input: 409,
  invalid_input: 400,
  body_too_large: 413,
  unsupported_media_type: 415,
  internal: 500,
  overloaded: 503,
};

/** A refusal whose text may be shown to the user. */
export class ChatRefusal extends Error {
  override readonly name = 'ChatRefusal';
  readonly code: ChatErrorCode;
  constructor(code: ChatErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const chatNotFound = (): ChatRefusal =>
  new ChatRefusal('chat_not_found', 'There is no such chat.');

/** Texts for users. The runtime's own messages are for developers. */
const refusals: Partial<Record<ErrorCode, readonly [ChatErrorCode, string]>> = {
  session_not_found: ['chat_not_found', 'There is no such chat.'],
  conflict: [
    'conflict',
    'This chat is still busy with the message before. Wait for it to end, or stop it.',
  ],
  awaiting_approval: [
    'awaiting_approval',
    'This chat needs approval. Approve or deny the open calls first, or stop it.',
  ],
  parked: [
    'parked',
    'This chat failed several times and is no longer retried. Ask the operator to retry it, or stop it.',
  ],
  read_only: ['conflict', 'This chat is an imported copy and cannot be continued.'],
  unknown_approval: ['unknown_approval', 'This call no longer needs an answer.'],
  invalid_approval: ['invalid_request', 'This is not an answer to an approval.'],
  stale_approval: [
    'approval_mismatch',
    'The call that needs approval is not the one that was answered. Reload the chat, then answer.',
  ],
  unknown_input: ['unknown_input', 'This question no longer needs an answer.'],
  invalid_input: ['invalid_input', 'The answer does not fit the question, which still waits.'],
  not_resumable: ['unknown_approval', 'The run has ended, so the answer is too late.'],
  unknown_agent: ['invalid_request', 'There is no such agent.'],
  invalid_message: ['invalid_request', 'The message cannot be read.'],
  state_too_large: ['body_too_large', 'The message is too large to store. Send a shorter one.'],
  queue_full: ['overloaded', 'The server is at capacity. Try again soon.'],
  runtime_closed: ['overloaded', 'The server is about to restart. Try again soon.'],
};

/** Converts an error to a response for the client; `isBug` if an operator should check it. */
export function refusalOf(error: unknown): {
  readonly refusal: ChatRefusal;
  readonly isBug: boolean;
} {
  if (error instanceof ChatRefusal) return { refusal: error, isBug: false };
  const known = AgentError.is(error) ? refusals[error.code] : undefined;
  if (known) return { refusal: new ChatRefusal(...known), isBug: false };
  const words = 'Something went wrong on the server. Try again.';
  return { refusal: new ChatRefusal('internal', words), isBug: true };
}

export function errorResponse({ code, message }: ChatRefusal): Response {
  const headers = new Headers({ 'cache-control': 'no-store' });
  if (code === 'method_not_allowed') headers.set('allow', 'GET, POST');
  if (code === 'overloaded') headers.set('retry-after', '2');
  return Response.json({ error: { code, message } }, { status: statuses[code], headers });
}
