import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { progressText } from '../tools/progress-text.ts';
import { statusNote } from './apply-status.ts';
import { resultMetadata } from './tool-results.ts';
import {
  callsOf,
  findInTurn,
  hasCall,
  inserted,
  reachOf,
  type MessageList,
} from './message-list.ts';
import type { LogSnapshot, UiRun } from './log-snapshot.ts';
import type { UiMessage, UiToolCall } from './ui-message.ts';
import type { UiApproval } from './ui-state.ts';

type OnRun = LogSnapshot & { readonly run: UiRun };

export function applyToolStarted(
  snapshot: OnRun,
  envelope: EnvelopeOf<'agent.tool.started'>,
): LogSnapshot {
  const { tool, tool_call_id: id, args_summary, args } = envelope.payload;
  const call: UiToolCall = { id, name: tool, args: args ?? null, args_summary };
  const { rows, run } = attached(snapshot, call, envelope.timestamp);
  const open = [...run.open.filter((other) => other.id !== id), { id, name: tool }];
  return {
    ...snapshot,
    rows,
    run: { ...withoutWaiting(run, id), open, note: openNote(run.id, open, envelope.timestamp) },
  };
}

/** Shows the progress of an open call in the status line. */
export function applyToolProgress(
  snapshot: OnRun,
  { payload, timestamp }: EnvelopeOf<'agent.tool.progress'>,
): LogSnapshot {
  const { run } = snapshot;
  if (!run.open.some(({ id }) => id === payload.tool_call_id)) return snapshot;
  const text = `Running ${payload.tool}… ${progressText(payload)}`;
  return { ...snapshot, run: { ...run, note: statusNote(run.id, 'tool_call', text, timestamp) } };
}

export function applyToolCompleted(
  snapshot: OnRun,
  envelope: EnvelopeOf<'agent.tool.completed'>,
): LogSnapshot {
  const { payload, timestamp } = envelope;
  const { tool, tool_call_id: id, success, args = null, args_summary = '' } = payload;
  const { rows, run } = attached(snapshot, { id, name: tool, args, args_summary }, timestamp);
  const open = run.open.filter((other) => other.id !== id);
  const note =
    open.length > 0
      ? openNote(run.id, open, timestamp)
      : statusNote(
          run.id,
          'tool_result',
          `${tool} ${success ? 'has answered' : 'has failed'}.`,
          timestamp,
        );
  return {
    ...snapshot,
    rows: withResult(rows, run, envelope),
    run: { ...withoutWaiting(open.length > 0 ? run : quiet(run), id), open, note },
  };
}

/** Adds a pending approval. The call of a nested agent needs approval too, but is not part of the conversation. */
export function applyApproval(
  snapshot: OnRun,
  envelope: EnvelopeOf<'agent.approval.requested'>,
): LogSnapshot {
  const { payload, execution_id, agent_id, parent_agent_id, timestamp } = envelope;
  const { tool, tool_call_id, args, args_hash, args_summary, hidden } = payload;
  const approval: UiApproval = {
    tool,
    tool_call_id,
    args,
    ...(args_hash && { args_hash }),
    args_summary,
    ...(hidden && { hidden }),
    execution_id,
    agent_id,
  };
  const call: UiToolCall = { id: tool_call_id, name: tool, args, args_summary };
  const { rows, run } =
    parent_agent_id === undefined ? attached(snapshot, call, timestamp) : snapshot;
  const approvals = [...withoutWaiting(run, tool_call_id).approvals, approval];
  return { ...snapshot, rows, run: { ...run, approvals } };
}

/** Removes the lines of nested agents when no call is open. */
const quiet = (run: UiRun): UiRun => ({
  ...run,
  agents: Object.fromEntries(
    Object.entries(run.agents).map(([id, track]) => [id, { ...track, note: null }]),
  ),
});

/** Adds a question of a tool. */
export function applyInput(
  snapshot: OnRun,
  { payload, execution_id, agent_id }: EnvelopeOf<'agent.input.requested'>,
): LogSnapshot {
  const { run } = snapshot;
  const others = run.inputs.filter(({ input_id }) => input_id !== payload.input_id);
  return {
    ...snapshot,
    run: { ...run, inputs: [...others, { ...payload, execution_id, agent_id }] },
  };
}

/** Removes what waits for the user in a call: it runs or has ended. */
export function withoutWaiting(run: UiRun, callId: string): UiRun {
  const isOther = ({ tool_call_id }: { readonly tool_call_id: string }): boolean =>
    tool_call_id !== callId;
  const { approvals, inputs } = run;
  return approvals.every(isOther) && inputs.every(isOther)
    ? run
    : { ...run, approvals: approvals.filter(isOther), inputs: inputs.filter(isOther) };
}

const openNote = (runId: string, open: UiRun['open'], timestamp: string): UiMessage =>
  statusNote(
    runId,
    'tool_call',
    `Running ${[...new Set(open.map(({ name }) => name))].join(', ')}…`,
    timestamp,
  );

/** Adds a call: updates it if it is known, else attaches it to the message of its step, else to a new message. */
function attached(
  snapshot: OnRun,
  call: UiToolCall,
  timestamp: string,
): Pick<OnRun, 'rows' | 'run'> {
  const { rows, run } = snapshot;
  const turn = reachOf(rows, run);
  const known = findInTurn(rows, turn, (row) => hasCall(row, call.id));
  const knownRow = rows[known];
  if (knownRow) {
    const calls = callsOf(knownRow);
    const index = calls.findIndex(({ id }) => id === call.id);
    const before = calls[index] ?? call;
    const merged = mergedCall(before, call);
    const at = run.rowId === knownRow.id ? run : { ...run, rowId: knownRow.id };
    if (merged === before) return { rows, run: at };
    return { rows: rows.with(known, withCalls(knownRow, calls.with(index, merged))), run: at };
  }
  const isNewStep = !run.hasSteps && run.open.length === 0 && isResult(rows[turn.end - 1]);
  // without step envelopes, a call that arrives after all others have answered starts a new step
  const index = isNewStep ? -1 : findInTurn(rows, turn, isRowOf(run));
  const row = rows[index];
  if (row) return { rows: rows.with(index, withCalls(row, [...callsOf(row), call])), run };
  const id = madeId(run, call.id);
  const made: UiMessage = {
    id,
    role: 'assistant',
    content: '',
    timestamp,
    metadata: { tool_calls: [call] },
  };
  return { rows: inserted(rows, turn.end, made), run: { ...run, rowId: id } };
}

/** Returns the id of a message that only has calls. The wire sends no id, so it is named after its first call. */
const madeId = (run: UiRun, callId: string): string => `${run.id}:calls:${callId}`;

/** Whether a row has the call, also under the server's own message id. */
const isRowOf = (run: UiRun) => (row: UiMessage) =>
  run.rowId !== null &&
  (row.id === run.rowId || callsOf(row).some(({ id }) => madeId(run, id) === run.rowId));

const isResult = (row: UiMessage | undefined): boolean => row?.role === 'tool';

const withCalls = (row: UiMessage, tool_calls: readonly UiToolCall[]): UiMessage => ({
  ...row,
  metadata: { ...row.metadata, tool_calls },
});

/** Merges two versions of a call: whole arguments win over a summary of the same arguments. */
function mergedCall(known: UiToolCall, news: UiToolCall): UiToolCall {
  const isSummary = news.args === null && (known.args_summary !== '' || news.args_summary === '');
  if (isSummary && isBeginning(news.args_summary, known.args_summary)) return known;
  return news;
}

const isBeginning = (a: string, b: string): boolean => {
  const [one, other] = [a.replace(/…$/, ''), b.replace(/…$/, '')];
  return one.startsWith(other) || other.startsWith(one);
};

/** Inserts a result below its call, in the order of the calls. */
function withResult(
  rows: MessageList,
  run: UiRun,
  envelope: EnvelopeOf<'agent.tool.completed'>,
): MessageList {
  const { payload, timestamp } = envelope;
  const callId = payload.tool_call_id;
  const turn = reachOf(rows, run);
  const { content, metadata } = resultMetadata(payload);
  const row: UiMessage = { id: `${run.id}:${callId}`, role: 'tool', content, timestamp, metadata };
  const known = findInTurn(rows, turn, ({ metadata }) => metadata.tool_call_id === callId);
  const before = rows[known];
  if (before?.id === row.id) return rows.with(known, row);
  // the server's record has more, but not the duration
  if (before) return rows.with(known, { ...before, metadata: { ...metadata, ...before.metadata } });
  const caller = findInTurn(rows, turn, (other) => hasCall(other, callId));
  const order = rows[caller] ? callsOf(rows[caller]).map(({ id }) => id) : [];
  let index = caller + 1;
  while (index < turn.end && comesBefore(rows[index], callId, order)) index++;
  return inserted(rows, index, row);
}

function comesBefore(
  row: UiMessage | undefined,
  callId: string,
  order: readonly string[],
): boolean {
  const other = row?.metadata.tool_call_id;
  return other !== undefined && order.indexOf(other) < order.indexOf(callId);
}
