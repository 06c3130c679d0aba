import type { ConversationRow } from '../../react/conversation-rows.ts';

/** What a person said, and all that followed until they spoke again. */
export interface Turn {
  readonly id: string;
  /** Null for what came before anybody spoke. */
  readonly user: ConversationRow | null;
  readonly rows: readonly ConversationRow[];
}

/** Turns of `before` that still hold are used again, so that only news is drawn. */
export function turnsOf(
  rows: readonly ConversationRow[],
  before: readonly Turn[] = [],
): readonly Turn[] {
  const turns: { id: string; user: ConversationRow | null; rows: ConversationRow[] }[] = [];
  for (const row of rows) {
    if (row.message.role === 'user') turns.push({ id: row.message.id, user: row, rows: [] });
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

/** The turn that is worked on, or was last: what waits behind it has not begun. */
export const activeTurn = (turns: readonly Turn[]): Turn | null =>
  turns.findLast((turn) => !isWaiting(turn)) ?? turns.at(-1) ?? null;

/** More turns than this are folded when a session is opened, all but the last ones. */
const foldOver = 3;
const keptOpen = 2;

/** From which turn on everything is shown. */
export const firstOpen = (turns: readonly Turn[]): string | null =>
  (turns.length > foldOver ? turns.at(-keptOpen) : turns[0])?.id ?? null;

/** "2 earlier turns · 5 steps", "1 earlier turn · answered in 2 steps": only what the messages show. */
export function earlierText(turns: readonly Turn[]): string {
  const steps = turns
    .flatMap(({ rows }) => rows)
    .filter(({ message }) => message.role === 'assistant').length;
  const last = turns.at(-1)?.rows.at(-1)?.message;
  const isAnswered =
    turns.length === 1 &&
    last?.role === 'assistant' &&
    (last.metadata.tool_calls ?? []).length === 0;
  const count = turns.length === 1 ? '1 earlier turn' : `${turns.length} earlier turns`;
  if (steps === 0) return count;
  return `${count} · ${isAnswered ? 'answered in ' : ''}${steps === 1 ? '1 step' : `${steps} steps`}`;
}
