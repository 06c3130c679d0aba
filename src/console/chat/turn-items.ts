import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import { shouldRenderAssistantContent } from '../../ui/message-rules.ts';
import type { UiMessage } from '../../ui/ui-message.ts';
import type { CallFact, TurnFacts } from './trace-facts.ts';

/** A call, with what the trace knows of it. */
export interface CallItem {
  readonly key: string;
  readonly row: ToolCallItem;
  readonly fact: CallFact | null;
}

export type TurnItem =
  | { readonly kind: 'text'; readonly key: string; readonly row: ConversationRow }
  | { readonly kind: 'reasoning'; readonly key: string; readonly row: ConversationRow }
  | CallsItem
  /** Something that happened between messages, or current activity. */
  | {
      readonly kind: 'event' | 'note' | 'compaction';
      readonly key: string;
      readonly message: UiMessage;
    };

/** The calls of one step. */
export interface CallsItem {
  readonly kind: 'calls';
  readonly key: string;
  /** Number of the step; null while unknown. */
  readonly step: number | null;
  /** Execution of the step; null for the newest one. */
  readonly executionId: string | null;
  readonly calls: readonly CallItem[];
  /** Activity of nested agents in these calls. */
  readonly notes: readonly UiMessage[];
}

/** Converts the rows of a turn to items, in order: each step with its calls, each event in its place. */
export function turnItems(rows: readonly ConversationRow[], facts: TurnFacts): readonly TurnItem[] {
  const items: TurnItem[] = [];
  // the record has a row for each failed call; before it is read, the trace has them
  const known = new Set(
    rows.flatMap(({ message: { metadata } }) =>
      metadata.event?.kind === 'failed_call' || metadata.event?.kind === 'fallback'
        ? [metadata.event.step]
        : [],
    ),
  );
  let failures = facts.failures.filter(({ step }) => !known.has(step));
  let answers = facts.answers;
  const pushFailures = (before: number | null): void => {
    const due = before === null ? [] : failures.filter(({ step }) => step < before);
    failures = failures.slice(due.length);
    for (const { row } of due) items.push({ kind: 'event', key: row.id, message: row });
  };
  for (const row of rows) {
    const { message, calls } = row;
    const { id: key, metadata } = message;
    if (message.role === 'status') {
      const last = items.at(-1);
      if (metadata.agent_id !== undefined && last?.kind === 'calls')
        items[items.length - 1] = { ...last, notes: [...last.notes, message] };
      else if (metadata.compaction) items.push({ kind: 'compaction', key, message });
      else if (metadata.event || metadata.continuation) items.push({ kind: 'event', key, message });
      else if (!isShownByCalls(message)) items.push({ kind: 'note', key, message });
      continue;
    }
    const step =
      metadata.step ?? stepOf(calls, facts) ?? (calls.length === 0 ? (answers[0] ?? null) : null);
    if (calls.length === 0) answers = answers.slice(1);
    pushFailures(step);
    if (metadata.reasoning) items.push({ kind: 'reasoning', key: `reasoning ${key}`, row });
    if (shouldRenderAssistantContent(message)) items.push({ kind: 'text', key, row });
    if (calls.length === 0) continue;
    items.push({
      kind: 'calls',
      key: `calls ${key}`,
      step,
      executionId: metadata.execution_id ?? null,
      calls: calls.map((call) => ({
        key: call.call.id,
        row: call,
        fact: facts.calls.get(call.call.id) ?? null,
      })),
      notes: [],
    });
  }
  pushFailures(Number.POSITIVE_INFINITY);
  return items;
}

/** Whether the calls already show which tools run. */
const isShownByCalls = ({ metadata: { status_type: type } }: UiMessage): boolean =>
  type === 'tool_call' || type === 'tool_result';

const stepOf = (calls: readonly ToolCallItem[], facts: TurnFacts): number | null => {
  for (const { call } of calls) {
    const known = facts.calls.get(call.id);
    if (known) return known.step;
  }
  return null;
};
