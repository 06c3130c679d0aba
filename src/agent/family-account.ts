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
 * What an agent and all agents behind its calls have used, at every moment. One for each agent that has called others;
 * a model call inside counts in the account of every agent above it, and begins only if all their limits have room.
 */
export class FamilyAccount {
  readonly #run: Run;
  /** This one and those above it, the root's last. */
  readonly #line: readonly FamilyAccount[];
  #draft: StepDraft | null = null;
  /** As of the start of the calls in work: what the step itself has used, and what paused agents had not booked. */
  #base: Spending = noSpending;
  /** Of calls that have ended since. */
  #live: Spending = noSpending;
  #inFlight = 0;
  /** The largest call so far, by each count; null before the first has ended. */
  #largest: { readonly usage: Usage; readonly cost: number } | null = null;
  /** Calls that wait for one in flight; kept by the agent at the root. */
  #waiting: (() => void)[] = [];

  private constructor(run: Run) {
    this.#run = run;
    const above = run.parent?.family;
    this.#line = above ? [this, ...above.#line] : [this];
  }

  /** The account of an agent whose step is about to call another. */
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
    // steps that call are answered, and counted only when they end
    const open = nameless(1 + openSteps(draft.children ?? []));
    this.#base = [unbooked(draft.children ?? [], draft.childAccounts), open].reduce(
      addSpending,
      own,
    );
    // what a pause has kept of a step is no longer one call
    if (draft.counted === null) this.#measure(draft.usage, draft.cost);
  }

  /** Limits of this agent, or of one above, that are used up. */
  objections(): readonly ContinuationEvaluation[] {
    return this.#line.flatMap((account) =>
      account.#ask(noSpending).map((said) => account.#worded(said)),
    );
  }

  /**
   * Lets a model call of an agent inside begin, or keeps it waiting for one in flight where those may use up the rest.
   * False: a limit is used up, or the run was cancelled.
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

  /** The end of what `admit` let begin, with what the call has used; null where there was no call. */
  leave(run: Run, draft: StepDraft | null): void {
    if (!run.isAdmitted) return;
    run.isAdmitted = false;
    for (const account of this.#line) account.#inFlight -= 1;
    if (draft) this.#book(run.agent.name, draft);
    const waiting = this.#root.#waiting;
    this.#root.#waiting = [];
    for (const wake of waiting) wake();
  }

  #book(agent: string, { usage, cost, failure, isCut }: StepDraft): void {
    const isAnswered = failure === null && !isCut;
    const steps = isAnswered ? 1 : 0;
    const shares = [{ agent, steps, tokens: usage.total, cost }];
    for (const account of this.#line) {
      account.#live = addSpending(account.#live, { usage, cost, shares });
      // a failure that reports nothing says nothing about the size of a call
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

  /** Whether calls in flight may use up what is left. */
  #isBusy(): boolean {
    return this.#inFlight > 0 && this.#ask(this.#reserved()).length > 0;
  }

  /** Every call in flight may become as large as the largest so far; before there is one, it may take everything. */
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

  /** The agent as it would be if everything inside had ended now. */
  #view(now: number, more: Spending): AgentState {
    const { state } = this.#run;
    const { usage, cost, shares } = [this.#live, more].reduce(addSpending, this.#base);
    const { at, seconds } = bookingOf(this.#draft as StepDraft, now, null); // set before anybody asks
    const booking = { at, seconds, usage, cost, family: shares, step: null };
    return state.with({
      execution: bookExecution(state.execution, booking),
      info: bookSession(state.info, booking),
      unfinishedStep: null,
    });
  }

  /** As an agent inside tells it: whose limit it is, and that nothing can be granted here. */
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

/** The limit of an agent above: no grant to the agent inside raises it. */
function factsAbove(said: ContinuationEvaluation, agent: string): EvaluationFacts {
  const facts = factsOf(said);
  if (facts.kind !== 'limit') return facts;
  const { grant: _, minimum: __, ...rest } = facts;
  return { ...rest, scope: 'family', agent };
}

/** Steps that count for all and have no agent yet. */
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
