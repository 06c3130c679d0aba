import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { MessageJSON } from '../messages/message.ts';
import { summaryRef } from '../broadcasting/envelope-ref.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionCompaction } from '../sessions/state-rows.ts';
import { compactionRow } from '../ui/compaction-row.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import { toUiMessages } from '../ui/to-ui-messages.ts';
import { withRecordEvents, type PlacedStep } from './record-events.ts';
import { withRecordMarks } from './record-marks.ts';

export interface MessagesQuery {
  readonly before?: number;
  readonly limit?: number;
}

/** UI messages, oldest first. */
export interface MessagePage {
  readonly messages: readonly UiMessage[];
  /** Cursor of the page before this one; null on the first. */
  readonly before: number | null;
}

/** Maximum pages of steps for one page of messages; rows of missing steps have no marks and events. */
const MAX_PAGES = 5;

/** Reads one page of the conversation as UI messages, with what happened between them. */
export async function readUiMessages(
  runtime: SessionRuntime,
  sessionId: string,
  options: MessagesQuery & { readonly owner: string; readonly includeReasoning?: boolean },
): Promise<MessagePage> {
  const { owner, before, includeReasoning = false } = options;
  const { items, before: earlier } = await runtime.messages(sessionId, options);
  const read: StepRead = (range) => runtime.steps(sessionId, { owner, ...range });
  const { forkedFrom: fork, stepCount } = await runtime.get(sessionId, { owner });
  const placed = await stepsOf(read, items, { before, stepCount });
  const steps = placed.map(({ step }) => step);
  const rows = withRecordMarks(toUiMessages(items, { steps, includeReasoning }), steps);
  const start = earlier ?? 0;
  const made = await compactionsSince(runtime, sessionId, owner, start);
  const shown = made.filter(
    ({ messageCount }) => before === undefined || messageCount < start + items.length,
  );
  const grantsOf = await grantsIn(runtime, sessionId, owner, placed);
  const all = withCompactions(rows, shown, items, start);
  return {
    messages: withRecordEvents({ rows: all, steps: placed, grantsOf, fork }),
    before: earlier,
  };
}

/** Most executions whose grants are read for one page of messages, newest first. */
const GRANTED_EXECUTIONS = 20;

/** Reads the grants of executions that stopped, from the totals after their last step. */
async function grantsIn(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  steps: readonly PlacedStep[],
): Promise<(executionId: string) => readonly GrantRecord[]> {
  const stopped = new Set<string>();
  const last = new Map<string, number>();
  for (const { step, position } of steps) {
    if (step.outcome?.shouldContinue === false) stopped.add(step.executionId);
    last.set(step.executionId, position + 1);
  }
  const found = new Map<string, readonly GrantRecord[]>();
  const now = stopped.size > 0 ? await runtime.accounts(sessionId, { owner }) : null;
  for (const id of [...stopped].slice(-GRANTED_EXECUTIONS)) {
    const accounts =
      now?.execution.id === id
        ? now
        : await runtime.accounts(sessionId, { owner, atStep: last.get(id) ?? 0 });
    found.set(id, accounts?.execution.grantLog ?? []);
  }
  return (executionId) => found.get(executionId) ?? [];
}

/** Most pages of compactions for one page of messages. */
const COMPACTION_PAGES = 10;

/** Reads the compactions that were made at a position or later, oldest first. */
async function compactionsSince(
  runtime: SessionRuntime,
  sessionId: string,
  owner: string,
  start: number,
): Promise<readonly SessionCompaction[]> {
  const found: SessionCompaction[] = [];
  let before: number | null | undefined;
  for (let pages = 0; pages < COMPACTION_PAGES && before !== null; pages++) {
    const range = { owner, limit: 50, ...(before !== undefined && { before }) };
    const page = await runtime.compactions(sessionId, range);
    const since = page.items.filter(({ messageCount }) => messageCount >= start);
    found.unshift(...since);
    if (since.length < page.items.length) break;
    ({ before } = page);
  }
  return found;
}

/** Adds a row for each compaction before the first message that came after it. */
function withCompactions(
  rows: readonly UiMessage[],
  made: readonly SessionCompaction[],
  items: readonly MessageJSON[],
  start: number,
): readonly UiMessage[] {
  if (made.length === 0) return rows;
  const places = new Map(items.map(({ id }, i) => [id, start + i]));
  const left = [...made];
  const all = rows.flatMap((row) => {
    const due = left.findIndex(({ messageCount }) => messageCount > (places.get(row.id) ?? 0));
    const before = left.splice(0, due < 0 ? left.length : due);
    return [...before.map(rowOf), row];
  });
  return [...all, ...left.map(rowOf)];
}

const rowOf = (compaction: SessionCompaction): UiMessage => {
  const { id, at, fromPosition, toPosition } = compaction;
  return compactionRow({
    ...compaction,
    id,
    timestamp: at,
    messages: toPosition - fromPosition,
    ...(compaction.kind === 'summary' && { summaryRef: summaryRef(id) }),
  });
};

type StepRead = (range: {
  readonly before?: number;
  readonly beforeMessage?: number;
  readonly limit: number;
}) => Promise<{ readonly items: readonly AgentStepJSON[]; readonly before: number | null }>;

/** Reads the steps that made these messages: those before a position, newest first. */
async function stepsOf(
  read: StepRead,
  messages: readonly MessageJSON[],
  at: { readonly before: number | undefined; readonly stepCount: number },
): Promise<readonly PlacedStep[]> {
  const missing = new Set(
    messages.flatMap(({ id, role }) => (role === 'tool' || role === 'assistant' ? [id] : [])),
  );
  const limit = messages.filter(({ role }) => role === 'assistant').length + 10;
  const found: PlacedStep[] = [];
  let range: { readonly before?: number; readonly beforeMessage?: number } =
    at.before === undefined ? {} : { beforeMessage: at.before };
  let end = at.before === undefined ? at.stepCount : null;
  for (let pages = 0; pages < MAX_PAGES && missing.size > 0; pages += 1) {
    const page = await read({ limit, ...range });
    // older steps may have been pruned
    const first = page.before ?? Math.max(0, (end ?? page.items.length) - page.items.length);
    found.unshift(...page.items.map((step, i) => ({ step, position: first + i })));
    for (const { messageIds } of page.items) for (const id of messageIds) missing.delete(id);
    if (page.before === null) break;
    range = { before: page.before };
    end = page.before;
  }
  return found;
}
