import type { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { Answers } from '../agent/approval-answer.ts';
import type { StopOptions } from '../agent/enter-run.ts';
import type { InputsGiven } from '../agent/open-inputs.ts';
import type { DurableOptions } from '../agent/run-options.ts';
import {
  allowanceOf,
  grantedByOwners,
  withinAllowance,
  type GrantCaps,
  type GrantRecord,
} from '../continuation/grant-allowance.ts';
import type { MessageInput } from '../messages/message.ts';
import type { LoadedSession } from './load-session.ts';
import { hasLog } from './event-log.ts';
import type { RowReader } from './row-reader.ts';
import type { CommandRow, SessionRow } from './session-rows.ts';
import { stopNote } from './stop-note.ts';

/** A grant that waits for the worker to apply it. */
export interface GrantOrder extends GrantRecord {
  /** The owner's caps at the time the order was accepted. */
  readonly caps?: GrantCaps;
}

/** Body of a command: a message, or a resume with or without a grant. */
export type CommandBody =
  | ({ readonly message: MessageInput } & Traced)
  | ({ readonly grant: null } & Traced)
  /** Ids of remembered approvals to remove. */
  | { readonly revoke: readonly string[] }
  /** Earlier releases wrote only the grant. */
  | (Pick<GrantOrder, 'grant'> & Partial<GrantOrder> & Traced);

/** The trace context of the process that accepted a command. */
interface Traced {
  readonly traceparent?: string;
}

export type Task = {
  readonly executionId: string;
  /** Number of the command that the task carries out. */
  readonly done?: number;
  /** Ids of remembered approvals to remove first. */
  readonly revoked?: readonly string[];
  /** Trace context of the process that accepted the command. */
  readonly traceparent?: string;
} & (
  | { readonly kind: 'run'; readonly message: MessageInput }
  | { readonly kind: 'resume'; readonly order: GrantOrder | null }
  | { readonly kind: 'none' }
);

/** Determines the next task from the session's command and state. */
export async function taskOf(given: {
  readonly row: SessionRow;
  readonly reader: RowReader;
  readonly state: AgentState;
  readonly command: CommandRow | null;
  readonly at: string;
}): Promise<Task> {
  const { row, reader, state, command, at } = given;
  const { id: executionId } = state.execution;
  // the next command waits until the end on the row is also in the state
  if (row.closeReason !== null) return { kind: 'none', executionId };
  const body = command ? (await reader.values<CommandBody>([command]))[0] : undefined;
  if (command && body && 'revoke' in body)
    return {
      // what a stopped process left continues; a pause and an end stay
      ...(state.status === 'in_progress' ? { kind: 'resume', order: null } : { kind: 'none' }),
      executionId,
      done: command.number,
      revoked: body.revoke,
    };
  const isFork = state.pause?.kind === 'fork';
  if (command && body && 'message' in body && (isFork || !isOpen(state.status)))
    // a message that was queued twice under one id is carried out once
    return command.executionId === executionId ||
      // without an execution there is no log
      (row.executionId !== null && (await hasLog(reader.store, row.id, command.executionId)))
      ? { kind: 'none', executionId, done: command.number }
      : { kind: 'run', message: body.message, ...idOf(command), ...traceOf(body) };
  if (command && body && 'grant' in body) {
    const order = orderOf(body, state, at);
    // other grants have used up the owner's caps
    if (order === null && body.grant !== null && !isOpen(state.status))
      return { kind: 'none', executionId, done: command.number };
    return { kind: 'resume', order, ...idOf(command), ...traceOf(body) };
  }
  if (isOpen(state.status)) return { kind: 'resume', order: null, executionId };
  return { kind: 'none', executionId };
}

/** Returns what the next command revokes; null if it is another one. */
export async function revokedBy(
  reader: RowReader,
  sessionId: string,
): Promise<readonly string[] | null> {
  const command = await reader.store.nextCommand(sessionId);
  if (command?.kind !== 'resume') return null;
  const [body] = await reader.values<CommandBody>([command]);
  return body && 'revoke' in body ? body.revoke : null;
}

const traceOf = ({ traceparent }: Traced): Traced =>
  typeof traceparent === 'string' ? { traceparent } : {};

const idOf = ({ executionId, number }: CommandRow) => ({ executionId, done: number });

/**
 * Reduces a grant to what still fits into the owner's caps: other grants may have been accepted since, and only the
 * worker knows all that were given. Returns null if nothing is left.
 */
function orderOf(
  body: Extract<CommandBody, { readonly grant: unknown }>,
  { execution }: AgentState,
  at: string,
): GrantOrder | null {
  if (body.grant === null) return null;
  const { traceparent: _, ...given } = body;
  const order: GrantOrder = { by: null, at, authority: 'owner', ...given };
  if (!order.caps) return order;
  const { left } = allowanceOf(order.caps, grantedByOwners(execution), null);
  const grant = withinAllowance(order.grant, left);
  return grant && { ...order, grant };
}

export function grantOf(order: GrantOrder | null): Partial<DurableOptions> {
  if (order === null) return {};
  const { grant, by, at, authority } = order;
  return { grant, granted: { at, authority }, ...(by !== null && { by }) };
}

export function askedBy(text: string): Pick<StopOptions, 'reason' | 'by' | 'at'> {
  const { reason, by, at } = stopNote(text);
  return { reason, ...(by !== null && { by }), ...(at !== null && { at }) };
}

/**
 * Returns the answers to calls that the state waits for. A nested agent may get an answer before its root has paused;
 * then the root pauses first.
 */
export const answersTo = ({ state, answers }: LoadedSession): Answers =>
  new Map(
    state.pendingApprovals.flatMap(({ callId }) => {
      const answer = answers.get(callId);
      return answer ? [[callId, answer]] : [];
    }),
  );

/** Returns the answers to questions that the state waits for, like {@link answersTo}. */
export const inputsTo = ({ state, inputs }: LoadedSession): InputsGiven =>
  new Map(
    state.pendingInputs.flatMap(({ inputId }) => {
      const given = inputs.get(inputId);
      return given ? [[inputId, given]] : [];
    }),
  );

/** Whether there is work to do. A pause without answers keeps waiting. */
export const hasWork = (state: AgentState, answerCount: number, { done }: Task): boolean =>
  state.status !== 'paused' || done !== undefined || answerCount > 0;

/**
 * Adds the new message to the conversation. A fork is paused between two steps; a message begins a new execution there.
 */
export const askedIn = (
  { state }: LoadedSession,
  { message }: { readonly message: MessageInput },
): AgentState =>
  (state.status === 'paused' ? state.with({ status: 'pending', pause: null }) : state).withMessages(
    message,
  );
