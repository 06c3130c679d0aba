import { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { bookExecution, bookSession, newExecution, type Booking } from '../agent/execution.ts';
import { countsBefore } from '../agent/model-chain.ts';
import type { RunRecord } from '../agent/run-records.ts';
import { withSuccesses } from '../agent/step-account.ts';
import { factsOf } from '../continuation/facts-of.ts';
import { addGrants, type GrantKind, type Grants } from '../continuation/grants.ts';
import { countFailures } from '../continuation/retry-account.ts';
import { isAnswered, type StopRequest } from '../continuation/run-view.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { minusUsage, zeroUsage } from '../inference/usage.ts';
import { isoTime, msOf } from '../clock.ts';
import { earlierSteps, type RecordedExecution } from './recorded-execution.ts';
import type { Judges } from './replay-policy.ts';

/** The state of an execution while its recorded steps are judged again, one after the other. */
export class ReplayedState {
  /** The state before the current step. */
  state: AgentState;
  /** The run that judges the current step; null in records of earlier releases. */
  run: RunRecord | null = null;
  readonly #recorded: RecordedExecution;
  /** Position of the last message of each id; read when criteria of the caller read messages. */
  readonly #positions: ReadonlyMap<string, number>;
  #nextRun = 0;
  #outcomeBefore: AgentStep['outcome'] = null;

  constructor(recorded: RecordedExecution, hasMessages: boolean) {
    this.#recorded = recorded;
    const { execution, info, steps, messages } = recorded;
    const { id, startedAt, firstMessage } = execution;
    const fresh = newExecution(id, startedAt, firstMessage);
    const first = steps[0]?.number ?? 1;
    const base = AgentState.empty({ agentId: 'replay', now: 0 });
    const session = {
      ...info,
      usage: minusUsage(info.usage, execution.usage),
      cost: info.cost === null ? null : info.cost - (execution.cost ?? 0),
      answeredSteps: info.answeredSteps - execution.answeredSteps,
      stepCount: info.stepCount - execution.stepCount,
      cumulativeExecutionSeconds: info.cumulativeExecutionSeconds - execution.cumulativeSeconds,
    };
    this.state = base.with({
      status: 'in_progress',
      execution: first > 1 ? beforeKept(recorded, fresh) : fresh,
      info: session,
      executionStartedAt: null,
      steps: earlierSteps(recorded),
    });
    const ids = hasMessages && messages ? Array.from(messages, ({ id: of }) => of) : [];
    this.#positions = new Map(ids.map((of, at) => [of, at]));
    if (ids.length > 0) this.#readMessages(firstMessage);
  }

  /** Applies the runs that began before a step was judged, or before a time in it. */
  startRuns(step: AgentStep, until: string = '9999'): void {
    const { runs } = this.#recorded.execution;
    if (runs === undefined) return this.#assumeRun(step);
    for (let run = runs[this.#nextRun]; run; run = runs[this.#nextRun]) {
      if (run.afterStep >= step.number || (run.afterStep === step.number - 1 && run.at > until))
        return;
      this.#begin(run, runs[this.#nextRun - 1]);
      this.#nextRun += 1;
    }
  }

  #begin(run: RunRecord, before: RunRecord | undefined): void {
    this.run = run;
    if (before) this.#bookDropped(before);
    const { execution } = this.state;
    this.state = this.state.with({
      execution: {
        ...execution,
        grants: run.grant ? addGrants(execution.grants, run.grant) : execution.grants,
        stretchSeconds: run.seconds ?? null,
        ...(run.isReopened && { handledStep: run.afterStep, stopRequest: null }),
      },
      executionStartedAt: this.#recorded.isNested ? null : run.at,
    });
  }

  /** Returns the totals behind the last step, with what later runs used in steps that they did not finish. */
  totals(): RecordedExecution['execution'] {
    const { runs = [] } = this.#recorded.execution;
    for (let run = runs[this.#nextRun]; run; run = runs[this.#nextRun]) {
      this.#begin(run, runs[this.#nextRun - 1]);
      this.#nextRun += 1;
    }
    const last = runs.at(-1);
    if (last) this.#bookDropped(last);
    return this.state.execution;
  }

  #bookDropped({ at, dropped }: RunRecord): void {
    if (!dropped) return;
    const { tokens, cost, seconds, family = null } = dropped;
    const usage = { ...zeroUsage, total: tokens };
    const booking = { at, usage, cost, seconds, family, step: null };
    this.state = this.state.with({
      execution: bookExecution(this.state.execution, booking),
      info: bookSession(this.state.info, booking),
    });
  }

  /** Reads the run of a step from an older record: a step after a stop follows a grant. */
  #assumeRun({ number, outcome }: AgentStep): void {
    const { execution } = this.state;
    const grants: Partial<Record<GrantKind, number>> = {};
    let startedAt = this.state.executionStartedAt ?? execution.startedAt;
    let stretchSeconds: number | null = null;
    for (const evaluation of outcome?.evaluations ?? []) {
      const facts = factsOf(evaluation);
      if (facts.kind !== 'limit') continue;
      const { unit, granted } = facts;
      if (unit !== 'repeats' && granted > 0) grants[unit] = granted;
      if (evaluation.criterion !== 'ExecutionTimeLimit' || facts.used === null) continue;
      if (facts.limit !== facts.base + facts.granted) stretchSeconds = facts.limit;
      if (outcome?.at !== undefined)
        startedAt = isoTime(Math.round(msOf(outcome.at) - facts.used * 1000));
    }
    const isReopened = this.#outcomeBefore?.shouldContinue === false;
    this.state = this.state.with({
      execution: {
        ...execution,
        grants: { ...execution.grants, ...(grants as Grants) },
        stretchSeconds,
        ...(isReopened && { handledStep: number - 1, stopRequest: null }),
      },
      executionStartedAt: this.#recorded.isNested ? null : startedAt,
    });
  }

  /** Returns the state with a step. Call it once per step: the list of steps grows in place. */
  with(step: AgentStep, judges: Judges): AgentState {
    const { state } = this;
    return state.with({ steps: state.steps.append(step), ...this.booked(step, judges) });
  }

  /** Returns the totals with a step, as the loop counts it. */
  booked(step: AgentStep, { errorPolicy, models }: Judges): Pick<AgentState, 'execution' | 'info'> {
    const { state } = this;
    const { execution } = state;
    const call = {
      isFailed: step.type === 'error',
      model: step.model ?? null,
      isChosen: step.steering?.model !== undefined,
    };
    const before = countsBefore(state, call, models.length > 1);
    const policy = errorPolicy ?? ErrorPolicy.retryAll();
    const booking = bookingOfRecord(step, {
      number: step.number,
      answered: isAnswered(step) ? 1 : 0,
      failures: step.compacts ? before : countFailures(before, step, policy),
      succeededTools: withSuccesses(execution.succeededTools, step),
    });
    return {
      execution: bookExecution(execution, booking),
      info: bookSession(state.info, booking),
    };
  }

  /** Makes a state the one before the next step. */
  advance(state: AgentState, step: AgentStep): void {
    this.state = state;
    this.#outcomeBefore = step.outcome;
    const last = Math.max(-1, ...step.messageIds.map((id) => this.#positions.get(id) ?? -1));
    if (last >= 0) this.#readMessages(last);
  }

  #readMessages(last: number): void {
    const { messages } = this.#recorded;
    const known = this.state.messages.length;
    if (messages === null || last < known) return;
    const more = Array.from({ length: last + 1 - known }, (_, i) => messages.at(known + i));
    this.state = this.state.with({
      messages: this.state.messages.append(...more.flatMap((message) => message ?? [])),
    });
  }

  /** Returns the recorded stop request of a run; null if its record has none of this source. */
  requestBy(source: StopRequest['by']): StopRequest | null {
    const { runs = [], stopRequest } = this.#recorded.execution;
    const stop = this.run?.stop ?? (this.#nextRun >= runs.length ? stopRequest : null);
    return stop?.by === source ? stop : null;
  }
}

/** The usage of a whole recorded step. */
const bookingOfRecord = (step: AgentStep, more: Booking['step']): Booking => ({
  at: step.outcome?.at ?? step.startedAt,
  usage: step.usage,
  cost: step.cost,
  seconds: (step.durationMs + (step.waitedMs ?? 0)) / 1000,
  family: step.family ?? null,
  step: more,
});

/** The totals before the first kept step: those at the end without the kept steps. */
function beforeKept({ execution, steps }: RecordedExecution, fresh: typeof execution) {
  let usage = execution.usage;
  let { cost, cumulativeSeconds, answeredSteps } = execution;
  for (const step of steps) {
    usage = minusUsage(usage, step.usage);
    if (cost !== null) cost -= step.cost ?? 0;
    cumulativeSeconds -= (step.durationMs + (step.waitedMs ?? 0)) / 1000;
    if (isAnswered(step)) answeredSteps -= 1;
  }
  const stepCount = (steps[0]?.number ?? 1) - 1;
  return { ...fresh, usage, cost, cumulativeSeconds, answeredSteps, stepCount };
}
