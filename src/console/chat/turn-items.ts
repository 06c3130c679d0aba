import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import { sameJson } from '../../json.ts';
import { shouldRenderAssistantContent } from '../../ui/message-rules.ts';
import type { UiMessage } from '../../ui/ui-message.ts';
import { callStatusOf } from './call-status.ts';
import type { CallFact, ModelFailure, TurnFacts } from './trace-facts.ts';

/** One attempt of a call, or a failed model call between two attempts. */
export type Try =
  | { readonly kind: 'call'; readonly row: ToolCallItem; readonly fact: CallFact | null }
  | { readonly kind: 'model'; readonly failure: ModelFailure };

/** A call with all its attempts. */
export interface CallItem {
  readonly key: string;
  readonly tries: readonly Try[];
  /** The attempt that counts. */
  readonly row: ToolCallItem;
  readonly fact: CallFact | null;
}

export type TurnItem =
  | { readonly kind: 'text'; readonly key: string; readonly row: ConversationRow }
  | { readonly kind: 'reasoning'; readonly key: string; readonly row: ConversationRow }
  | CallsItem
  | { readonly kind: 'failures'; readonly key: string; readonly failures: readonly ModelFailure[] }
  | { readonly kind: 'granted'; readonly key: string; readonly line: GrantedLine }
  /** Current activity, or why an earlier run stopped. */
  | {
      readonly kind: 'note' | 'stop' | 'compaction';
      readonly key: string;
      readonly message: UiMessage;
    };

/** A line such as `You allowed 5 more steps · 14:11`. */
export interface GrantedLine {
  /** The row before it; null at the top of the turn. */
  readonly after: string | null;
  readonly text: string;
  readonly at: string;
}

export interface CallsItem {
  readonly kind: 'calls';
  readonly key: string;
  /** Numbers of the first and the last step; null while unknown. */
  readonly from: number | null;
  readonly to: number | null;
  readonly calls: readonly CallItem[];
  /** Activity of nested agents in these calls. */
  readonly notes: readonly UiMessage[];
}

interface Group {
  kind: 'calls';
  key: string;
  from: number | null;
  to: number | null;
  calls: Item[];
  notes: UiMessage[];
}
interface Item {
  key: string;
  tries: Try[];
  row: ToolCallItem;
  fact: CallFact | null;
  step: number;
  group: Group;
}

/** Converts the rows of a turn to items: calls of a step in one group, a retry in the item of its first attempt. */
export function turnItems(
  rows: readonly ConversationRow[],
  facts: TurnFacts,
  granted: readonly GrantedLine[] = [],
): readonly TurnItem[] {
  const items: (Exclude<TurnItem, CallsItem> | Group)[] = [];
  let made: Item[] = [];
  let failures = facts.failures;
  let answers = facts.answers;
  /** The last group, while more calls may join it. */
  let open: Group | null = null;
  const before = (step: number | null): readonly ModelFailure[] => {
    const due = step === null ? [] : failures.filter((failure) => failure.step < step);
    failures = failures.slice(due.length);
    return due;
  };
  const pushFailures = (due: readonly ModelFailure[]): void => {
    if (due.length === 0) return;
    items.push({ kind: 'failures', key: `failure ${due[0]?.step}`, failures: due });
    open = null;
  };

  /** Adds grants before a row. Later items start below, also a retry. */
  const pushGranted = (index: number): void => {
    for (const line of granted) {
      if (indexOf(line, rows) !== index) continue;
      items.push({ kind: 'granted', key: `granted ${line.at}`, line });
      open = null;
      made = [];
    }
  };

  for (const [index, row] of rows.entries()) {
    pushGranted(index);
    const { message, calls } = row;
    if (message.role === 'status') {
      const isNested = message.metadata.agent_id !== undefined;
      if (isNested && open) open.notes.push(message);
      else if (message.metadata.compaction)
        items.push({ kind: 'compaction', key: message.id, message });
      else if (message.metadata.continuation)
        items.push({ kind: 'stop', key: message.id, message });
      else if (!isShownByCalls(message)) items.push({ kind: 'note', key: message.id, message });
      continue;
    }
    const step = stepOf(calls, facts) ?? (calls.length === 0 ? (answers[0] ?? null) : null);
    if (calls.length === 0) answers = answers.slice(1);
    const due = before(step);
    const origins = calls.map((call) => originOf(call, made, index, facts));
    const first = origins.find((origin) => origin !== null) ?? null;
    if (first) first.tries.push(...due.map((failure) => ({ kind: 'model', failure }) as const));
    else pushFailures(due);
    if (message.metadata.reasoning) {
      items.push({ kind: 'reasoning', key: `reasoning ${message.id}`, row });
      open = null;
    }
    if (shouldRenderAssistantContent(message)) {
      items.push({ kind: 'text', key: message.id, row });
      open = null;
    }
    const fresh = calls.filter((_, i) => origins[i] === null);
    for (const [i, origin] of origins.entries()) {
      const call = calls[i];
      if (!origin || !call) continue;
      const fact = facts.calls.get(call.call.id) ?? null;
      origin.tries.push({ kind: 'call', row: call, fact });
      Object.assign(origin, { row: call, fact, step: index });
      // its item has an attempt of this step too, wherever it is
      if (origin.group.from !== null) origin.group.to = step ?? origin.group.to;
    }
    if (fresh.length === 0) continue;
    const isJoined: boolean = first !== null && first.group === open;
    if (!open || !isJoined) {
      open = {
        kind: 'calls',
        key: `calls ${message.id}`,
        from: step,
        to: step,
        calls: [],
        notes: [],
      };
      items.push(open);
    }
    const group: Group = open;
    for (const call of fresh) {
      const fact = facts.calls.get(call.call.id) ?? null;
      const tries: Try[] = [{ kind: 'call', row: call, fact }];
      const item = { key: call.call.id, tries, row: call, fact, step: index, group };
      made.push(item);
      group.calls.push(item);
    }
  }
  pushGranted(rows.length);
  pushFailures(failures);
  return items;
}

/** Returns the row before which a line belongs. The server may rename a row: then the time decides. */
function indexOf({ after, at }: GrantedLine, rows: readonly ConversationRow[]): number {
  const known = rows.findIndex(({ message }) => message.id === after);
  if (known >= 0 || after === null) return known + 1;
  const next = rows.findIndex(({ message }) => message.timestamp > at);
  return next < 0 ? rows.length : next;
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

/** Finds the failed call that this one retries: the same tool in an earlier step, best with the same arguments. */
function originOf(
  { call }: ToolCallItem,
  made: readonly Item[],
  index: number,
  facts: TurnFacts,
): Item | null {
  const fact = facts.calls.get(call.id);
  if (fact && fact.bar.retry === null) return null;
  const failed = made.filter(
    (item) =>
      item.row.call.name === call.name &&
      item.step < index &&
      callStatusOf(item.row, item.fact).isFailure,
  );
  return failed.findLast(({ row }) => sameJson(row.call.args, call.args)) ?? failed.at(-1) ?? null;
}
