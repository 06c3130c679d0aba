import type { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { Answers } from '../agent/approval-answer.ts';
import type { StopOptions } from '../agent/enter-run.ts';
import type { DurableOptions } from '../agent/run.ts';
import { isoTime, type Clock } from '../clock.ts';
import type { MessageInput } from '../messages/message.ts';
import { grantWithin, type GrantOrder } from './grant-order.ts';
import type { LoadedSession } from './load-state.ts';
import { hasLog } from './event-log.ts';
import type { RowReader } from './row-reader.ts';
import type { CommandRow, SessionRow } from './session-rows.ts';
import { stopNote } from './stop-note.ts';

/** What a session may be asked to do. */
export type CommandBody =
  | { readonly message: MessageInput }
  | { readonly grant: null }
  /** Earlier releases wrote the grant alone. */
  | (Pick<GrantOrder, 'grant'> & Partial<GrantOrder>);

export type Task = {
  readonly executionId: string;
  /** The command that it carries out. */
  readonly done?: number;
} & (
  | { readonly kind: 'run'; readonly message: MessageInput }
  | { readonly kind: 'resume'; readonly order: GrantOrder | null }
  | { readonly kind: 'none' }
);

/** What there is to do, by what the session was asked and how far it had come. */
export async function taskOf(
  { clock }: { readonly clock: Clock },
  given: {
    readonly row: SessionRow;
    readonly reader: RowReader;
    readonly state: AgentState;
    readonly command: CommandRow | null;
  },
): Promise<Task> {
  const { row, reader, state, command } = given;
  const { id: executionId } = state.execution;
  // what comes next waits until the end on the row is in the state too
  if (row.closeReason !== null) return { kind: 'none', executionId };
  const body = command ? (await reader.values<CommandBody>([command]))[0] : undefined;
  const isFork = state.pause?.kind === 'fork';
  if (command && body && 'message' in body && (isFork || !isOpen(state.status)))
    // a message that waited twice under one id is carried out once
    return command.executionId === executionId ||
      (await hasLog(reader.store, row.id, command.executionId))
      ? { kind: 'none', executionId, done: command.number }
      : { kind: 'run', message: body.message, ...idOf(command) };
  if (command && body && 'grant' in body) {
    const order = orderOf(body, state, isoTime(clock.now()));
    // others beside it have used up what owners may grant
    if (order === null && body.grant !== null && !isOpen(state.status))
      return { kind: 'none', executionId, done: command.number };
    return { kind: 'resume', order, ...idOf(command) };
  }
  if (isOpen(state.status)) return { kind: 'resume', order: null, executionId };
  return { kind: 'none', executionId };
}

const idOf = ({ executionId, number }: CommandRow) => ({ executionId, done: number });

/** The grant as far as it may still be given; null where that is nothing. */
function orderOf(
  body: Exclude<CommandBody, { readonly message: MessageInput }>,
  { execution }: AgentState,
  at: string,
): GrantOrder | null {
  if (body.grant === null) return null;
  const order: GrantOrder = { by: null, at, authority: 'owner', ...body };
  const grant = grantWithin(order, execution);
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

/** An agent behind a call may be answered before its root has paused: the root pauses first, and then continues. */
export const answersTo = ({ state, answers }: LoadedSession): Answers =>
  new Map(
    state.pendingApprovals.flatMap(({ callId }) => {
      const answer = answers.get(callId);
      return answer ? [[callId, answer]] : [];
    }),
  );

/** A pause without answers waits on. */
export const hasWork = (state: AgentState, answers: Answers, { done }: Task): boolean =>
  state.status !== 'paused' || done !== undefined || answers.size > 0;

/** The conversation with the new message. A fork stands between two steps: a message begins a new execution there. */
export const askedIn = (
  { state }: LoadedSession,
  { message }: { readonly message: MessageInput },
): AgentState =>
  (state.status === 'paused' ? state.with({ status: 'pending', pause: null }) : state).withMessages(
    message,
  );
