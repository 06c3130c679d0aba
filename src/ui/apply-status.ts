import type { EnvelopeOf } from '../broadcasting/envelope.ts';
import { inserted, reachOf, without, type MessageList } from './message-list.ts';
import {
  isEnd,
  noApprovals,
  noInputs,
  trackOf,
  type LogSnapshot,
  type UiRun,
} from './log-snapshot.ts';
import { eventId, eventRow } from './event-row.ts';
import { stopLine, stopText } from './stop-text.ts';
import type { UiMessage, UiStatusType } from './ui-message.ts';
import type { UiStop } from './ui-state.ts';

type OnRun = LogSnapshot & { readonly run: UiRun };

/** Creates the line that shows current activity; the next event removes it. */
export const statusNote = (
  runId: string,
  type: UiStatusType,
  content: string,
  timestamp: string,
): UiMessage => ({
  id: `${runId}:status`,
  role: 'status',
  content,
  timestamp,
  metadata: { status_type: type },
});

export function applyStatus(snapshot: OnRun, envelope: EnvelopeOf<'agent.status'>): LogSnapshot {
  const { rows, run } = snapshot;
  const { payload, timestamp } = envelope;
  const { status } = payload;
  const stepCount = Math.max(run.stepCount, payload.step_count);
  const pauseId = `${run.id}:pause`;
  if (status !== 'paused' && !isEnd(status))
    return {
      ...snapshot,
      rows: withGrant(without(rows, pauseId), run, envelope),
      run: {
        ...run,
        status,
        stepCount,
        stop: null,
        inputs: noInputs,
        note: statusNote(run.id, 'thinking', 'Thinking…', timestamp),
      },
    };
  const stop: UiStop = {
    status,
    step_count: payload.step_count,
    timestamp,
    stop_reason: payload.stop_reason ?? null,
    stop_message: payload.stop_message ?? '',
    resolved_by: payload.resolved_by ?? null,
    remedy: payload.remedy ?? null,
    error_message: payload.error_message ?? null,
    last_response: payload.last_response ?? null,
    ...(payload.explanation && { explanation: payload.explanation }),
  };
  const stopped = { ...run, status, stop, stepCount, note: null };
  const stopId = status === 'paused' ? pauseId : eventId.stop(run.id, payload.step_count);
  const kept = [pauseId, stopId].reduce(without, rows);
  return {
    ...snapshot,
    rows: withStopRow(kept, run, stopId, stop),
    run: status === 'paused' ? stopped : { ...stopped, ...ended(run, envelope.agent_id) },
  };
}

/** Ends the run: no call needs approval or runs, and later text of its steps is ignored. */
function ended(
  run: UiRun,
  rootId: string,
): Pick<UiRun, 'approvals' | 'inputs' | 'open' | 'agents' | 'rowId'> {
  return {
    approvals: noApprovals,
    inputs: noInputs,
    open: [],
    rowId: null,
    agents: { [rootId]: trackOf(run, rootId) },
  };
}

/** Adds the grant that continues the run, unless the server's record has it already. */
function withGrant(
  rows: MessageList,
  run: UiRun,
  { payload: { grant } }: EnvelopeOf<'agent.status'>,
): MessageList {
  if (grant === undefined) return rows;
  const { amounts, by, authority, at: timestamp } = grant;
  const id = eventId.grant(run.id, timestamp);
  if (rows.some((row) => row.id === id)) return rows;
  const row = eventRow({ id, timestamp, event: { kind: 'grant', amounts, by, authority } });
  return inserted(rows, reachOf(rows, run).end, row);
}

function withStopRow(rows: MessageList, run: UiRun, id: string, stop: UiStop): MessageList {
  if (stop.status === 'completed') return rows;
  const { timestamp, stop_reason, resolved_by, remedy, stop_message: reason } = stop;
  const row: UiMessage = {
    id,
    role: 'status',
    content: stopLine(stop),
    timestamp,
    metadata: {
      status_type: stop.status === 'failed' ? 'error' : 'continuation',
      continuation: { should_continue: false, stop_reason, resolved_by, reason, remedy },
      ...(stop.status !== 'paused' && {
        event: { kind: 'stop', step: stop.step_count, headline: stopText(stop).title },
      }),
    },
  };
  return inserted(rows, reachOf(rows, run).end, row);
}
