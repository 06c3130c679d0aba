import type { AgentState, Hook } from 'onward';
import type { InferenceDriver, InferenceRequest } from 'onward/drivers';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
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

/** A model that finds its step by its last call, because a summary may stand for the earlier ones. */
export function rememberingDriver(...steps: readonly ScenarioStep[]): InferenceDriver {
  const answering = ({ messages }: InferenceRequest): DeterministicDriver => {
    const last = [...messages].flatMap(({ toolCalls: calls }) => calls).at(-1)?.id ?? 'c-1';
    const number = Number(last.slice(1)) + 1;
    const { calls, ...step } = steps[number] ?? ScenarioStep.final('too far');
    return DeterministicDriver.fromSteps({
      ...step,
      calls: calls.map((call) => ({ ...call, id: `c${number}` })),
    });
  };
  return {
    name: 'remembering',
    infer: (request, options) => answering(request).infer(request, options),
    stream: (request, options) => answering(request).stream(request, options),
  };
}

export const summarizingDriver: InferenceDriver = {
  name: 'summarizing',
  infer: (request, options) =>
    DeterministicDriver.fromSteps(
      ScenarioStep.final('A record.', {
        cost: 0.001,
        usage: { input: 100, output: 5, total: 105 },
      }),
    ).infer(request, options),
};
