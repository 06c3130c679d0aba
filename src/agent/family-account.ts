import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { EvaluationFacts } from '../continuation/facts.ts';
import { factsOf } from '../continuation/facts-of.ts';
import { zeroUsage, type Usage } from '../inference/usage.ts';
import type { AgentState } from './agent-state.ts';
import { bookExecution, bookSession } from './execution.ts';
import { addSpending, noSpending, openSteps, unbooked, type Spending } from './family-shares.ts';
import type { Run } from './run.ts';
import { bookingOf } from './step-account.ts';
import type { StepDraft } from './step-draft.ts';

/**
 * Current usage of an agent and all its nested agents. Each agent that calls others has one. A nested model call counts
 * in the account of every agent above it, and starts only if all their limits have capacity.
 */
export class FamilyAccount {
  readonly #run: Run;
  /** This account and those above it, the root's last. */
  readonly #line: readonly FamilyAccount[];
  #draft: StepDraft | null = null;
  /** Usage at the start of the current calls: the step itself, and paused agents that have not reported. */
  #base: Spending = noSpending;
  /** Usage of model calls that have ended since. */
  #live: Spending = noSpending;
  #inFlight = 0;
  /** Maximum usage of one model call so far; null before the first has ended. */
  #largest: { readonly usage: Usage; readonly cost: number } | null = null;
  /** Model calls that wait for one in flight; only the root's list is used. */
  #waiting: (() => void)[] = [];

  private constructor(run: Run) {
    this.#run = run;
    const above = run.parent?.family;
    this.#line = above ? [this, ...above.#line] : [this];
  }

  /** Opens the account of an agent whose step calls another agent. */
  static open(run: Run, draft: StepDraft): FamilyAccount {
    const account = (run.family ??= new FamilyAccount(run));
    if (account.#draft !== draft) account.#begin(draft);
    return account;
  }

  #begin(draft: StepDraft): void {
    this.#draft = draft;
    this.#live = noSpending;
    const { usage, cost, family } = bookingOf(draft, this.#run.now(), null);
    const own: Spending = { usage, cost, shares: family ?? [] };
    // a step with calls is answered, but counted only when it ends
    const open = nameless(1 + openSteps(draft.children ?? []));
    this.#base = [unbooked(draft.children ?? [], draft.childAccounts), open].reduce(
      addSpending,
      own,
    );
    // the usage of a step before a pause may cover more than one call
    if (draft.counted === null) this.#measure(draft.usage, draft.cost);
  }

  /** Used-up limits of this agent and those above. */
  objections(): readonly ContinuationEvaluation[] {
    return this.#line.flatMap((account) =>
      account.#ask(noSpending).map((said) => account.#worded(said)),
    );
  }

  /**
   * Admits a model call of a nested agent. The call waits if calls in flight may use up the rest of a limit. Returns
   * false if a limit is used up or the run was cancelled.
   */
  admit(run: Run): boolean | Promise<boolean> {
    const { cancellation } = run;
    if (cancellation.cause || this.#line.some((account) => account.#isSpent())) return false;
    if (this.#line.some((account) => account.#isBusy())) {
      const turn = new Promise<void>((resolve) => this.#root.#waiting.push(resolve));
      return cancellation.race(turn).then(
        () => this.admit(run),
        () => false,
      );
    }
    for (const account of this.#line) account.#inFlight += 1;
    run.isAdmitted = true;
    return true;
  }

  /** Ends what `admit` started, and counts the usage of the call; `draft` is null if there was no call. */
  leave(run: Run, draft: EndedCall | null): void {
    if (!run.isAdmitted) return;
    run.isAdmitted = false;
    for (const account of this.#line) account.#inFlight -= 1;
    if (draft) this.#add(run.agent.name, draft);
    const waiting = this.#root.#waiting;
    this.#root.#waiting = [];
    for (const wake of waiting) wake();
  }

  #add(agent: string, { usage, cost, failure, isTruncated }: EndedCall): void {
    const isAnswered = failure === null && !isTruncated;
    const steps = isAnswered ? 1 : 0;
    const shares = [{ agent, steps, tokens: usage.total, cost }];
    for (const account of this.#line) {
      account.#live = addSpending(account.#live, { usage, cost, shares });
      // a failure without usage does not show the size of a call
      if (isAnswered || usage.total > 0) account.#measure(usage, cost);
    }
  }

  #measure(usage: Usage, cost: number | null): void {
    const before = this.#largest;
    this.#largest = {
      usage: before === null ? usage : combined(before.usage, usage, Math.max),
      cost: Math.max(before?.cost ?? 0, cost ?? 0),
    };
  }

  #isSpent(): boolean {
    return this.#ask(noSpending).length > 0;
  }

  /** Whether calls in flight may use up a limit. */
  #isBusy(): boolean {
    return this.#inFlight > 0 && this.#ask(this.#reserved()).length > 0;
  }

  /** Assumes that each call in flight uses as much as the largest so far; before there is one, everything. */
  #reserved(): Spending {
    const inFlight = this.#inFlight;
    const { usage, cost } = this.#largest ?? { usage: everything, cost: Number.MAX_SAFE_INTEGER };
    const { shares } = nameless(inFlight);
    return {
      usage: combined(usage, usage, (tokens) => tokens * inFlight),
      cost: cost * inFlight,
      shares,
    };
  }

  #ask(more: Spending): readonly ContinuationEvaluation[] {
    const { agent, redactor, deps } = this.#run;
    const { criteria, landingReserve } = agent;
    const now = this.#run.now();
    return criteria.objections(this.#view(now, more), now, landingReserve, redactor, deps);
  }

  /** State of the agent as if all nested agents had ended now. */
  #view(now: number, more: Spending): AgentState {
    const { state } = this.#run;
    const { usage, cost, shares } = [this.#live, more].reduce(addSpending, this.#base);
    const { at, seconds } = bookingOf(this.#draft as StepDraft, now, null); // `open` has set it
    const booking = { at, seconds, usage, cost, family: shares, step: null };
    return state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
      unfinishedStep: null,
    });
  }

  /** Rewords an objection for a nested agent: names the agent that has the limit, and offers no grant. */
  #worded(said: ContinuationEvaluation): ContinuationEvaluation {
    const { agent, parent } = this.#run;
    const { criterion, decision, stopReason, context } = said;
    const { option, grant } = agent.criteria.list.find(({ name }) => name === criterion) ?? {};
    const raise = `raise the limit of "${agent.name}"${option === undefined ? '' : ` with ${option}`}`;
    const canGrant = grant !== undefined && parent === null;
    const text = canGrant ? `grant more ${grant} to "${agent.name}", or ${raise}.` : `${raise}.`;
    return {
      criterion,
      decision,
      reason: `the limit of "${agent.name}" for all its agents: ${said.reason}`,
      context: { ...context, scope: 'family', agent: agent.name },
      ...(stopReason && { stopReason }),
      remedy: { text, ...(option !== undefined && { option }) },
      facts: factsAbove(said, agent.name),
    };
  }

  get #root(): FamilyAccount {
    return this.#line.at(-1) ?? this;
  }
}

/** What counts of a model call. */
type EndedCall = Pick<StepDraft, 'usage' | 'cost' | 'failure' | 'isTruncated'>;

/** Facts of a parent's limit, which no grant to the nested agent raises. */
function factsAbove(said: ContinuationEvaluation, agent: string): EvaluationFacts {
  const facts = factsOf(said);
  if (facts.kind !== 'limit') return facts;
  const { grant: _, minimum: __, ...rest } = facts;
  return { ...rest, scope: 'family', agent };
}

/** Steps that are not attributed to an agent yet. */
const nameless = (steps: number): Spending => ({
  ...noSpending,
  shares: [{ agent: '', steps, tokens: 0, cost: 0 }],
});

const everything: Usage = Object.freeze({
  ...zeroUsage,
  input: Number.MAX_SAFE_INTEGER,
  output: Number.MAX_SAFE_INTEGER,
  total: Number.MAX_SAFE_INTEGER,
});

const combined = (a: Usage, b: Usage, by: (x: number, y: number) => number): Usage => ({
  input: by(a.input, b.input),
  output: by(a.output, b.output),
  total: by(a.total, b.total),
  cachedInput: by(a.cachedInput, b.cachedInput),
  reasoning: by(a.reasoning, b.reasoning),
});
