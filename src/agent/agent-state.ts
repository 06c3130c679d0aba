import { AppendOnly } from '../append-only.ts';
import { isoTime, syncSystemClock, systemClock } from '../clock.ts';
import type { ContinuationOutcome, ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import type { PendingApproval, PendingInput } from '../events/agent-event.ts';
import { uuid } from '../ids.ts';
import type { Usage } from '../inference/usage.ts';
import {
  jsonCopy,
  MOST_LEVELS,
  type DeepPartial,
  type JsonObject,
  type JsonValue,
} from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { Message, type MessageInput, type MessageJSON } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import { noRules, withoutRules, type ApprovalRule } from './approval-rules.ts';
import { noCompactions, type Compaction } from './compaction.ts';
import { AgentStatus, isOpen, type PauseKind } from './agent-status.ts';
import type { AgentStep, UnfinishedStep } from './agent-step.ts';
import {
  frozenExecution,
  frozenInfo,
  newExecution,
  newSessionInfo,
  type Execution,
  type SessionInfo,
} from './execution.ts';
import { namedApprovals } from './named-approvals.ts';
import { readStateDocument } from './state-document.ts';
import { versionOf } from './state-migrations.ts';

/** Why a run is paused, and since when. */
export interface Pause {
  readonly kind: PauseKind;
  readonly at: string;
  readonly reason?: string;
  readonly pendingApprovals: readonly PendingApproval[];
  /** Questions of tools; absent if there are none. */
  readonly pendingInputs?: readonly PendingInput[];
}

/** The fields of a state, with its lists as objects. */
export interface AgentStateData<Output = unknown> {
  readonly version: 1 | 2;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly parentAgentId: string | null;
  readonly status: AgentStatus;
  readonly info: SessionInfo;
  readonly execution: Execution;
  readonly executionStartedAt: string | null;
  readonly messages: Messages;
  readonly steps: AppendOnly<AgentStep>;
  readonly unfinishedStep: UnfinishedStep | null;
  readonly lastContinuationOutcome: ContinuationOutcome | null;
  readonly pause: Pause | null;
  readonly output: Output | null;
  readonly partialOutput: DeepPartial<Output> | null;
  readonly metadata: JsonObject;
  /** Approvals that a person had remembered, oldest first. Only the root agent's count. */
  readonly approvalRules: readonly ApprovalRule[];
  /** What the model is no longer sent, oldest first. Positions are those of the messages in this state. */
  readonly compactions: readonly Compaction[];
}

export type AgentStepJSON = Omit<AgentStep, 'outcome'> & {
  readonly outcome: ContinuationOutcomeJSON | null;
};

/** The whole state as one JSON document. */
export type AgentStateJSON = Omit<
  AgentStateData,
  | 'messages'
  | 'steps'
  | 'unfinishedStep'
  | 'lastContinuationOutcome'
  | 'approvalRules'
  | 'compactions'
> & {
  /** Absent if there are none. */
  readonly approvalRules?: readonly ApprovalRule[];
  /** Absent if there are none. */
  readonly compactions?: readonly Compaction[];
  readonly messages: readonly MessageJSON[];
  readonly steps: readonly AgentStepJSON[];
  readonly unfinishedStep:
    | (AgentStepJSON &
        Pick<UnfinishedStep, 'children' | 'inputs' | 'problems' | 'childAccounts' | 'toolSchemas'>)
    | null;
  readonly lastContinuationOutcome: ContinuationOutcomeJSON | null;
};

/** A conversation and the progress of the work on it. Frozen: every change returns a new state. */
export class AgentState<Output = unknown> implements AgentStateData<Output> {
  readonly version: 1 | 2;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly parentAgentId: string | null;
  readonly status: AgentStatus;
  readonly info: SessionInfo;
  readonly execution: Execution;
  readonly executionStartedAt: string | null;
  readonly messages: Messages;
  readonly steps: AppendOnly<AgentStep>;
  readonly unfinishedStep: UnfinishedStep | null;
  readonly lastContinuationOutcome: ContinuationOutcome | null;
  readonly pause: Pause | null;
  readonly output: Output | null;
  readonly partialOutput: DeepPartial<Output> | null;
  readonly metadata: JsonObject;
  readonly approvalRules: readonly ApprovalRule[];
  readonly compactions: readonly Compaction[];

  private constructor(base: AgentStateData<Output>, patch: Partial<AgentStateData<Output>>) {
    const execution =
      patch.execution === undefined ? base.execution : frozenExecution(patch.execution);
    this.agentId = patch.agentId === undefined ? base.agentId : patch.agentId;
    this.agentName = patch.agentName === undefined ? base.agentName : patch.agentName;
    this.parentAgentId =
      patch.parentAgentId === undefined ? base.parentAgentId : patch.parentAgentId;
    this.status = patch.status === undefined ? base.status : patch.status;
    this.info = patch.info === undefined ? base.info : frozenInfo(patch.info);
    this.execution = execution;
    this.executionStartedAt =
      patch.executionStartedAt === undefined ? base.executionStartedAt : patch.executionStartedAt;
    this.messages = patch.messages === undefined ? base.messages : patch.messages;
    this.steps = patch.steps === undefined ? base.steps : patch.steps;
    this.unfinishedStep =
      patch.unfinishedStep === undefined ? base.unfinishedStep : patch.unfinishedStep;
    this.lastContinuationOutcome =
      patch.lastContinuationOutcome === undefined
        ? base.lastContinuationOutcome
        : patch.lastContinuationOutcome;
    this.pause = patch.pause === undefined ? base.pause : patch.pause;
    this.output = patch.output === undefined ? base.output : patch.output;
    this.partialOutput =
      patch.partialOutput === undefined ? base.partialOutput : patch.partialOutput;
    this.metadata = patch.metadata === undefined ? base.metadata : patch.metadata;
    this.approvalRules =
      patch.approvalRules === undefined ? base.approvalRules : patch.approvalRules;
    this.compactions = patch.compactions === undefined ? base.compactions : patch.compactions;
    this.version = versionOf(this);
    Object.freeze(this);
  }

  static empty(options: { readonly agentId?: string; readonly now?: number } = {}): AgentState {
    syncSystemClock();
    const fresh: AgentStateData = {
      version: 1,
      agentId: options.agentId ?? uuid(),
      agentName: null,
      parentAgentId: null,
      status: AgentStatus.Pending,
      info: newSessionInfo(isoTime(options.now ?? systemClock.now())),
      execution: newExecution('', null, 0),
      executionStartedAt: null,
      messages: Messages.empty(),
      steps: AppendOnly.of<AgentStep>([]),
      unfinishedStep: null,
      lastContinuationOutcome: null,
      pause: null,
      output: null,
      partialOutput: null,
      metadata: {},
      approvalRules: noRules,
      compactions: noCompactions,
    };
    return new AgentState(fresh, fresh);
  }

  /** Revives a state from its JSON, migrating older documents; `executionStartedAt` is never restored. */
  static from(json: AgentState | AgentStateJSON | JsonObject): AgentState {
    return json instanceof AgentState ? json : AgentState.#read(json);
  }

  static #read(json: unknown): AgentState {
    const data = readStateDocument(json);
    return new AgentState(data, data);
  }

  /** The unfinished step, else the last one. */
  get currentStep(): AgentStep | null {
    return this.unfinishedStep ?? this.steps.at(-1) ?? null;
  }
  /** Recorded steps of this execution. */
  get stepCount(): number {
    return this.execution.stepCount;
  }
  /** Tokens of this execution; the session's are in `info`. */
  get usage(): Usage {
    return this.execution.usage;
  }
  get cost(): number | null {
    return this.execution.cost;
  }
  /** Null while the execution is open. */
  get stopReason(): StopReason | null {
    return isOpen(this.status) ? null : (this.lastContinuationOutcome?.stopReason ?? null);
  }
  get pendingApprovals(): readonly PendingApproval[] {
    return namedApprovals(this.pause?.pendingApprovals ?? [], this.execution.id);
  }
  /** Questions of tools that wait for an answer. */
  get pendingInputs(): readonly PendingInput[] {
    return this.pause?.pendingInputs ?? noneAsked;
  }
  /** Text of the last assistant message in this execution; '' if there is none. */
  get outputText(): string {
    for (let i = this.messages.length - 1; i >= this.execution.firstMessage; i--) {
      const message = this.messages.at(i);
      if (message?.isAssistant()) return message.text;
    }
    return '';
  }

  withUserMessage(content: MessageContent, more?: Partial<MessageInput>): AgentState<Output> {
    return this.withMessages(Message.user(content, more));
  }

  /** Adds messages. After an ended execution, this makes the state ready for the next `run()`. */
  withMessages(...messages: readonly MessageInput[]): AgentState<Output> {
    if (this.unfinishedStep)
      throw new AgentError(
        'execution_open',
        'This state needs approvals, and a message between a tool call and its result would break the ' +
          'conversation. Call resume(state, { approvals }) or stop(state) first.',
      );
    return this.with({
      messages: this.messages.append(...messages),
      status: isOpen(this.status) ? this.status : AgentStatus.Pending,
    });
  }

  /** Adds metadata, which is stored with the state as JSON. Pass clients and connections as `deps` instead. */
  withMetadata(more: { readonly [key: string]: JsonValue }): AgentState<Output> {
    const { value, isTruncated } = jsonCopy({ ...this.metadata, ...more });
    if (isTruncated)
      throw invalidOption('metadata', more, `at most ${MOST_LEVELS} levels of nesting`);
    return this.with({ metadata: value as JsonObject }); // made from a record
  }

  withAgentName(agentName: string): AgentState {
    return this.with({ agentName });
  }

  /** Adds working time to the execution and the session. */
  addExecutionTime(seconds: number): AgentState<Output> {
    if (!(seconds >= 0 && Number.isFinite(seconds)))
      throw invalidOption('addExecutionTime', seconds, 'seconds, 0 or more');
    const { execution, info } = this;
    return this.with({
      execution: { ...execution, cumulativeSeconds: execution.cumulativeSeconds + seconds },
      info: {
        ...info,
        cumulativeExecutionSeconds: info.cumulativeExecutionSeconds + seconds,
      },
    });
  }

  /** Returns a changed copy, for stores and the loop; `undefined` leaves a field unchanged. */
  with(patch: Partial<AgentStateData<Output>>): AgentState<Output> {
    return new AgentState<Output>(this, patch);
  }

  /** Removes a remembered approval. In a session, use `runtime.revokeRule`, which also reaches a running worker. */
  withoutApprovalRule(id: string): AgentState<Output> {
    return this.with({ approvalRules: withoutRules(this.approvalRules, [id]) });
  }

  toJSON(): AgentStateJSON {
    const { approvalRules, compactions, ...rest } = this;
    return {
      ...rest,
      ...(approvalRules.length > 0 && { approvalRules }),
      ...(compactions.length > 0 && { compactions }),
      messages: this.messages.toJSON(),
      steps: this.steps.toJSON().map(plainStep),
      unfinishedStep: this.unfinishedStep && plainStep(this.unfinishedStep),
      lastContinuationOutcome: this.lastContinuationOutcome?.toJSON() ?? null,
    };
  }
}

const plainStep = <S extends AgentStep>(step: S) => ({
  ...step,
  outcome: step.outcome?.toJSON() ?? null,
});

const noneAsked: readonly PendingInput[] = Object.freeze([]);
