import type { Envelope, EnvelopeOf } from '../broadcasting/envelope.ts';
import { applyNested } from './apply-nested.ts';
import { applyStatus, statusNote } from './apply-status.ts';
import {
  applyApproval,
  applyInput,
  applyToolCompleted,
  applyToolProgress,
  applyToolStarted,
} from './apply-tools.ts';
import { compactionRow } from './compaction-row.ts';
import { eventId, eventRow } from './event-row.ts';
import { findInTurn, inserted, rowOf, reachOf } from './message-list.ts';
import {
  entered,
  trackOf,
  withDiscard,
  withTrack,
  type LogSnapshot,
  type UiRun,
} from './log-snapshot.ts';

type OnRun = LogSnapshot & { readonly run: UiRun };

/** Applies one envelope of the log. Call it only in log order. */
export function applyEnvelope(snapshot: LogSnapshot, envelope: Envelope): LogSnapshot {
  const there = entered(snapshot, envelope.execution_id);
  const on: OnRun = { ...there, run: linked(there.run, envelope) };
  if (envelope.parent_agent_id !== undefined) return applyNested(on, envelope);
  switch (envelope.type) {
    case 'agent.status':
      return applyStatus(on, envelope);
    case 'agent.message':
      return applyMessage(on, envelope);
    case 'agent.step.started':
      return stepStarted(on, envelope);
    case 'agent.step.completed':
      return stepCompleted(on, envelope);
    case 'agent.tool.started':
      return applyToolStarted(on, envelope);
    case 'agent.tool.progress':
      return applyToolProgress(on, envelope);
    case 'agent.tool.completed':
      return applyToolCompleted(on, envelope);
    case 'agent.approval.requested':
      return applyApproval(on, envelope);
    case 'agent.input.requested':
      return applyInput(on, envelope);
    case 'agent.context.compacted':
      return applyCompaction(on, envelope);
    case 'agent.model.fallback':
      return applyFallback(on, envelope);
    case 'agent.stream.discarded':
      return { ...on, run: withDiscard(on.run, envelope) };
    default:
      return on;
  }
}

/** Links an envelope to the previous one: a `prev` that was not seen is a gap. */
function linked(run: UiRun, { seq, prev }: Envelope): UiRun {
  const last = seq ?? run.last;
  return (prev ?? 0) <= run.after
    ? { ...run, after: Math.max(run.after, last), last, hasHole: false, isRead: false }
    : { ...run, last, hasHole: true, isRead: false };
}

/** Adds a message, unless the server's record has it already. */
function applyMessage(snapshot: OnRun, envelope: EnvelopeOf<'agent.message'>): LogSnapshot {
  const { rows, run } = snapshot;
  const { payload, timestamp, agent_id } = envelope;
  const { message_id: id, role, step } = payload;
  const { reasoning, files } = payload;
  const said = rowOf({ id, role, timestamp }, payload.content);
  const row =
    reasoning || files
      ? {
          ...said,
          metadata: { ...said.metadata, ...(reasoning && { reasoning }), ...(files && { files }) },
        }
      : said;
  if (role === 'user') {
    const isKnown = rows.some((other) => other.id === id);
    return {
      ...snapshot,
      rows: isKnown ? rows : inserted(rows, reachOf(rows, run).end, row),
      run: { ...run, inputId: id, isOverlaid: isKnown },
    };
  }
  const turn = reachOf(rows, run);
  const isKnown = findInTurn(rows, turn, (other) => other.id === id) >= 0;
  const doneStep = Math.max(trackOf(run, agent_id).doneStep, step);
  return {
    ...snapshot,
    rows: isKnown ? rows : inserted(rows, turn.end, row),
    // the next step announces what follows, if the server sends steps
    run: {
      ...withTrack(run, agent_id, { doneStep }),
      rowId: id,
      note: run.hasSteps ? null : run.note,
    },
  };
}

/** Adds a row for a compaction, unless the server's record has it already. */
function applyCompaction(
  snapshot: OnRun,
  { payload, timestamp }: EnvelopeOf<'agent.context.compacted'>,
): LogSnapshot {
  const { rows, run } = snapshot;
  const row = compactionRow({
    id: payload.compaction_id,
    timestamp,
    kind: payload.kind,
    messages: payload.messages,
    tokensBefore: payload.tokens_before,
    tokensAfter: payload.tokens_after,
    summaryRef: payload.summary_ref,
  });
  const isKnown = rows.some(({ id }) => id === row.id);
  return isKnown ? snapshot : { ...snapshot, rows: inserted(rows, reachOf(rows, run).end, row) };
}

/** Adds a row for a change of the model, unless the server's record has it already. */
function applyFallback(
  snapshot: OnRun,
  { payload, timestamp }: EnvelopeOf<'agent.model.fallback'>,
): LogSnapshot {
  const { rows, run } = snapshot;
  const { step, from, to, error_code: code } = payload;
  const id = eventId.fallback(run.id, step);
  if (rows.some((row) => row.id === id)) return snapshot;
  const row = eventRow({ id, timestamp, event: { kind: 'fallback', step, from, to, code } });
  return { ...snapshot, rows: inserted(rows, reachOf(rows, run).end, row) };
}

function stepStarted(snapshot: OnRun, envelope: EnvelopeOf<'agent.step.started'>): LogSnapshot {
  const { timestamp, agent_id, payload } = envelope;
  const before = payload.step - 1;
  const doneStep = Math.max(trackOf(snapshot.run, agent_id).doneStep, before);
  const run = withTrack(snapshot.run, agent_id, { startedAt: timestamp, doneStep });
  return {
    ...snapshot,
    run: {
      ...run,
      rowId: null,
      hasSteps: true,
      stepCount: Math.max(run.stepCount, before),
      note: statusNote(run.id, 'thinking', 'Thinking…', timestamp),
    },
  };
}

/** Counts the usage of root steps only: a nested agent's usage is part of its caller's step. */
function stepCompleted(snapshot: OnRun, envelope: EnvelopeOf<'agent.step.completed'>): LogSnapshot {
  const { agent_id, payload } = envelope;
  const { step, usage } = payload;
  const doneStep = Math.max(trackOf(snapshot.run, agent_id).doneStep, step);
  const run = withTrack(snapshot.run, agent_id, { doneStep });
  return {
    ...snapshot,
    run: {
      ...run,
      rowId: null,
      hasSteps: true,
      stepCount: Math.max(run.stepCount, step),
      usage: {
        input: run.usage.input + usage.input,
        output: run.usage.output + usage.output,
        total: run.usage.total + usage.total,
      },
    },
  };
}
