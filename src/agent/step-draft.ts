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
import type { ToolResult } from '../tools/tool-result.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStep, ChildAccount, UnfinishedStep } from './agent-step.ts';
import { compactionFields, draftCompaction, type DraftCompaction } from './compact-first.ts';
import type { Spending } from './family-shares.ts';
import type { SentRequest } from './journal.ts';
import { modelFor, type AgentModel } from './model-chain.ts';
import { landingOf } from './landing-of.ts';
import type { GuardRecord } from './guard.ts';
import type { OfferedTools } from './offered-tools.ts';
import type { Run } from './run.ts';
import type { OpenInput } from './open-inputs.ts';
import type { StepSteering } from './steer-step.ts';

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
  model: AgentModel;
  /** Id of the model in the record; null if the agent has only one. */
  modelId: string | null;
  /** Id of the model, if `prepareStep` chose it. */
  steeredModel: string | null = null;
  /** The tools that the model sees. */
  offered: OfferedTools;
  system: string | null;
  /** What differs from the definition, once the model was called. */
  steering: StepSteering | null = null;
  readonly startedAt: string;
  softLanding: string | null;
  readonly waitedMs: number;
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
  /** What guards decided; null without guards. */
  guards: GuardRecord[] | null = null;
  /** Compactions before the model call, and what summaries have used; null without compaction. */
  compaction: DraftCompaction | null = null;
  /** Usage of models that guards have called. */
  guardUsage: { readonly agent: string; readonly usage: Usage; readonly cost: number | null }[] =
    [];
  /** What the request is made of; null before the model call. */
  view: Omit<SentRequest, 'stepId' | 'request'> | null = null;
  modelSignal: AbortSignal | null = null;
  /** What the provider reported about the model call. */
  modelCall: ModelCallInfo | null = null;
  usage: Usage = zeroUsage;
  /** Usage of the model call; null while no nested agent has added to `usage`. */
  modelUsage: Usage | null = null;
  cost: number | null = 0;
  /** Part of it used by nested agents in this run. */
  family: readonly FamilyShare[] | null = null;
  /** What they used in earlier runs of this step. */
  countedFamily: readonly FamilyShare[] | null = null;
  finishReason: FinishReason | null = null;
  readonly notes: string[] = [];
  shown = '';
  chunks = 0;
  /** Length of the emitted chunks, which are redacted. */
  emitted = 0;
  /** Number of restarts of the text, by a hook or after a lost process. */
  restart = 0;
  reasoningPieces = 0;
  hasShownReasoning = false;
  /** The validated value of a response format. */
  output: { readonly value: unknown } | null = null;
  /** Schemas of sourced tools whose calls wait for approval. */
  storedSchemas: readonly ToolSchema[] = [];
  /** Whether the start of the step was emitted. */
  isAnnounced = false;
  /** Calls whose approval was requested earlier. */
  announced: ReadonlySet<string> = nothingAnnounced;

  private constructor(run: Run, fields: DraftStart) {
    this.id = fields.id ?? stepId();
    this.number = fields.number;
    this.attempt = fields.attempt;
    this.model = fields.model;
    this.modelId = fields.modelId;
    this.offered = run.offered;
    this.system = run.agent.systemPrompt;
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
    const softLanding = landingOf(agent, state, beganAt, run.deps);
    const model = modelFor(run);
    return new StepDraft(run, {
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
    const draft = new StepDraft(run, {
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
    if (step.toolSchemas) draft.storedSchemas = step.toolSchemas;
    if (step.inputs) draft.inputs = new Map(step.inputs.map((open) => [open.callId, open]));
    if (step.childAccounts) draft.childAccounts = new Map(Object.entries(step.childAccounts));
    if (step.problems) draft.problems = draft.calls.map(({ id }) => own(step.problems ?? {}, id));
    draft.announced = new Set(run.state.pendingApprovals.map(({ callId }) => callId));
    draft.messageIds = [...step.messageIds];
    draft.steering = step.steering ?? null;
    draft.modelCall = step.modelCall ?? null;
    if (step.guards) draft.guards = [...step.guards];
    draft.compaction = draftCompaction(step);
    draft.usage = step.usage;
    draft.modelUsage = step.modelUsage ?? null;
    draft.countedFamily = step.family ?? null;
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

  /** Counts what guards have used, once the usage of the model call is known. */
  addGuardUsage(): void {
    for (const { agent, usage, cost } of this.guardUsage)
      this.addSpending({ usage, cost, shares: [{ agent, steps: 0, tokens: usage.total, cost }] });
    this.guardUsage = [];
  }

  storedSchema(name: string): ToolSchema | undefined {
    return this.storedSchemas.find((schema) => schema.name === name);
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

  /** Whether anything was streamed that another model call would void. */
  get hasShown(): boolean {
    return this.shown !== '' || this.hasShownReasoning;
  }

  get hasOpenCalls(): boolean {
    return this.calls.some((_call, i) => !this.results[i]);
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
      results: this.results.filter((r) => r !== undefined),
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
    if (this.steering !== null) step.steering = this.steering;
    if (this.guards !== null) step.guards = this.guards.slice();
    if (this.modelCall !== null) step.modelCall = this.modelCall;
    if (this.modelUsage !== null) step.modelUsage = this.modelUsage;
    const family = addShares(this.countedFamily ?? undefined, this.family ?? undefined);
    if (family.length > 0) step.family = family;
    if (this.compaction !== null) Object.assign(step, compactionFields(this.compaction));
    if (waitMs !== null) step.waitMs = waitMs;
    if (this.waitedMs > 0) step.waitedMs = this.waitedMs;
    if (this.softLanding !== null) step.softLanding = this.softLanding;
    return step;
  }

  get type(): AgentStep['type'] {
    if (this.failure) return 'error';
    if (this.isTruncated) return 'cut';
    return this.calls.length > 0 ? 'tool_calls' : 'final';
  }
}

const noNotes: readonly string[] = Object.freeze([]);
const noErrors: readonly ErrorRecord[] = Object.freeze([]);
const nothingAnnounced: ReadonlySet<string> = new Set();
