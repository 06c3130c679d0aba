import type { Message } from '../messages/message.ts';

/** The messages that a shortened conversation keeps. */
export interface Selection {
  /** Indexes in the conversation, ascending. */
  readonly kept: readonly number[];
  readonly droppedTurns: number;
  readonly keptTurns: number;
  /** Length of the newest turn if it alone exceeds `maxMessages`, else 0. */
  readonly turnOverLimit: number;
}

/**
 * Selects the system messages and the newest whole turns. A turn starts at a user message that is not synthetic, so a
 * call and its result stay together. The newest turn is always kept.
 */
export function selectTurns(
  messages: readonly Message[],
  limits: { readonly maxMessages: number | null; readonly maxTurns: number | null },
): Selection {
  const system: number[] = [];
  const turns: number[][] = [];
  for (const [place, message] of messages.entries()) {
    if (message.isSystem()) system.push(place);
    else if (turns.length === 0 || beginsTurn(message)) turns.push([place]);
    else turns.at(-1)?.push(place);
  }
  const capacity = (limits.maxMessages ?? Number.POSITIVE_INFINITY) - system.length;
  const maxTurns = limits.maxTurns ?? Number.POSITIVE_INFINITY;
  const newest = turns.at(-1)?.length ?? 0;
  let length = 0;
  let first = turns.length;
  for (let i = turns.length - 1; i >= 0; i--) {
    length += turns[i]?.length ?? 0;
    const isNewest = i === turns.length - 1;
    if (!isNewest && (length > capacity || turns.length - i > maxTurns)) break;
    first = i;
  }
  const kept = [...system, ...turns.slice(first).flat()].toSorted((a, b) => a - b);
  return {
    kept,
    droppedTurns: first,
    keptTurns: turns.length - first,
    turnOverLimit: newest > capacity ? newest : 0,
  };
}

const beginsTurn = (message: Message): boolean =>
  message.isUser() && message.metadata['synthetic'] !== true;
