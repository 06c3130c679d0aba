import { isoTime } from '../clock.ts';
import { addShares, type FamilyShare } from '../continuation/family-share.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import { addCost, addUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import { messageId, stepId } from '../ids.ts';
import { own } from '../json.ts';
import type { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep, ChildAccount, UnfinishedStep } from './agent-step.ts';
import type { Spending } from './family-shares.ts';
import type { Run } from './run.ts';
import { toolMessage } from './tool-message.ts';

type DraftStart = Pick<StepDraft, 'number' | 'attempt' | 'softLanding' | 'waitedMs' | 'beganAt'> &
  Partial<Pick<StepDraft, 'id' | 'startedAt' | 'messageId' | 'counted'>>;

/** A step while it is being made. Becomes an {@link AgentStep} when it is judged. */
export class StepDraft {
  readonly id: string;
  readonly number: number;
  readonly attempt: number;
  readonly startedAt: string;
  readonly softLanding: string | null;
  readonly waitedMs: number;
  /** Fixed before the first chunk is shown. */
  readonly messageId: string;
  /** Working time, usage and cost of earlier stretches, already in the accounts; null on the first stretch. */
  readonly counted: {
    readonly ms: number;
    readonly usage: Usage;
    readonly cost: number | null;
  } | null;
  readonly beganAt: number;
  calls: readonly ToolCall[] = [];
  /** Why a call must not run, at the call's place. */
  problems: (string | undefined)[] | null = null;
  /** At the call's place; undefined while it is open. */
  results: (ToolResult | undefined)[] = [];
  /** Agents that paused inside a call, by call id. */
  children: Map<string, AgentState> | null = null;
  /** How much of those agents is in this step's accounts, where it is not all of it. */
  childAccounts: Map<string, ChildAccount> | null = null;
  /** Whether a journal has the whole step, with everything needed to continue it. */
  isSaved = false;
  /** Messages of this step that the conversation does not have yet. */
  newMessages: Message[] = [];
  messageIds: string[] = [];
  failure: ErrorRecord | null = null;
  /** Errors of an answered step that belong to no call: a format mismatch, a hook that threw afterwards. */
  extraErrors: ErrorRecord[] | null = null;
  isCut = false;
  usage: Usage = zeroUsage;
  cost: number | null = 0;
  /** Which part of it agents behind its calls have used, in this stretch. */
  family: readonly FamilyShare[] | null = null;
  finishReason: FinishReason | null = null;
  readonly notes: string[] = [];
  /** Text that listeners have seen. */
  shown = '';
  chunks = 0;
  /** Characters of the chunks that told it: secrets are hidden in them. */
  told = 0;
  /** How often the text was begun anew: by a hook, or after a process was lost. */
  restart = 0;
  /** Pieces of reasoning that were emitted, and whether any of them still counts. */
  reasoningPieces = 0;
  hasShownReasoning = false;
  /** The validated value of a response format. */
  output: { readonly value: unknown } | null = null;
  /** Calls whose approval was asked for before. */
  announced: ReadonlySet<string> = nothingAnnounced;

  private constructor(fields: DraftStart) {
    this.id = fields.id ?? stepId();
    this.number = fields.number;
    this.attempt = fields.attempt;
    this.startedAt = fields.startedAt ?? isoTime(fields.beganAt);
    this.softLanding = fields.softLanding;
    this.waitedMs = fields.waitedMs;
    this.messageId = fields.messageId ?? messageId();
    this.beganAt = fields.beganAt;
    this.counted = fields.counted ?? null;
  }

  static next(run: Run, beganAt: number, waitedMs: number): StepDraft {
    const { state, agent } = run;
    const { execution } = state;
    const before = state.steps.at(-1);
    const retried =
      before?.type === 'error' && before.executionId === execution.id ? before : undefined;
    let softLanding: string | null = null;
    // never the first step: an execution gets at least one answer with tools
    if (agent.landingReserve && execution.answeredSteps > 0) {
      // a failed landing is tried again as one, unless a grant has settled it
      const mark = retried && retried.number > execution.handledStep && retried.softLanding;
      softLanding = mark || agent.criteria.landing(state, beganAt, agent.landingReserve, run.deps);
    }
    return new StepDraft({
      number: execution.stepCount + 1,
      attempt: (retried?.attempt ?? 0) + 1,
      softLanding,
      waitedMs,
      beganAt,
    });
  }

  /** Takes up a step that paused: what it had is kept, what it counted is not counted again. */
  static reopened(
    run: Run,
    step: UnfinishedStep,
    revive: (json: unknown) => AgentState,
  ): StepDraft {
    const { id, number, attempt, startedAt } = step;
    const draft = new StepDraft({
      id,
      number,
      attempt,
      startedAt,
      softLanding: step.softLanding ?? null,
      waitedMs: step.waitedMs ?? 0,
      messageId: step.messageIds[0] ?? '',
      beganAt: run.now(),
      counted: { ms: step.durationMs, usage: step.usage, cost: step.cost },
    });
    draft.calls = [...step.toolCalls];
    draft.results = draft.calls.map((call) => step.results.find((r) => r.callId === call.id));
    const children = Object.entries(step.children).map(([id, json]) => [id, revive(json)] as const);
    if (children.length > 0) draft.children = new Map(children);
    if (step.childAccounts) draft.childAccounts = new Map(Object.entries(step.childAccounts));
    if (step.problems) draft.problems = draft.calls.map(({ id }) => own(step.problems ?? {}, id));
    draft.announced = new Set(run.state.pendingApprovals.map(({ callId }) => callId));
    draft.messageIds = [...step.messageIds];
    draft.usage = step.usage;
    draft.cost = step.cost;
    draft.finishReason = step.finishReason;
    draft.notes.push(...step.notes);
    const extra = step.errors.filter(({ toolName }) => toolName === undefined); // the others are in the results
    if (extra.length > 0) draft.extraErrors = extra;
    return draft;
  }

  /** Counts what agents behind its calls have used. */
  addSpending({ usage, cost, shares }: Spending): void {
    this.usage = addUsage(this.usage, usage);
    this.cost = addCost(this.cost, cost);
    this.family = addShares(this.family ?? [], shares);
  }

  addMessage(message: Message): void {
    this.newMessages.push(message);
    this.messageIds.push(message.id);
  }

  /** Hands the new messages over; they are in the conversation from now on. */
  takeMessages(): Message[] {
    const messages = this.newMessages;
    this.newMessages = [];
    return messages;
  }

  get #allResults(): readonly ToolResult[] {
    return this.results.slice() as ToolResult[]; // no call is open
  }

  /** Whether listeners have seen anything that would not count if the model were asked again. */
  get hasShown(): boolean {
    return this.shown !== '' || this.hasShownReasoning;
  }

  get hasOpenCalls(): boolean {
    for (let i = 0; i < this.calls.length; i++) if (!this.results[i]) return true;
    return false;
  }

  /** Places of the calls that have no result yet. */
  get openCalls(): number[] {
    return [...this.calls.keys()].filter((i) => !this.results[i]);
  }

  get errors(): readonly ErrorRecord[] {
    const errors: ErrorRecord[] = [];
    if (this.failure) errors.push(this.failure);
    for (const result of this.results) if (result?.error) errors.push(result.error);
    if (this.extraErrors) errors.push(...this.extraErrors);
    return errors.length > 0 ? errors : noErrors;
  }

  /** The step as a record; evaluation fills in `outcome` and freezes it. */
  toStep(
    executionId: string,
    durationMs: number,
    errors: readonly ErrorRecord[],
    waitMs: number | null,
  ): AgentStep {
    const step: { -readonly [K in keyof AgentStep]: AgentStep[K] } = {
      id: this.id,
      number: this.number,
      executionId,
      type: this.type,
      attempt: this.attempt,
      // exact copies: an array that grew keeps room for a dozen more, and steps are kept for good
      messageIds: this.messageIds.slice(),
      toolCalls: this.calls,
      results: this.hasOpenCalls ? this.results.filter((r) => r !== undefined) : this.#allResults,
      errors,
      usage: this.usage,
      cost: this.cost,
      finishReason: this.finishReason,
      startedAt: this.startedAt,
      durationMs: Math.round(durationMs * 1000) / 1000,
      notes: this.notes.length > 0 ? this.notes : noNotes,
      outcome: null,
    };
    if (waitMs !== null) step.waitMs = waitMs;
    if (this.waitedMs > 0) step.waitedMs = this.waitedMs;
    if (this.softLanding !== null) step.softLanding = this.softLanding;
    return step;
  }

  /** The step while calls are open: with the agents inside them, and why some must not run. */
  toUnfinished(executionId: string, durationMs: number): UnfinishedStep {
    const children = Array.from(
      this.children ?? [],
      ([id, child]) => [id, child.toJSON()] as const,
    );
    // assigned, not spread: this runs once a step where a journal is kept
    const step = this.toStep(executionId, durationMs, this.errors, null);
    const more: Pick<UnfinishedStep, 'type' | 'children' | 'problems' | 'childAccounts'> = {
      type: 'tool_calls',
      children: Object.fromEntries(children),
      ...(this.problems && { problems: this.#openProblems }),
      ...(this.childAccounts && { childAccounts: Object.fromEntries(this.childAccounts) }),
    };
    return Object.assign(step, more);
  }

  get #openProblems(): Record<string, string> {
    const problems = this.openCalls.flatMap((place) => {
      const problem = this.problems?.[place];
      return problem === undefined ? [] : [[this.calls[place]?.id ?? '', problem] as const];
    });
    return Object.fromEntries(problems);
  }

  get type(): AgentStep['type'] {
    if (this.failure) return 'error';
    if (this.isCut) return 'cut';
    return this.calls.length > 0 ? 'tool_calls' : 'final';
  }

  /** Adds the answers to the calls, in call order. */
  addToolMessages(createdAt: string): void {
    for (let i = 0; i < this.calls.length; i++) {
      const call = this.calls[i];
      const result = this.results[i];
      if (!call || !result) continue;
      const isEdited = this.notes.length > 0 && this.notes.includes(`argsEdited:${call.id}`);
      this.addMessage(toolMessage(call, result, isEdited, createdAt));
    }
  }
}

const noNotes: readonly string[] = Object.freeze([]);
const noErrors: readonly ErrorRecord[] = Object.freeze([]);
const nothingAnnounced: ReadonlySet<string> = new Set();
