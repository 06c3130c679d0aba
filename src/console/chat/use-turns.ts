import { useMemo, useRef, useState } from 'react';
import { conversationRows, type ConversationRow } from '../../react/conversation-rows.ts';
import type { Trace } from '../../trace/trace.ts';
import { noInputs } from '../../ui/log-snapshot.ts';
import type { UiState } from '../../ui/ui-state.ts';
import { factsOf, noFacts, type TurnFacts } from './trace-facts.ts';
import { activeTurn, firstOpen, turnsOf, type Turn } from './turns.ts';

export interface ChatTurns {
  readonly earlier: readonly Turn[];
  readonly shown: readonly Turn[];
  /** The turn that runs, or ran last. */
  readonly active: Turn | null;
  readonly factsOf: (turn: Turn) => TurnFacts;
}

interface Kept {
  rows: readonly ConversationRow[];
  turns: readonly Turn[];
  /** Trace facts of finished turns. */
  facts: Map<string, TurnFacts>;
  newest: { readonly trace: Trace; readonly turnId: string } | null;
}

/** Groups the conversation into turns. Reuses unchanged ones, so that only changes render. */
export function useTurns(
  state: Pick<UiState, 'messages' | 'status' | 'approvals' | 'inputs'>,
  trace: Trace | null,
): ChatTurns {
  const { messages, status, approvals, inputs = noInputs } = state;
  const kept = useRef<Kept>({ rows: [], turns: [], facts: new Map(), newest: null });
  const turns = useMemo(() => {
    const { current } = kept;
    current.rows = conversationRows({ messages, status, approvals, inputs }, current.rows);
    return (current.turns = turnsOf(current.rows, current.turns));
  }, [messages, status, approvals, inputs]);
  const active = activeTurn(turns);
  const activeId = active?.id ?? null;

  const facts = useMemo(() => {
    const { current } = kept;
    const { newest } = current;
    if (newest && newest.turnId !== activeId)
      current.facts.set(newest.turnId, factsOf(newest.trace));
    current.newest = trace && activeId !== null ? { trace, turnId: activeId } : null;
    const known = new Map(current.facts);
    if (trace && activeId !== null) known.set(activeId, factsOf(trace));
    return known;
  }, [trace, activeId]);

  // keep what is open when a session opens: fold only what is before it
  const [from, setFrom] = useState<string | null>(null);
  let start = turns.findIndex(({ id }) => id === from);
  if (start < 0) {
    const first = firstOpen(turns);
    start = Math.max(
      0,
      turns.findIndex(({ id }) => id === first),
    );
    if (first !== from) setFrom(first);
  }
  return {
    earlier: turns.slice(0, start),
    shown: turns.slice(start),
    active,
    factsOf: ({ id }) => facts.get(id) ?? noFacts,
  };
}
