import { messageTokens } from '../inference/estimate-tokens.ts';
import type { Message } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';
import { newestSummary, type Compaction } from './compaction.ts';
import { askedBefore, modelView, shortened } from './model-view.ts';
import { blockedBy, isFromUser, isSent } from './sent-messages.ts';

/** What a compaction may do, and how small it makes the view. */
export interface CompactionGoal {
  /** Most estimated tokens of the messages afterwards. */
  readonly target: number;
  /** Turns that stay whole if possible, the current one included. */
  readonly keepTurns: number;
  readonly clears: boolean;
  readonly summarizes: boolean;
  /** Estimated tokens of a new summary. */
  readonly summaryTokens: number;
}

/** Where a compaction cuts. */
export interface CompactionPlan {
  /** Positions of the results that become notes; null if none does. */
  readonly cleared: { readonly from: number; readonly to: number } | null;
  /** Position of the first message that is not summarized, and of the first that is; null without a summary. */
  readonly cut: { readonly from: number; readonly to: number } | null;
  /** Estimated tokens of the messages: now, with the cleared results, and with a summary of the usual length. */
  readonly before: number;
  readonly cleaned: number;
  readonly after: number;
}

/**
 * Chooses the smallest compaction that reaches the target, else the largest one. Results of turns before the kept ones
 * go first, then whole turns, then groups of calls within the last turn, which keeps its user message and its last group.
 * Null if there is nothing to leave out.
 */
export function planCompaction(
  messages: Messages,
  compactions: readonly Compaction[],
  { target, keepTurns, clears, summarizes, summaryTokens }: CompactionGoal,
): CompactionPlan | null {
  const now = conversationOf(messages, compactions);
  const { from, turns } = now;
  const kept = turns.at(-keepTurns) ?? from;
  const before = now.sizeOf(from, 0);
  const lastGroup = now.groups.at(-1) ?? from;
  const clearedTo = clears ? kept : from;
  const cleaned = now.sizeOf(from, clearedTo);
  const plain: CompactionPlan = { ...now.plan(from, clearedTo), before, cleaned, after: cleaned };
  if (cleaned <= target && plain.cleared) return plain;
  const cuts = summarizes
    ? [...turns, ...now.groups.filter((group) => group > (turns.at(-1) ?? from))].filter(
        (cut) => cut > from && now.saves(cut) > summaryTokens,
      )
    : [];
  const sizes = cuts.map((cut) => now.sizeOf(cut, clearedTo) + summaryTokens);
  const first = sizes.findIndex((size) => size <= target);
  const cut = cuts.at(first);
  if (cut !== undefined && first !== -1)
    return { ...now.plan(cut, clearedTo), before, cleaned, after: sizes[first] ?? cleaned };
  // not enough: results of the kept turns go too, except those that the model has not answered
  const clearedAll = clears ? Math.max(clearedTo, lastGroup) : from;
  const most = now.sizeOf(from, clearedAll);
  if (most <= target && clearedAll > from) {
    const all = now.plan(from, clearedAll);
    if (all.cleared) return { ...all, before, cleaned: most, after: most };
  }
  const deepest = cuts.at(-1);
  if (deepest !== undefined) {
    const after = now.sizeOf(deepest, clearedAll) + summaryTokens;
    return { ...now.plan(deepest, clearedAll), before, cleaned: most, after };
  }
  const all = now.plan(from, clearedAll);
  return all.cleared ? { ...all, before, cleaned: most, after: most } : null;
}

interface Measured {
  /** Position behind the newest summary. */
  readonly from: number;
  /** Positions at which turns of the user begin. */
  readonly turns: readonly number[];
  /** Positions behind finished groups of calls, where no call is separated from its result. */
  readonly groups: readonly number[];
  /** Estimated tokens of the view, cut at a position, with cleared results before another. */
  sizeOf(cut: number, clearedTo: number): number;
  plan(cut: number, clearedTo: number): Pick<CompactionPlan, 'cleared' | 'cut'>;
  /** Estimated tokens that a summary up to a position leaves out. */
  saves(cut: number): number;
}

/** Measures each message once. */
function conversationOf(messages: Messages, compactions: readonly Compaction[]): Measured {
  const all = messages.slice(0);
  const blocked = new Set(all.flatMap(blockedBy));
  const summary = newestSummary(compactions);
  const from = Math.min(summary?.toPosition ?? 0, all.length);
  const view = modelView(messages, compactions);
  const tokens = sum([...view].map(messageTokens));
  const whole: number[] = [];
  const notes: number[] = [];
  const turns: number[] = [];
  const groups: number[] = [];
  const isCleared = (at: number): boolean =>
    compactions.some(
      ({ kind, fromPosition, toPosition }) =>
        kind === 'tool_results' && fromPosition <= at && at < toPosition,
    );
  for (const [at, message] of all.entries()) {
    const isShown = at >= from && isSent(message, blocked);
    const note = isShown ? messageTokens(shortened(message)) : 0;
    notes.push(note);
    whole.push(!isShown ? 0 : isCleared(at) ? note : messageTokens(message));
    if (at < from) continue;
    const last = all[at - 1];
    if (isFromUser(message) && !isFromUser(last)) turns.push(at);
    if (last?.isTool() && !message.isTool()) groups.push(at);
  }
  const wholeSums = sums(whole);
  const noteSums = sums(notes);
  const before = tokens - (wholeSums.at(-1) ?? 0);
  const systemSums = sums(all.map((message) => (message.isSystem() ? messageTokens(message) : 0)));
  const at = (list: readonly number[], index: number): number => list[index] ?? 0;
  const sizeOf = (cut: number, clearedTo: number): number => {
    const split = Math.max(cut, Math.min(clearedTo, all.length));
    const rest =
      at(noteSums, split) - at(noteSums, cut) + at(wholeSums, all.length) - at(wholeSums, split);
    if (cut === from) return before + rest;
    const asked = askedBefore(messages, cut, blocked);
    return at(systemSums, cut) + (asked ? messageTokens(asked) : 0) + rest;
  };
  const firstToClear = (cut: number, to: number): number => {
    for (let i = cut; i < Math.min(to, all.length); i++) if (at(whole, i) > at(notes, i)) return i;
    return -1;
  };
  return {
    from,
    turns,
    groups,
    sizeOf,
    saves: (cut) => at(wholeSums, cut) - at(wholeSums, from),
    plan(cut, clearedTo) {
      const first = firstToClear(cut, clearedTo);
      return {
        cleared: first === -1 ? null : { from: first, to: clearedTo },
        cut: cut === from ? null : { from, to: cut },
      };
    },
  };
}

const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);

/** Returns the sum of the numbers before each position. */
function sums(list: readonly number[]): readonly number[] {
  const all = [0];
  for (const one of list) all.push((all.at(-1) ?? 0) + one);
  return all;
}

/** The messages that a summary covers, without those that a guard has blocked. */
export function covered(
  messages: Messages,
  { from, to }: { readonly from: number; readonly to: number },
): readonly Message[] {
  const blocked = new Set(messages.slice(0).flatMap(blockedBy));
  return messages.slice(from, to).filter((message) => isSent(message, blocked));
}
