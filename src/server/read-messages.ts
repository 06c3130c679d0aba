import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { MessageJSON } from '../messages/message.ts';
import { summaryRef } from '../broadcasting/envelope-ref.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionCompaction } from '../sessions/state-rows.ts';
import { compactionRow } from '../ui/compaction-row.ts';
import type { UiMessage } from '../ui/ui-message.ts';
import { toUiMessages } from '../ui/to-ui-messages.ts';

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

/** Maximum pages of steps for one page of messages; results of missing steps have no duration. */
const MAX_PAGES = 5;

/** Reads one page of the conversation as UI messages, with durations and errors of the tools. */
export async function readUiMessages(
  runtime: SessionRuntime,
  sessionId: string,
  options: MessagesQuery & { readonly owner: string; readonly includeReasoning?: boolean },
): Promise<MessagePage> {
  const { owner, before, includeReasoning = false } = options;
  const { items, before: earlier } = await runtime.messages(sessionId, options);
  const hasTools = items.some(({ role }) => role === 'tool');
  const read: StepRead = (range) => runtime.steps(sessionId, { owner, ...range });
  const steps = hasTools ? await stepsOf(read, items, before) : [];
  const rows = toUiMessages(items, { steps, includeReasoning });
  const start = earlier ?? 0;
  const made = await compactionsSince(runtime, sessionId, owner, start);
  const shown = made.filter(
    ({ messageCount }) => before === undefined || messageCount < start + items.length,
  );
  return { messages: withCompactions(rows, shown, items, start), before: earlier };
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
  beforeMessage: number | undefined,
): Promise<readonly AgentStepJSON[]> {
  const missing = new Set(messages.flatMap(({ id, role }) => (role === 'tool' ? [id] : [])));
  const limit = messages.filter(({ role }) => role === 'assistant').length + 10;
  const found: AgentStepJSON[] = [];
  let range: { readonly before?: number; readonly beforeMessage?: number } =
    beforeMessage === undefined ? {} : { beforeMessage };
  for (let pages = 0; pages < MAX_PAGES && missing.size > 0; pages += 1) {
    const page = await read({ limit, ...range });
    found.push(...page.items);
    for (const { messageIds } of page.items) for (const id of messageIds) missing.delete(id);
    if (page.before === null) break;
    range = { before: page.before };
  }
  return found;
}
