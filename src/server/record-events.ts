import type { AgentStepJSON } from '../agent/agent-state.ts';
import { explainOutcome } from '../continuation/explain-outcome.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import { eventId, eventRow } from '../ui/event-row.ts';
import type { UiEvent, UiMessage } from '../ui/ui-message.ts';

/** A step of the record, with its place in the session. */
export interface PlacedStep {
  /** From 0, over all executions. */
  readonly position: number;
  readonly step: AgentStepJSON;
}

/** The step of another session from which this one continues. */
export interface RecordedFork {
  readonly sessionId: string;
  /** Number of copied steps. */
  readonly step: number;
  readonly at: string;
}

export interface RecordEventsInput {
  /** Rows of a page, oldest first. */
  readonly rows: readonly UiMessage[];
  /** The steps that made them, without gaps, oldest first. */
  readonly steps: readonly PlacedStep[];
  readonly grantsOf: (executionId: string) => readonly GrantRecord[];
  readonly fork: RecordedFork | null;
}

/** Most steps without a message that are placed beside their next or previous answer. */
const MAX_REACH = 50;

/** Adds a row for each stop, grant, change of model or settings, failed model call and fork, in order. */
export function withRecordEvents(input: RecordEventsInput): readonly UiMessage[] {
  const { rows, steps, grantsOf, fork } = input;
  const shown = new Set(rows.map(({ id }) => id));
  const idsOf = ({ step }: PlacedStep): readonly string[] =>
    step.messageIds.filter((id) => shown.has(id));
  const before = new Map<string, UiMessage[]>();
  const after = new Map<string, UiMessage[]>();
  const add = (to: Map<string, UiMessage[]>, id: string | undefined, row: UiMessage): void => {
    if (id !== undefined) to.set(id, [...(to.get(id) ?? []), row]);
  };
  for (const [i, placed] of steps.entries()) {
    const { step, position } = placed;
    const own = idsOf(placed);
    const next = steps[i + 1]?.step;
    const isLast = next?.executionId !== step.executionId;
    const following = steps
      .slice(i, i + MAX_REACH)
      .filter((other) => other.step.executionId === step.executionId);
    const first = following.flatMap(idsOf)[0];
    const last =
      own.at(-1) ??
      steps
        .slice(Math.max(0, i - MAX_REACH), i)
        .flatMap(idsOf)
        .at(-1);
    for (const row of beginningOf(step, steps[i - 1]?.step))
      if (first === undefined) add(after, last, row);
      else add(before, first, row);
    const until = isLast ? null : (next?.startedAt ?? null);
    for (const row of endOf(step, grantsOf(step.executionId), until)) add(after, last, row);
    if (fork !== null && position + 1 === fork.step) add(after, last, forkRow(fork));
  }
  return rows.flatMap((row) => [...(before.get(row.id) ?? []), row, ...(after.get(row.id) ?? [])]);
}

/** Rows before the messages of a step. */
function beginningOf(
  step: AgentStepJSON,
  previous: AgentStepJSON | undefined,
): readonly UiMessage[] {
  const { executionId, number, startedAt: timestamp } = step;
  const rowOf = (id: string, event: UiEvent): UiMessage =>
    eventRow({ id, timestamp, event, executionId });
  const changes = changesOf(step, previous?.executionId === executionId ? previous : undefined);
  const settings =
    changes.length === 0
      ? []
      : [rowOf(eventId.settings(executionId, number), { kind: 'settings', step: number, changes })];
  const failed = failureOf(step);
  if (failed === null) return settings;
  const id = failed.kind === 'fallback' ? eventId.fallback : eventId.failedCall;
  return [...settings, rowOf(id(executionId, number), failed)];
}

const MAX_ERROR = 1_000;

function failureOf(
  step: AgentStepJSON,
): Extract<UiEvent, { kind: 'fallback' | 'failed_call' }> | null {
  const { type, number, attempt, errors, model = '', fallback, waitMs = 0, outcome } = step;
  const [error] = errors;
  if (type !== 'error' || !error) return null;
  const { code } = error;
  if (fallback !== undefined)
    return { kind: 'fallback', step: number, from: model, to: fallback, code };
  return {
    kind: 'failed_call',
    step: number,
    attempt,
    code,
    error: error.message.slice(0, MAX_ERROR),
    wait_ms: waitMs,
    will_retry: outcome?.shouldContinue ?? true,
  };
}

/** Names the settings that differ from those of the step before. */
function changesOf(
  { steering: now }: AgentStepJSON,
  previous: AgentStepJSON | undefined,
): readonly string[] {
  const was = previous?.steering;
  const changes: string[] = [];
  if (now?.model !== was?.model) changes.push(`model ${now?.model ?? 'of the agent'}`);
  if (now?.systemHash !== was?.systemHash) changes.push('system prompt');
  return changes;
}

/** Rows after the messages of a step: its stop, and the grants until the next step. */
function endOf(
  { executionId, number, outcome, startedAt }: AgentStepJSON,
  grants: readonly GrantRecord[],
  until: string | null,
): readonly UiMessage[] {
  const rows = grants
    .filter(({ at }) => at >= startedAt && (until === null || at < until))
    .map(({ grant: amounts, by, authority, at }) => ({
      id: eventId.grant(executionId, at),
      timestamp: at,
      event: { kind: 'grant', amounts, by, authority } as const,
      executionId,
    }))
    .map(eventRow);
  if (outcome === null || outcome.shouldContinue || outcome.stopReason === 'completed') return rows;
  const { headline } = explainOutcome(outcome);
  const { stopReason: stop_reason, resolvedBy: resolved_by, at: timestamp = startedAt } = outcome;
  const stop = eventRow({
    id: eventId.stop(executionId, number),
    timestamp,
    event: { kind: 'stop', step: number, headline },
    executionId,
  });
  const continuation = {
    should_continue: false,
    stop_reason,
    resolved_by,
    reason: headline,
    remedy: null,
  };
  return [
    { ...stop, metadata: { ...stop.metadata, status_type: 'continuation', continuation } },
    ...rows,
  ];
}

const forkRow = ({ sessionId: session_id, step, at: timestamp }: RecordedFork): UiMessage =>
  eventRow({
    id: `fork:${session_id}:${step}`,
    timestamp,
    event: { kind: 'fork', session_id, step },
  });
