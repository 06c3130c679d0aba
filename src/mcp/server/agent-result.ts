import { explainState } from '../../continuation/explain-state.ts';
import { explanationLine } from '../../continuation/explanation.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { Session } from '../../sessions/session.ts';
import type { AgentTool, CallStatus } from './agent-tools.ts';
import { waitingFor } from './session-questions.ts';

/** A result as the protocol has it. */
export interface CallResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: JsonObject;
  readonly isError?: true;
}

/** Writes a result: the same value as text, for clients that read only text. */
function resultOf(value: JsonObject): CallResult {
  const { status } = value;
  const isError = status === 'failed' || status === 'stopped';
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value,
    ...(isError && { isError }),
  };
}

/** The result of a call that could not do what it was asked for. */
export const failedCall = (explanation: string, sessionId?: string): CallResult =>
  resultOf({ ...(sessionId !== undefined && { sessionId }), status: 'failed', explanation });

/** The result of a message that a session does not take now: what it does instead, and what to do. */
export async function notSent(tool: AgentTool, session: Session): Promise<CallResult> {
  const { output: _, ...now } = (await sessionResult(tool, session)).structuredContent;
  const why = explanationOf(session, statusOf(session));
  const result = resultOf({ ...now, explanation: `The message was not sent. ${why}` });
  return { ...result, isError: true };
}

/** The result of a call: the answer of the agent, or why there is none, and what to do. */
export async function sessionResult(tool: AgentTool, session: Session): Promise<CallResult> {
  const status = statusOf(session);
  const output = session.output as JsonValue; // as stored
  const hasOutput = output !== null && (await tool.fits(output));
  const waits = status === 'waiting' ? waitingFor(session) : [];
  const next = nextOf(tool, session, status, waits.length > 0);
  return resultOf({
    sessionId: session.id,
    status,
    ...(hasOutput && { output }),
    ...((status !== 'completed' || !hasOutput) && { explanation: explanationOf(session, status) }),
    ...(waits.length > 0 && { waitingFor: waits }),
    ...(next !== null && { next }),
  });
}

function statusOf({ phase, status }: Session): CallStatus {
  if (phase === 'open') return 'working';
  if (phase === 'parked') return 'failed';
  if (status === 'paused') return 'waiting';
  if (status === 'completed' || status === 'failed' || status === 'stopped') return status;
  return 'completed'; // a session without a message
}

const explanationOf = (session: Session, status: CallStatus): string =>
  status === 'working' ? 'The agent is still working.' : explanationLine(explainState(session));

function nextOf(
  { definition: { name } }: AgentTool,
  { id }: Session,
  status: CallStatus,
  isAsked: boolean,
): string | null {
  const again = `call "${name}" again with sessionId "${id}" and no message`;
  if (status === 'working') return `To wait for the result, ${again}.`;
  if (status === 'waiting' && !isAsked) return `After it was resumed, ${again}.`;
  if (status === 'waiting')
    return (
      'You cannot give this answer yourself. Show the user what waits. They answer in the app or console of this server, or ' +
      `with \`onward approve ${id}\`, \`onward deny ${id}\` or \`onward answer ${id}\`. Afterwards, ${again}.`
    );
  if (status === 'stopped')
    return `To let it continue, call "${name}" again with sessionId "${id}" and a message.`;
  return null;
}
