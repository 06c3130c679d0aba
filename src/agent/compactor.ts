import { isoTime } from '../clock.ts';
import { compactionId } from '../ids.ts';
import { conversationTokens, textTokens } from '../inference/estimate-tokens.ts';
import { addCost, addUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import type { Messages } from '../messages/messages.ts';
import type { StepCompaction } from './agent-step.ts';
import { newestSummary, type Compaction } from './compaction.ts';
import type { CompactionSettings } from './compaction-options.ts';
import { contextSize, thresholdOf, type ContextSize } from './context-size.ts';
import { bookExecution, bookSession } from './execution.ts';
import { modelView } from './model-view.ts';
import { covered, planCompaction, type CompactionPlan } from './plan-compaction.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { writeSummary, type SummaryAttempt } from './write-summary.ts';

/** Share of the threshold that a compaction leaves. */
const TARGET_SHARE = 0.5;
/** Smallest gain that is worth a compaction, as a share of the threshold; after an error, of the request. */
const MIN_GAIN = 0.1;
const MIN_GAIN_AFTER_ERROR = 0.05;
/** Growth, as a share of the threshold, after which a compaction that failed is tried again. */
const RETRY_GROWTH = 0.1;
/** Estimated tokens of a summary: a share of the target, at most this many. */
const SUMMARY_TOKENS = 1_500;
const SUMMARY_SHARE = 0.25;
/** Share of the threshold that the request for a summary may have. */
const REQUEST_SHARE = 0.75;

const NOTHING_LEFT =
  'The conversation is too long for the model, and nothing is left that could be left out of the request.';

/** Compacts the conversation of one run, and shows the model what is left of it. */
export class Compactor {
  readonly #run: Run;
  /** Null if only earlier compactions are used. */
  readonly #settings: CompactionSettings | null;
  /** Compactions that a process has written before it died, and that no step has counted. */
  #uncounted: readonly Compaction[];
  /** Size below which a compaction that failed is not tried again. */
  #retryAt = 0;

  constructor(run: Run) {
    this.#run = run;
    this.#settings = run.agent.compaction;
    this.#uncounted = uncountedIn(run);
  }

  /** What the model is sent. */
  get view(): Messages {
    const { messages, compactions } = this.#run.state;
    return modelView(messages, compactions);
  }

  /** Compacts before the model call of a step, if it is time. Returns false if the step ends here. */
  async before(draft: StepDraft): Promise<boolean> {
    const settings = this.#settings;
    const uncounted = this.#uncounted;
    this.#uncounted = [];
    if (uncounted.length > 0) keep(draft, uncounted, uncounted);
    if (settings === null) return true;
    const isDone = uncounted.some(({ reason }) => reason === 'context_length');
    const isForced = !isDone && isTooLong(this.#run);
    const threshold = thresholdOf(this.#run, draft, settings);
    if (!isForced && threshold === null) return true;
    const { tokens } = contextSize(this.#run, draft, this.view, false);
    if (!isForced && tokens < Math.max(threshold ?? 0, this.#retryAt)) return true;
    return this.#compact(draft, new Goal(this.#run, draft, settings, threshold, isForced));
  }

  /** Whether a request that the model refused as too long can be made shorter. */
  canShorten(draft: StepDraft): boolean {
    const settings = this.#settings;
    if (settings === null) return false;
    const threshold = thresholdOf(this.#run, draft, settings);
    return new Goal(this.#run, draft, settings, threshold, true).plan(true) !== null;
  }

  async #compact(draft: StepDraft, goal: Goal): Promise<boolean> {
    const run = this.#run;
    const { cancellation } = run;
    const first = goal.plan(true);
    const attempt = first?.cut ? await this.#summarize(draft, goal, first.cut) : null;
    if (cancellation.cause) {
      draft.isTruncated = true;
      return false;
    }
    let made = first ? goal.made(first, attempt) : [];
    if (attempt !== null && made.every(({ kind }) => kind !== 'summary')) {
      draft.notes.push('summaryFailed');
      const plain = goal.plan(false);
      made = plain ? goal.made(plain, null) : [];
    }
    const left = made.at(-1)?.tokensAfter ?? goal.size.tokens;
    this.#retryAt = left + goal.limit * RETRY_GROWTH;
    if (made.length > 0) await this.#apply(draft, made);
    else if (goal.isForced) {
      draft.failure = run.record({
        type: 'model',
        code: 'context_length',
        message: NOTHING_LEFT,
        retryable: false,
      });
      return false;
    }
    return attempt === null || this.#mayContinue(draft);
  }

  async #summarize(
    draft: StepDraft,
    goal: Goal,
    cut: NonNullable<CompactionPlan['cut']>,
  ): Promise<SummaryAttempt> {
    const run = this.#run;
    const { messages, compactions } = run.state;
    const attempt = await writeSummary(run, draft, {
      model: goal.model,
      messages: covered(messages, cut),
      before: newestSummary(compactions)?.text ?? null,
      tokens: goal.summaryTokens,
      maxRequest: goal.limit * REQUEST_SHARE,
    });
    keep(draft, [], [attempt]);
    return attempt;
  }

  /** Adds compactions to the state, and waits until they are written: a request must not be based on one that is lost. */
  async #apply(draft: StepDraft, made: readonly Compaction[]): Promise<void> {
    const run = this.#run;
    const { state, events } = run;
    run.state = state.with({ compactions: Object.freeze([...state.compactions, ...made]) });
    keep(draft, made, []);
    if (events.wants('ContextCompacted'))
      for (const one of made)
        events.emit('ContextCompacted', {
          stepNumber: draft.number,
          id: one.id,
          kind: one.kind,
          reason: one.reason,
          messages: one.toPosition - Math.max(0, one.fromPosition),
          tokensBefore: one.tokensBefore,
          tokensAfter: one.tokensAfter,
          ...(one.text !== undefined && { text: events.redacted(one.text) }),
          ...(one.model !== undefined && { model: one.model }),
          usage: one.usage,
          cost: one.cost,
        });
    await run.journal?.compacted(run.state);
  }

  /** Asks the limits again after a call for a summary, and decides whether the step is the last one. */
  #mayContinue(draft: StepDraft): boolean {
    const run = this.#run;
    const { agent, state, redactor, deps } = run;
    const { usage, cost } = draft.compaction ?? { usage: zeroUsage, cost: 0 };
    const now = run.now();
    const booking = { at: isoTime(now), usage, cost, seconds: 0, family: null, step: null };
    const spent = state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
    });
    if (agent.criteria.objections(spent, now, null, redactor, deps).length > 0) {
      draft.isTruncated = true;
      return false;
    }
    if (agent.landingReserve && state.execution.answeredSteps > 0)
      draft.softLanding ??= agent.criteria.landing(spent, now, agent.landingReserve, deps);
    return true;
  }
}

/** How far one compaction should go. */
class Goal {
  readonly isForced: boolean;
  readonly size: ContextSize;
  /** Tokens of which the view should have half. */
  readonly limit: number;
  readonly summaryTokens: number;
  readonly model: CompactionSettings['model'] & {};
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

  /** Returns the compactions of a plan, without a summary that failed or does not make the view shorter. */
  made(plan: CompactionPlan, attempt: SummaryAttempt | null): readonly Compaction[] {
    const run = this.#run;
    const { messages, compactions } = run.state;
    const common = {
      reason: this.isForced ? 'context_length' : 'threshold',
      at: isoTime(run.now()),
    } as const;
    const list: Compaction[] = [];
    const before = this.#tokensOf(messages, compactions);
    let tokens = Math.round(this.size.tokens);
    const add = (
      one: Omit<Compaction, 'id' | 'tokensBefore' | 'tokensAfter' | 'at' | 'reason'>,
    ) => {
      const made: Compaction = {
        id: compactionId(),
        ...one,
        tokensBefore: tokens,
        tokensAfter: 0,
        ...common,
      };
      const view = this.#tokensOf(messages, [...compactions, ...list, made]);
      tokens = Math.max(0, Math.round(this.size.tokens - (before - view) * this.size.ratio));
      list.push(Object.freeze({ ...made, tokensAfter: tokens, usage: Object.freeze(made.usage) }));
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
    add({
      kind: 'summary',
      fromPosition: cut.from,
      toPosition: cut.to,
      text: attempt.text,
      model: this.model.id,
      usage: attempt.usage,
      cost: attempt.cost,
    });
    const last = list.at(-1);
    return last && this.size.tokens - last.tokensAfter > 0 ? list : [];
  }

  #tokensOf(messages: Messages, compactions: readonly Compaction[]): number {
    return conversationTokens(modelView(messages, compactions));
  }
}

/** Whether the model refused the newest request as too long, and a shorter one is to be tried. */
function isTooLong({ state: { steps, execution } }: Run): boolean {
  const last = steps.at(-1);
  return (
    last?.compacts === true &&
    last.executionId === execution.id &&
    last.number > execution.handledStep
  );
}

/** Compactions of the execution that no recorded step has counted. */
function uncountedIn({ state: { compactions, steps, execution } }: Run): readonly Compaction[] {
  const since = execution.startedAt ?? '';
  const open = new Map(compactions.flatMap((one) => (one.at >= since ? [[one.id, one]] : [])));
  let known = 0;
  // also steps before the execution, which may have begun in the same millisecond
  for (let i = steps.length - 1; i >= 0 && open.size > 0; i--) {
    const step = steps.at(i);
    if (step?.executionId === execution.id) known += 1;
    for (const { id } of step?.compactions ?? []) open.delete(id);
  }
  return known < execution.stepCount ? [] : [...open.values()];
}

/** Keeps in the step which compactions it made, and what calls for summaries have used. */
function keep(
  draft: StepDraft,
  made: readonly Compaction[],
  spent: readonly { readonly usage: Usage; readonly cost: number | null }[],
): void {
  const before = draft.compaction ?? { made: [], usage: zeroUsage, cost: 0 };
  draft.compaction = {
    made: [...before.made, ...made.map(stepCompaction)],
    usage: spent.reduce((sum, { usage }) => addUsage(sum, usage), before.usage),
    cost: spent.reduce((sum, { cost }) => addCost(sum, cost), before.cost),
  };
}

const stepCompaction = ({
  id,
  kind,
  fromPosition,
  toPosition,
  tokensBefore,
  tokensAfter,
  reason,
}: Compaction): StepCompaction => ({
  id,
  kind,
  messages: toPosition - Math.max(0, fromPosition),
  tokensBefore,
  tokensAfter,
  reason,
});
