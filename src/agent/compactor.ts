import { isoTime } from '../clock.ts';
import { addCost, addUsage, type Usage } from '../inference/usage.ts';
import type { Messages } from '../messages/messages.ts';
import type { AgentState } from './agent-state.ts';
import type { StepCompaction } from './agent-step.ts';
import { noCompaction, uncountedUse } from './compact-first.ts';
import { CompactionAim } from './compaction-aim.ts';
import { newestSummary, type Compaction } from './compaction.ts';
import type { CompactionSettings } from './compaction-options.ts';
import { contextSize, thresholdOf } from './context-size.ts';
import { bookExecution, bookSession } from './execution.ts';
import { modelView } from './model-view.ts';
import { covered, type CompactionPlan } from './plan-compaction.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { writeSummary, type SummaryAttempt } from './write-summary.ts';

/** Growth, as a share of the threshold, after which a compaction that failed is tried again. */
const RETRY_GROWTH = 0.1;
/** Share of the threshold that the request for a summary may have. */
const REQUEST_SHARE = 0.75;

const NOTHING_LEFT =
  'The conversation is too long for the model, and nothing is left that could be left out of the request.';

/** Compacts the conversation of one run, and shows the model what is left of it. */
export class Compactor {
  readonly #run: Run;
  /** Null if only earlier compactions are used. */
  readonly #settings: CompactionSettings | null;
  /** Compactions that a process has written before it died, and that no step has. Their usage is in the totals. */
  #stepless: readonly Compaction[];
  /** Size below which a compaction that failed is not tried again. */
  #retryAt = 0;

  constructor(run: Run) {
    this.#run = run;
    this.#settings = run.agent.compaction;
    this.#stepless = steplessIn(run);
  }

  /** What the model is sent. */
  get view(): Messages {
    const { messages, compactions } = this.#run.state;
    return modelView(messages, compactions);
  }

  /** Compacts before the model call of a step, if it is time. Returns false if the step ends here. */
  async before(draft: StepDraft): Promise<boolean> {
    const settings = this.#settings;
    const stepless = this.#stepless;
    this.#stepless = [];
    if (stepless.length > 0) {
      keep(draft, stepless, stepless, loaded);
      markCounted(draft);
    }
    if (settings === null) return true;
    const isDone = stepless.some(({ reason }) => reason === 'context_length');
    const isForced = !isDone && isTooLong(this.#run);
    const threshold = thresholdOf(this.#run, draft, settings);
    if (!isForced && threshold === null) return true;
    const { tokens } = contextSize(this.#run, draft, this.view, false);
    if (!isForced && tokens < Math.max(threshold ?? 0, this.#retryAt)) return true;
    return this.#compact(draft, new CompactionAim(this.#run, draft, settings, threshold, isForced));
  }

  /** Whether a request that the model refused as too long can be made shorter. */
  canShorten(draft: StepDraft): boolean {
    const settings = this.#settings;
    if (settings === null) return false;
    const threshold = thresholdOf(this.#run, draft, settings);
    return new CompactionAim(this.#run, draft, settings, threshold, true).plan(true) !== null;
  }

  async #compact(draft: StepDraft, aim: CompactionAim): Promise<boolean> {
    const run = this.#run;
    const { cancellation } = run;
    const first = aim.plan(true);
    const attempt = first?.cut ? await this.#summarize(draft, aim, first.cut) : null;
    if (cancellation.cause) {
      draft.isTruncated = true;
      return false;
    }
    let made = first ? aim.made(first, attempt) : [];
    if (attempt !== null && made.every(({ kind }) => kind !== 'summary')) {
      draft.notes.push('summaryFailed');
      const plain = aim.plan(false);
      made = plain ? aim.made(plain, null) : [];
    }
    const left = made.at(-1)?.tokensAfter ?? aim.size.tokens;
    this.#retryAt = left + aim.limit * RETRY_GROWTH;
    if (made.length > 0) await this.#apply(draft, made);
    else if (aim.isForced) {
      draft.failure = run.record({
        type: 'model',
        code: 'context_length',
        message: NOTHING_LEFT,
        retryable: false,
      });
      return false;
    }
    // a summary and its write take time, and a stop may come with the write
    for (let one: Run | null = run; one; one = one.parent) one.meetDeadline(one.now());
    if (cancellation.cause) {
      draft.isTruncated = true;
      return false;
    }
    return attempt === null || this.#mayContinue(draft);
  }

  async #summarize(
    draft: StepDraft,
    aim: CompactionAim,
    cut: NonNullable<CompactionPlan['cut']>,
  ): Promise<SummaryAttempt> {
    const run = this.#run;
    const { messages, compactions } = run.state;
    const attempt = await writeSummary(run, draft, {
      model: aim.model,
      messages: covered(messages, cut),
      before: newestSummary(compactions)?.text ?? null,
      tokens: aim.summaryTokens,
      maxRequest: aim.limit * REQUEST_SHARE,
    });
    keep(draft, [], [attempt], 0);
    return attempt;
  }

  /**
   * Adds compactions and their usage to the state, and waits until they are written: a request must not be based on one
   * that is lost, and the step may never be written.
   */
  async #apply(draft: StepDraft, made: readonly Compaction[]): Promise<void> {
    const run = this.#run;
    const { events, journal } = run;
    const leading = journal?.leading ?? 0;
    keep(draft, made, [], leading);
    const { compactions } = run.state;
    run.state = this.#booked(draft).with({
      compactions: Object.freeze([...compactions, ...made]),
    });
    markCounted(draft);
    if (events.wants('ContextCompacted'))
      for (const one of made)
        events.emit('ContextCompacted', {
          stepNumber: draft.number,
          id: one.id,
          kind: one.kind,
          reason: one.reason,
          messages: messagesOf(one, leading),
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
    const now = run.now();
    const spent = this.#booked(draft);
    if (agent.criteria.objections(spent, now, null, redactor, deps).length > 0) {
      draft.isTruncated = true;
      return false;
    }
    if (agent.landingReserve && state.execution.answeredSteps > 0)
      draft.softLanding ??= agent.criteria.landing(spent, now, agent.landingReserve, deps);
    return true;
  }

  /** The state, with what summaries have used in its totals. */
  #booked(draft: StepDraft): AgentState {
    const { state } = this.#run;
    const { usage, cost } = uncountedUse(draft.compaction ?? noCompaction);
    const at = isoTime(this.#run.now());
    const booking = { at, usage, cost, seconds: 0, family: null, step: null };
    return state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
    });
  }
}

/** Notes that the totals have what summaries have used so far. */
function markCounted(draft: StepDraft): void {
  const before = draft.compaction ?? noCompaction;
  const { usage, cost } = before;
  draft.compaction = { ...before, counted: { usage, cost } };
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

/** Compactions of the execution that no recorded step has. */
function steplessIn({ state: { compactions, steps, execution } }: Run): readonly Compaction[] {
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
  leading: number,
): void {
  const before = draft.compaction ?? noCompaction;
  draft.compaction = {
    ...before,
    made: [...before.made, ...made.map((one) => stepCompaction(one, leading))],
    usage: spent.reduce((sum, { usage }) => addUsage(sum, usage), before.usage),
    cost: spent.reduce((sum, { cost }) => addCost(sum, cost), before.cost),
  };
}

/** A compaction from the store begins where it says, also if that is before the loaded part. */
const loaded: number = Number.NEGATIVE_INFINITY;

/** Number of messages that a compaction covers, without `leading` ones from before the loaded part. */
const messagesOf = ({ fromPosition, toPosition }: Compaction, leading: number): number =>
  toPosition - Math.max(leading, fromPosition);

function stepCompaction(compaction: Compaction, leading: number): StepCompaction {
  const { id, kind, tokensBefore, tokensAfter, reason } = compaction;
  const messages = messagesOf(compaction, leading);
  return { id, kind, messages, tokensBefore, tokensAfter, reason };
}
