import { durationText, moneyText } from '../../number-text.ts';
import type { ReplaySummary } from '../../server/replay-view.ts';
import { limitFields, type ChangedLimits } from './limit-fields.ts';

/** Which runs the table shows. */
export type Shown = 'changed' | 'cut_short' | 'further' | 'all';

export interface WhatIfSums {
  readonly all: number;
  readonly earlier: number;
  readonly cutShort: number;
  readonly further: number;
  readonly same: number;
  /** Runs that would stop or continue for another reason. */
  readonly other: number;
  readonly savedText: string;
}

/** Counts the runs by what would change, and sums what they would save. */
export function sumsOf(replays: readonly ReplaySummary[]): WhatIfSums {
  const count = (...changes: readonly ReplaySummary['change'][]): number =>
    replays.filter(({ change }) => changes.includes(change)).length;
  return {
    all: replays.length,
    earlier: count('earlier', 'cut_short'),
    cutShort: count('cut_short'),
    further: count('further'),
    same: count('same', 'other'),
    other: count('other'),
    savedText: savedText(replays),
  };
}

function savedText(replays: readonly ReplaySummary[]): string {
  let [cost, all, seconds] = [0, 0, 0];
  for (const { saved, used } of replays) {
    cost += saved.cost ?? 0;
    all += used.cost ?? 0;
    seconds += saved.seconds;
  }
  if (seconds === 0 && cost === 0) return 'Nothing saved';
  const time = durationText(seconds * 1000);
  if (all === 0) return `${time} saved`;
  return `${moneyText(cost)} and ${time} saved, ${Math.round((cost / all) * 100)}% of cost`;
}

export const isShown = ({ change }: ReplaySummary, shown: Shown): boolean =>
  shown === 'all' || (shown === 'changed' ? change !== 'same' : change === shown);

const reasons: Readonly<Record<string, string>> = {
  steps_limit: 'step limit',
  token_limit: 'token limit',
  time_limit: 'time limit',
  retry_limit: 'retries used up',
  error: 'error',
  guard: 'cost limit or guard',
  completed: 'finished',
};

/** What would happen to a run, and why. */
export function changeText(replay: ReplaySummary): { readonly lead: string; readonly why: string } {
  const { change, stopsAt, firstDifference, replayed, difference } = replay;
  const why =
    replayed?.resolvedBy === 'CostLimit'
      ? 'cost limit'
      : (reasons[replayed?.stopReason ?? ''] ?? '');
  switch (change) {
    case 'same':
      return { lead: 'Same', why: '' };
    case 'further':
      return { lead: 'Keeps going', why: `not recorded past step ${firstDifference}` };
    case 'other':
      return { lead: 'Same length', why: `step ${firstDifference}: ${why || 'another reason'}` };
    default: {
      const isIn = difference === 'interrupted';
      return { lead: `Stops ${isIn ? 'in' : 'after'} step ${stopsAt}`, why };
    }
  }
}

/** Writes the changed limits as options of an agent. */
export function codeOf(limits: ChangedLimits, errorPolicy: string): string {
  const { maxSteps, maxTokens, maxCost, seconds } = limits;
  const lines = [
    maxSteps !== undefined && `maxSteps: ${maxSteps},`,
    maxTokens !== undefined && `maxTokens: ${maxTokens},`,
    maxCost !== undefined && `maxCost: ${maxCost},`,
    seconds !== undefined && `timeout: { seconds: ${seconds} },`,
    errorPolicy !== '' && `errorPolicy: ErrorPolicy.${errorPolicy}(),`,
  ].filter((line) => line !== false);
  return `createAgent({\n${lines.map((line) => `  ${line}\n`).join('')}  // …\n});\n`;
}

/** Reads the changed limits from the address. */
export function limitsIn(params: URLSearchParams): ChangedLimits {
  const found = limitFields.flatMap(({ name }) => {
    const value = Number(params.get(name));
    return Number.isFinite(value) && value > 0 ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}
