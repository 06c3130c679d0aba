import type { AgentState, Hook } from 'onward';
import { zeroUsage } from '../../src/inference/usage.ts';
import type { Compaction } from '../../src/agent/compaction.ts';

/** Returns where a conversation can be cut: before a turn, or behind a finished group of calls. */
export function cutsOf({ messages, compactions }: AgentState): readonly number[] {
  const from = compactions.findLast(({ kind }) => kind === 'summary')?.toPosition ?? 0;
  const all = messages.slice(0);
  return all.flatMap((message, at) => {
    const last = all[at - 1];
    const isTurn = message.isUser() && last?.isUser() === false;
    return at > from && (isTurn || (last?.isTool() && !message.isTool())) ? [at] : [];
  });
}

/** Returns where turns begin, behind the newest summary. */
export const turnsOf = (state: AgentState): readonly number[] =>
  cutsOf(state).filter((at) => state.messages.at(at)?.isUser());

let made = 0;

export const compaction = (
  kind: Compaction['kind'],
  fromPosition: number,
  toPosition: number,
): Compaction => ({
  id: `cmp_${made}`,
  kind,
  fromPosition,
  toPosition,
  ...(kind === 'summary' && { text: `Summary ${made++} up to ${toPosition}.`, model: 'small' }),
  tokensBefore: 1_000,
  tokensAfter: 100,
  usage: zeroUsage,
  cost: 0,
  reason: 'threshold',
  at: '2026-01-01T00:00:00.000Z',
});

/** Compacts the conversation at the beginning of each run where `choose` returns compactions. */
export const compacting = (choose: (state: AgentState) => readonly Compaction[]): Hook => ({
  name: 'compacting',
  aroundExecution({ state }, next) {
    const added = choose(state);
    return next({
      state:
        added.length === 0 ? state : state.with({ compactions: [...state.compactions, ...added] }),
    });
  },
});
