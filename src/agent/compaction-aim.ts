import { isoTime } from '../clock.ts';
import { compactionId } from '../ids.ts';
import { conversationTokens, textTokens } from '../inference/estimate-tokens.ts';
import { zeroUsage } from '../inference/usage.ts';
import type { Messages } from '../messages/messages.ts';
import type { Compaction } from './compaction.ts';
import type { CompactionSettings } from './compaction-options.ts';
import { contextSize, type ContextSize } from './context-size.ts';
import type { AgentModel } from './model-chain.ts';
import { modelView } from './model-view.ts';
import { planCompaction, type CompactionPlan } from './plan-compaction.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import type { SummaryAttempt } from './write-summary.ts';

/** Share of the threshold that a compaction leaves. */
const TARGET_SHARE = 0.5;
/** Smallest gain that is worth a compaction, as a share of the threshold; after an error, of the request. */
const MIN_GAIN = 0.1;
const MIN_GAIN_AFTER_ERROR = 0.05;
/** Estimated tokens of a summary: a share of the target, at most this many. */
const SUMMARY_TOKENS = 1_500;
const SUMMARY_SHARE = 0.25;
/** How far one compaction should go. */
export class CompactionAim {
  readonly isForced: boolean;
  readonly size: ContextSize;
  /** Tokens of which the view should have half. */
  readonly limit: number;
  readonly summaryTokens: number;
  readonly model: AgentModel;
  readonly #run: Run;
  readonly #settings: CompactionSettings;
  readonly #target: number;

  constructor(
    run: Run,
    draft: StepDraft,
    settings: CompactionSettings,
    threshold: number | null,
    isForced: boolean,
  ) {
    const { messages, compactions } = run.state;
    this.#run = run;
    this.#settings = settings;
    this.isForced = isForced;
    this.model = settings.model ?? draft.model;
    this.size = contextSize(run, draft, modelView(messages, compactions), true);
    const { tokens, fixed, ratio } = this.size;
    this.limit = Math.min(threshold ?? tokens, isForced ? tokens : Number.POSITIVE_INFINITY);
    this.#target = (this.limit * TARGET_SHARE) / ratio - fixed;
    this.summaryTokens = Math.min(
      SUMMARY_TOKENS,
      Math.max(1, (this.limit * TARGET_SHARE * SUMMARY_SHARE) / ratio),
    );
  }

  /** Returns what to leave out; null if too little can be. */
  plan(mayAsk: boolean): CompactionPlan | null {
    const { messages, compactions } = this.#run.state;
    const { keepTurns, clears, summarizes } = this.#settings;
    const plan = planCompaction(messages, compactions, {
      target: this.#target,
      keepTurns,
      clears,
      summarizes: mayAsk && summarizes,
      summaryTokens: this.summaryTokens,
    });
    return plan && this.#isWorth(plan.before - plan.after) ? plan : null;
  }

  /** Whether so many estimated tokens less are worth a new beginning of the prompt. */
  #isWorth(saved: number): boolean {
    const { tokens, ratio } = this.size;
    return saved * ratio >= (this.isForced ? MIN_GAIN_AFTER_ERROR * tokens : MIN_GAIN * this.limit);
  }

  /** Returns the compactions of a plan that make the view shorter; none without its summary, if that does not. */
  made(plan: CompactionPlan, attempt: SummaryAttempt | null): readonly Compaction[] {
    const run = this.#run;
    const { messages, compactions } = run.state;
    const common = {
      reason: this.isForced ? 'context_length' : 'threshold',
      at: isoTime(run.now()),
    } as const;
    const list: Compaction[] = [];
    const { tokens: whole, fixed, ratio } = this.size;
    const before = this.#tokensOf(messages, compactions);
    // never more than there is, however little the provider reported
    const real = Math.min(ratio, whole / Math.max(1, fixed + before));
    let tokens = Math.round(whole);
    const add = (
      one: Omit<Compaction, 'id' | 'tokensBefore' | 'tokensAfter' | 'at' | 'reason'>,
    ): boolean => {
      const made = { id: compactionId(), ...one, tokensBefore: tokens, tokensAfter: 0, ...common };
      const view = this.#tokensOf(messages, [...compactions, ...list, made]);
      const tokensAfter = Math.max(0, Math.round(whole - (before - view) * real));
      if (tokensAfter >= tokens) return false;
      tokens = tokensAfter;
      list.push(Object.freeze({ ...made, tokensAfter, usage: Object.freeze(made.usage) }));
      return true;
    };
    const { cleared, cut } = plan;
    if (cleared)
      add({
        kind: 'tool_results',
        fromPosition: cleared.from,
        toPosition: cleared.to,
        usage: zeroUsage,
        cost: 0,
      });
    if (!cut) return list;
    if (attempt?.text == null || textTokens(attempt.text) > plan.cleaned) return [];
    const isShorter = add({
      kind: 'summary',
      fromPosition: cut.from,
      toPosition: cut.to,
      text: attempt.text,
      model: this.model.id,
      usage: attempt.usage,
      cost: attempt.cost,
    });
    return isShorter ? list : [];
  }

  #tokensOf(messages: Messages, compactions: readonly Compaction[]): number {
    return conversationTokens(modelView(messages, compactions));
  }
}
