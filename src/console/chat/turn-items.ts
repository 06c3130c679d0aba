import type { ConversationRow } from '../../react/conversation-rows.ts';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import { sameJson } from '../../json.ts';
import { shouldRenderAssistantContent } from '../../ui/message-rules.ts';
import type { UiMessage } from '../../ui/ui-message.ts';
import { callStatusOf } from './call-status.ts';
import type { CallFact, ModelFailure, TurnFacts } from './trace-facts.ts';

/** One try of a call, or a failed call of the model between two tries. */
export type Try =
  | { readonly kind: 'call'; readonly row: ToolCallItem; readonly fact: CallFact | null }
  | { readonly kind: 'model'; readonly failure: ModelFailure };

/** A call with everything that became of it: tries again are part of it. */
export interface CallItem {
  readonly key: string;
  readonly tries: readonly Try[];
  /** The try that counts. */
  readonly row: ToolCallItem;
  readonly fact: CallFact | null;
}

export type TurnItem =
  | { readonly kind: 'text'; readonly key: string; readonly row: ConversationRow }
  | { readonly kind: 'reasoning'; readonly key: string; readonly row: ConversationRow }
  | CallsItem
  | { readonly kind: 'failures'; readonly key: string; readonly failures: readonly ModelFailure[] }
  | { readonly kind: 'granted'; readonly key: string; readonly line: GrantedLine }
  /** What happens right now, or why it stopped before. */
  | { readonly kind: 'note' | 'stop'; readonly key: string; readonly message: UiMessage };

/** `Granted 5 steps · you · 14:11`. */
export interface GrantedLine {
  /** The row it stands behind; null at the top of the turn. */
  readonly after: string | null;
  readonly text: string;
  readonly at: string;
}

export interface CallsItem {
  readonly kind: 'calls';
  readonly key: string;
  /** Numbers of the first and the last step; null while they are not known. */
  readonly from: number | null;
  readonly to: number | null;
  readonly calls: readonly CallItem[];
  /** What agents inside these calls are doing. */
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

/** The rows of a turn as they are drawn: calls of a step together, a retry in the place of its first try. */
export function turnItems(
  rows: readonly ConversationRow[],
  facts: TurnFacts,
  granted: readonly GrantedLine[] = [],
): readonly TurnItem[] {
  const items: (Exclude<TurnItem, CallsItem> | Group)[] = [];
  let made: Item[] = [];
  let failures = facts.failures;
  let answers = facts.answers;
  /** The group that more can be put into, as long as nothing else came after it. */
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

  /** What follows a grant stands below it, also a retry. */
  const pushGranted = (place: number): void => {
    for (const line of granted) {
      if (placeOf(line, rows) !== place) continue;
      items.push({ kind: 'granted', key: `granted ${line.at}`, line });
      open = null;
      made = [];
    }
  };

  for (const [place, row] of rows.entries()) {
    pushGranted(place);
    const { message, calls } = row;
    if (message.role === 'status') {
      const isNested = message.metadata.agent_id !== undefined;
      if (isNested && open) open.notes.push(message);
      else if (message.metadata.continuation)
        items.push({ kind: 'stop', key: message.id, message });
      else if (!isToldByCalls(message)) items.push({ kind: 'note', key: message.id, message });
      continue;
    }
    const step = stepOf(calls, facts) ?? (calls.length === 0 ? (answers[0] ?? null) : null);
    if (calls.length === 0) answers = answers.slice(1);
    const due = before(step);
    const origins = calls.map((call) => originOf(call, made, place, facts));
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
      Object.assign(origin, { row: call, fact, step: place });
      // its row holds a try of this step too, wherever the row stands
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
      const item = { key: call.call.id, tries, row: call, fact, step: place, group };
      made.push(item);
      group.calls.push(item);
    }
  }
  pushGranted(rows.length);
  pushFailures(failures);
  return items;
}

/** Before which row a line stands. The server may give a row another name: then the time tells. */
function placeOf({ after, at }: GrantedLine, rows: readonly ConversationRow[]): number {
  const known = rows.findIndex(({ message }) => message.id === after);
  if (known >= 0 || after === null) return known + 1;
  const next = rows.findIndex(({ message }) => message.timestamp > at);
  return next < 0 ? rows.length : next;
}

/** Which calls run is seen at the calls. */
const isToldByCalls = ({ metadata: { status_type: type } }: UiMessage): boolean =>
  type === 'tool_call' || type === 'tool_result';

const stepOf = (calls: readonly ToolCallItem[], facts: TurnFacts): number | null => {
  for (const { call } of calls) {
    const known = facts.calls.get(call.id);
    if (known) return known.step;
  }
  return null;
};

/** The failed call that this one tries again: of the same tool, best with the same arguments, in an earlier step. */
function originOf(
  { call }: ToolCallItem,
  made: readonly Item[],
  place: number,
  facts: TurnFacts,
): Item | null {
  const fact = facts.calls.get(call.id);
  if (fact && fact.bar.retry === null) return null;
  const failed = made.filter(
    (item) =>
      item.row.call.name === call.name &&
      item.step < place &&
      callStatusOf(item.row, item.fact).isFailure,
  );
  return failed.findLast(({ row }) => sameJson(row.call.args, call.args)) ?? failed.at(-1) ?? null;
}
