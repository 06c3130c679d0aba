import { isoTime } from '../clock.ts';
import { addShares, type FamilyShare } from '../continuation/family-share.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { ModelCallInfo } from '../inference/model-call-info.ts';
import { addCost, addUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import { messageId, stepId } from '../ids.ts';
import { own } from '../json.ts';
import type { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { withoutParts, type ToolResult } from '../tools/tool-result.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep, ChildAccount, UnfinishedStep } from './agent-step.ts';
import type { Spending } from './family-shares.ts';
import { modelFor, type AgentModel } from './model-chain.ts';
import type { Run } from './run.ts';
import { openInputsIn, type OpenInput } from './open-inputs.ts';
import { toolMessage } from './tool-message.ts';

type DraftStart = Pick<
  StepDraft,
  'number' | 'attempt' | 'model' | 'modelId' | 'softLanding' | 'waitedMs' | 'beganAt'
> &
  Partial<Pick<StepDraft, 'id' | 'startedAt' | 'messageId' | 'counted'>>;

/** A step in progress. Becomes an {@link AgentStep} when it is evaluated. */
export class StepDraft {
  readonly id: string;
  readonly number: number;
  readonly attempt: number;
  /** The model to call. */
  readonly model: AgentModel;
  /** Id of the model in the record; null if the agent has only one. */
  readonly modelId: string | null;
  readonly startedAt: string;
  readonly softLanding: string | null;
  readonly waitedMs: number;
  /** Set before the first chunk is emitted. */
  readonly messageId: string;
  /** Working time, usage and cost of earlier runs of this step, already in the totals; null in the first run. */
  readonly counted: {
    readonly ms: number;
    readonly usage: Usage;
    readonly cost: number | null;
  } | null;
  readonly beganAt: number;
  calls: readonly ToolCall[] = [];
  /** Why a call must not run, at the index of the call. */
  problems: (string | undefined)[] | null = null;
  /** Results at the index of their call; undefined while the call is open. */
  results: (ToolResult | undefined)[] = [];
  /** Agents that paused inside a call, by call id. */
  children: Map<string, AgentState> | null = null;
  inputs: Map<string, OpenInput> | null = null;
  /** Usage of those agents already in this step's totals, if it is not all of it. */
  childAccounts: Map<string, ChildAccount> | null = null;
  /** Whether a journal has saved the step with everything needed to continue it. */
  isSaved = false;
  /** Messages of this step that are not in the conversation yet. */
  newMessages: Message[] = [];
  messageIds: string[] = [];
  failure: ErrorRecord | null = null;
  /** Errors of an answered step without a call: a format mismatch, or a hook that threw after the answer. */
  extraErrors: ErrorRecord[] | null = null;
  isTruncated = false;
  /** What the provider reported about the model call. */
  modelCall: ModelCallInfo | null = null;
  usage: Usage = zeroUsage;
  /** Usage of the model call; null while no nested agent has added to `usage`. */
  modelUsage: Usage | null = null;
  cost: number | null = 0;
  /** Part of it used by nested agents in this run. */
  family: readonly FamilyShare[] | null = null;
  finishReason: FinishReason | null = null;
  readonly notes: string[] = [];
  /** Streamed text. */
  shown = '';
  chunks = 0;
  /** Length of the emitted chunks, which are redacted. */
  emitted = 0;
  /** Number of restarts of the text, by a hook or after a lost process. */
  restart = 0;
  /** Number of emitted pieces of reasoning. */
  reasoningPieces = 0;
  hasShownReasoning = false;
  /** The validated value of a response format. */
  output: { readonly value: unknown } | null = null;
  /** Calls whose approval was requested earlier. */
  announced: ReadonlySet<string> = nothingAnnounced;

  private constructor(fields: DraftStart) {
    this.id = fields.id ?? stepId();
    this.number = fields.number;
    this.attempt = fields.attempt;
    this.model = fields.model;
    this.modelId = fields.modelId;
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
      // a failed landing step is retried as a landing step, unless a grant settled it
      const mark = retried && retried.number > execution.handledStep && retried.softLanding;
      softLanding = mark || agent.criteria.landing(state, beganAt, agent.landingReserve, run.deps);
    }
    const model = modelFor(run);
    return new StepDraft({
      model,
      modelId: agent.models.length > 1 ? model.id : null,
      number: execution.stepCount + 1,
      attempt: (retried?.attempt ?? 0) + 1,
      softLanding,
      waitedMs,
      beganAt,
    });
  }

  /** Continues a paused step. Keeps its data, and does not count its usage again. */
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
      model: run.agent.models[0], // no further call
      modelId: step.model ?? null,
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
    if (step.inputs) draft.inputs = new Map(step.inputs.map((open) => [open.callId, open]));
    if (step.childAccounts) draft.childAccounts = new Map(Object.entries(step.childAccounts));
    if (step.problems) draft.problems = draft.calls.map(({ id }) => own(step.problems ?? {}, id));
    draft.announced = new Set(run.state.pendingApprovals.map(({ callId }) => callId));
    draft.messageIds = [...step.messageIds];
    draft.modelCall = step.modelCall ?? null;
    draft.usage = step.usage;
    draft.modelUsage = step.modelUsage ?? null;
    draft.cost = step.cost;
    draft.finishReason = step.finishReason;
    draft.notes.push(...step.notes);
    const extra = step.errors.filter(({ toolName }) => toolName === undefined); // the others are in the results
    if (extra.length > 0) draft.extraErrors = extra;
    return draft;
  }

  /** Adds the usage of nested agents. */
  addSpending({ usage, cost, shares }: Spending): void {
    this.modelUsage ??= this.usage;
    this.usage = addUsage(this.usage, usage);
    this.cost = addCost(this.cost, cost);
    this.family = addShares(this.family ?? [], shares);
  }

  addMessage(message: Message): void {
    this.newMessages.push(message);
    this.messageIds.push(message.id);
  }

  /** Removes and returns the new messages, for the conversation. */
  takeMessages(): Message[] {
    const messages = this.newMessages;
    this.newMessages = [];
    return messages;
  }

  get #allResults(): readonly ToolResult[] {
    return this.results.slice() as ToolResult[]; // no call is open
  }

  /** Whether anything was streamed that another model call would void. */
  get hasShown(): boolean {
    return this.shown !== '' || this.hasShownReasoning;
  }

  get hasOpenCalls(): boolean {
    for (let i = 0; i < this.calls.length; i++) if (!this.results[i]) return true;
    return false;
  }

  /** Indexes of the calls without a result. */
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

  /** Returns the step as a record. The evaluation sets `outcome` and freezes it. */
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
      // copied, because an array that grew keeps spare capacity, and steps are kept permanently
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
    if (this.modelId !== null) step.model = this.modelId;
    if (this.modelCall !== null) step.modelCall = this.modelCall;
    if (this.modelUsage !== null) step.modelUsage = this.modelUsage;
    if (waitMs !== null) step.waitMs = waitMs;
    if (this.waitedMs > 0) step.waitedMs = this.waitedMs;
    if (this.softLanding !== null) step.softLanding = this.softLanding;
    return step;
  }

  /** Returns the step with its open calls, paused nested agents and problems. */
  toUnfinished(executionId: string, durationMs: number): UnfinishedStep {
    const children = Array.from(
      this.children ?? [],
      ([id, child]) => [id, child.toJSON()] as const,
    );
    // Object.assign is faster than a spread, and a journal needs this once per step
    const step = this.toStep(executionId, durationMs, this.errors, null);
    const more: Omit<UnfinishedStep, Exclude<keyof AgentStep, 'type'>> = {
      type: 'tool_calls',
      children: Object.fromEntries(children),
      ...(this.inputs && { inputs: openInputsIn(this, this.inputs) }),
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
    if (this.isTruncated) return 'cut';
    return this.calls.length > 0 ? 'tool_calls' : 'final';
  }

  /** Adds the tool messages in call order. */
  addToolMessages(createdAt: string): void {
    for (let i = 0; i < this.calls.length; i++) {
      const call = this.calls[i];
      const result = this.results[i];
      if (!call || !result) continue;
      const isEdited = this.notes.length > 0 && this.notes.includes(`argsEdited:${call.id}`);
      this.addMessage(toolMessage(call, result, isEdited, createdAt));
      if (result.content) this.results[i] = withoutParts(result);
    }
  }
}

const noNotes: readonly string[] = Object.freeze([]);
const noErrors: readonly ErrorRecord[] = Object.freeze([]);
const nothingAnnounced: ReadonlySet<string> = new Set();
