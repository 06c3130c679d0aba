import { counted } from '../../number-text.ts';
import type { ConversationRow } from '../../react/conversation-rows.ts';

/** Whether the session was forked here. */
export const isFork = ({ message }: ConversationRow): boolean =>
  message.metadata.event?.kind === 'fork';

/** A user message and everything that follows until the next one. */
export interface Turn {
  readonly id: string;
  /** The user message; null before the first one. */
  readonly user: ConversationRow | null;
  readonly rows: readonly ConversationRow[];
}

/** Groups rows into turns. Reuses unchanged turns of `before`, so that only changes render. */
export function turnsOf(
  rows: readonly ConversationRow[],
  before: readonly Turn[] = [],
): readonly Turn[] {
  const turns: { id: string; user: ConversationRow | null; rows: ConversationRow[] }[] = [];
  for (const row of rows) {
    if (row.message.role === 'user') turns.push({ id: row.message.id, user: row, rows: [] });
    // what a fork has copied folds, so that its own steps begin a turn
    else if (isFork(row)) turns.push({ id: row.message.id, user: null, rows: [row] });
    else {
      if (turns.length === 0) turns.push({ id: 'start', user: null, rows: [] });
      turns.at(-1)?.rows.push(row);
    }
  }
  const old = new Map(before.map((turn) => [turn.id, turn]));
  return turns.map((turn) => {
    const known = old.get(turn.id);
    return known && isSame(known, turn) ? known : turn;
  });
}

const isSame = (a: Turn, b: Turn): boolean =>
  a.user === b.user &&
  a.rows.length === b.rows.length &&
  a.rows.every((row, i) => row === b.rows[i]);

const isWaiting = ({ user, rows }: Turn): boolean =>
  user?.message.metadata.pending === true && rows.length === 0;

/** Returns the turn that runs, or ran last: queued turns after it have not started. */
export const activeTurn = (turns: readonly Turn[]): Turn | null =>
  turns.findLast((turn) => !isWaiting(turn)) ?? turns.at(-1) ?? null;

/** Number of turns above which all but the last are folded when a session opens. */
const foldOver = 3;
const keptOpen = 2;

/** Returns the id of the first turn that is not folded. */
export function firstOpen(turns: readonly Turn[]): string | null {
  const forked = turns.findLastIndex(({ rows }) => rows.some(isFork));
  const kept = turns.length > foldOver ? turns.length - keptOpen : 0;
  return turns[Math.max(kept, forked)]?.id ?? null;
}

/** Number of steps, from the messages only: each answer is one. */
const stepsIn = (turns: readonly Turn[]): number =>
  turns.flatMap(({ rows }) => rows).filter(({ message }) => message.role === 'assistant').length;

/** Returns "3 steps from the original run" for what a fork has copied. */
export const inheritedText = (turns: readonly Turn[]): string =>
  `${counted(stepsIn(turns), 'step')} from the original run`;

/** Returns "2 earlier turns · 5 steps" or "1 earlier turn · answered in 2 steps", from the messages only. */
export function earlierText(turns: readonly Turn[]): string {
  const steps = stepsIn(turns);
  const last = turns.at(-1)?.rows.at(-1)?.message;
  const isAnswered =
    turns.length === 1 &&
    last?.role === 'assistant' &&
    (last.metadata.tool_calls ?? []).length === 0;
  const count = turns.length === 1 ? '1 earlier turn' : `${turns.length} earlier turns`;
  if (steps === 0) return count;
  return `${count} · ${isAnswered ? 'answered in ' : ''}${counted(steps, 'step')}`;
}
