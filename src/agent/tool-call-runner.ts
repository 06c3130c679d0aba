import { Cancelled } from '../cancellation.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf, type ErrorRecord, type ErrorReport } from '../errors/error-record.ts';
import { isRecord, sameJson, toJsonValue, type JsonObject, type JsonValue } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { argsHash, argumentsIn, badArguments } from '../tools/arguments.ts';
import { callTool, ToolTimeout } from '../tools/call-tool.ts';
import { ToolFailure } from '../tools/tool-failure.ts';
import { InputRequired, type GivenInput } from '../tools/input-request.ts';
import type { AnyTool } from '../tools/tool.ts';
import { recordedResult, type ResultParts } from '../tools/tool-content.ts';
import {
  recordedValue,
  resultText,
  type ApprovalRecord,
  type ToolResult,
  type ToolResultKind,
} from '../tools/tool-result.ts';
import { isRevoking, type ApprovalRule } from './approval-rules.ts';
import type { GivenAnswer } from './approval-answer.ts';
import { HookFailure, type ComposedHooks, type ToolCallInput } from './hooks.ts';
import { emitCompleted, runsAgain } from './call-rules.ts';
import type { Checkpoint } from './journal.ts';
import { isMisuse } from './model-call.ts';
import { changedByHook, MissingApproval, needsApproval, revoked } from './missing-approval.ts';
import { NestedPause } from './nested-agent.ts';
import { openInput, resumeInput } from './open-inputs.ts';
import { announceMessage, checkpointOf } from './pause-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { onDemand } from '../on-demand.ts';

/** Runs one call, records its result and emits its events. */
export class ToolCallRunner {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #place: number;
  #startedAt = 0;
  /** Start in the journal: one per call, even if a hook runs the tool several times. */
  #start: Promise<void> | null = null;
  /** Set when the nested agent paused. The call then stays open, regardless of hooks. */
  #paused: NestedPause | null = null;
  /** Answer of an approver. */
  #approval: ApprovalRecord | null = null;
  #hasRun = false;
  /** Answers to the questions that the call has asked. */
  #input: GivenInput | null = null;
  #isTruncated = false;
  /** Set when a hook changed the arguments to ones that need approval. */
  #blocked: MissingApproval | null = null;

  constructor(run: Run, draft: StepDraft, place: number) {
    this.#run = run;
    this.#draft = draft;
    this.#place = place;
  }

  get call(): ToolCall {
    return this.#draft.calls[this.#place] as ToolCall; // a valid index
  }

  /** Notes who answered the call, and for which arguments. */
  note(answer: GivenAnswer, args: JsonObject): void {
    const { by = null, at = isoTime(this.#run.now()) } = answer;
    const said = 'deny' in answer ? 'denied' : answer.args === undefined ? 'approved' : 'edited';
    this.#approval = { decision: said, by, at, argsHash: argsHash(args) };
  }

  /** Notes that the approval could not be remembered. */
  noteNotRemembered(): void {
    if (this.#approval) this.#approval = { ...this.#approval, notRemembered: true };
  }

  /** Notes the remembered approval that answers the call. */
  apply({ by, at: rememberedAt }: ApprovalRule, args: JsonObject): void {
    const at = isoTime(this.#run.now());
    this.#approval = { decision: 'approved', by, at, rememberedAt, argsHash: argsHash(args) };
  }

  /** Records edited arguments. The tool message shows them to the model. */
  edit(args: JsonObject): JsonObject {
    const edited = toJsonValue(args) as JsonObject;
    const draft = this.#draft;
    draft.calls = draft.calls.with(this.#place, { ...this.call, args: edited });
    draft.notes.push(`argsEdited:${this.call.id}`);
    draft.isSaved = false;
    return edited;
  }

  /** Prepares a call that runs again with the user's answers. */
  resumeInput(): void {
    const { approval = null } = this.#draft.inputs?.get(this.call.id) ?? {};
    this.#approval ??= approval;
    this.#input = resumeInput(this.#draft, this.call.id);
  }

  run(tool: AnyTool, args: JsonObject, checked: unknown): Promise<void> {
    const { events, agent, cancellation } = this.#run;
    // a parallel call or the argument check may have ended the run: the step then closes this call
    if (cancellation.cause) return Promise.resolve();
    const { id: toolCallId } = this.call;
    this.#startedAt = this.#run.now();
    const isResumed = runsAgain(this.#draft, toolCallId);
    announceMessage(this.#run, this.#draft);
    if (!isResumed && events.wants('ToolCallStarted'))
      events.emit('ToolCallStarted', { tool: tool.name, toolCallId, args: events.redacted(args) });
    // so may a listener
    if (cancellation.cause) return Promise.resolve();
    const { toolCall } = agent.hooks;
    const work = toolCall
      ? this.#insideHooks(toolCall, tool, args, checked)
      : this.#invoke(tool, checked).then((returned) => this.#finish(tool, returned));
    return work.catch((error: unknown) => this.#caught(tool, error));
  }

  async #insideHooks(
    toolCall: NonNullable<ComposedHooks['toolCall']>,
    tool: AnyTool,
    args: JsonObject,
    checked: unknown,
  ): Promise<void> {
    const { cancellation, state, hookContext } = this.#run;
    let own: unknown = notRun;
    let inside: Promise<unknown> | null = null;
    // a copy, so that hooks cannot change the checked and recorded arguments
    const copy = toJsonValue(args) as JsonObject;
    const input: ToolCallInput = { tool: tool.name, callId: this.call.id, args: copy, state };
    const next = async (given: ToolCallInput): Promise<unknown> => {
      inside = this.#invokeGiven(tool, given.args, args, checked);
      return (own = await inside);
    };
    const hooked = cancellation.race(toolCall(input, next, hookContext));
    const returned = await hooked.catch(async (error: unknown) => {
      // a cancelled nested agent ends by itself, and its usage counts
      if (cancellation.cause && tool.agent !== undefined) await inside?.catch(() => {});
      throw error;
    });
    if (this.#blocked && !this.#hasRun) this.close('blocked', this.#blocked.message);
    else if (
      !this.#paused &&
      !(own instanceof InputRequired) &&
      returned !== own &&
      isRecord(returned) &&
      typeof returned['blocked'] === 'string'
    )
      this.close('blocked', `Blocked: ${returned['blocked']}`);
    // like a nested pause, a question keeps the call open, regardless of hooks
    else this.#finish(tool, own instanceof InputRequired ? own : returned);
  }

  /** Checks arguments that a hook changed like those of the model. An approval of the original ones does not count. */
  async #invokeGiven(
    tool: AnyTool,
    given: JsonObject,
    args: JsonObject,
    checked: unknown,
  ): Promise<unknown> {
    // a resumed nested agent already has its arguments
    if (this.#draft.children?.has(this.call.id)) return this.#invoke(tool, checked);
    const changed = argumentsIn(given);
    if (typeof changed === 'string')
      throw new Error(badArguments(tool.name, changed.replace(/\.$/, '')));
    if (sameJson(changed, args)) return this.#invoke(tool, checked);
    const again = await tool.check(changed);
    if (!again.ok) throw new Error(badArguments(tool.name, again.message));
    if (tool.needsApproval && (await needsApproval(this.#run, tool, again.value)))
      throw (this.#blocked = new MissingApproval(changedByHook(tool.name, this.#hasRun)));
    return this.#invoke(tool, again.value);
  }

  #invoke(tool: AnyTool, checked: unknown): Promise<unknown> {
    const run = this.#run;
    const { cause } = run.cancellation;
    if (cause) return Promise.reject(new Cancelled(cause));
    return run.journal === null ? this.#call(tool, checked) : this.#callJournaled(tool, checked);
  }

  async #callJournaled(tool: AnyTool, checked: unknown): Promise<unknown> {
    const { journal } = this.#run;
    const draft = this.#draft;
    const asked = draft.inputs?.has(this.call.id) === true;
    // a resumed nested agent was started earlier
    if (this.#start === null && !draft.children?.has(this.call.id))
      this.#start = journal?.start(this.call.id, tool, this.#checkpoint(), asked) ?? null;
    await this.#start;
    // at the last moment, because parallel calls or a hook may have delayed this call
    for (let proof = journal?.confirm(); proof; proof = journal?.confirm()) await proof;
    // a revoke that was accepted while the start was written
    if (this.#approval?.rememberedAt !== undefined && (await isRevoking(this.#run)))
      throw (this.#blocked = new MissingApproval(revoked(tool.name)));
    return this.#call(tool, checked);
  }

  /** Checkpoint of the step for the journal; null if the step is already saved. A call is saved with its step only. */
  #checkpoint(): Checkpoint | null {
    const draft = this.#draft;
    if (draft.isSaved) return null;
    draft.isSaved = true;
    return checkpointOf(this.#run, draft);
  }

  #call(tool: AnyTool, checked: unknown): Promise<unknown> {
    this.#hasRun = true;
    if (tool.agent !== undefined) return this.#nested(tool, checked);
    return callTool(tool, checked, this.call.id, this.#run, this.#input);
  }

  async #nested(tool: AnyTool, checked: unknown): Promise<unknown> {
    const { runNested } = await onDemand(import('./run-nested.ts'));
    const returned = await runNested(this.#run, this.#draft, this.call, tool, checked);
    this.#paused = returned instanceof NestedPause ? returned : null;
    return returned;
  }

  /** Keeps the state of a paused nested agent, or deletes the kept state. */
  #keepChild(): boolean {
    const draft = this.#draft;
    if (this.#paused) (draft.children ??= new Map()).set(this.call.id, this.#paused.state);
    else draft.children?.delete(this.call.id);
    return this.#paused !== null;
  }

  #finish(tool: AnyTool, returned: unknown): void {
    if (this.#keepChild()) return;
    if (returned instanceof InputRequired)
      return openInput(this.#draft, this.call, returned, this.#approval);
    // a nested agent that was cancelled with this run has no answer: the step closes its call
    if (tool.agent !== undefined && this.#run.cancellation.cause) return;
    const { value, cut, ...parts } = recordedResult(returned, tool.maxResultChars);
    if (cut) {
      this.#isTruncated = true;
      this.#draft.notes.push(`resultCut:${this.call.id}`);
    }
    this.close('ok', value, null, parts);
  }

  #caught(tool: AnyTool, error: unknown): void {
    if (this.#run.journal?.failure) throw this.#run.journal.failure;
    // a tool may throw any error, AgentError included; only an exhausted test script is misuse
    if (isMisuse(error) && (tool.agent !== undefined || AgentError.is(error, 'script_exhausted')))
      throw error;
    if (this.#keepChild()) return;
    const { cause } = this.#run.cancellation;
    if (cause || error instanceof Cancelled) return;
    if (error instanceof MissingApproval || (this.#blocked && !this.#hasRun))
      return this.close('blocked', (this.#blocked ?? (error as MissingApproval)).message);
    if (error instanceof ToolTimeout)
      return this.fail(
        { type: 'timeout', code: 'tool_timeout', message: error.message },
        'timeout',
      );
    if (error instanceof ToolFailure) return this.fail(error.report);
    const code = error instanceof HookFailure ? 'hook_failed' : 'tool_failed';
    this.fail({ type: 'tool', code, message: messageOf(error) });
  }

  reject(code: string, message: string): void {
    this.fail({ type: 'validation', code, message });
  }

  fail(report: ErrorReport, kind: ToolResultKind = 'error'): void {
    const { name: toolName } = this.call;
    const record = this.#run.record({ ...report, toolName });
    const most = this.#run.offered.tools.get(toolName)?.maxResultChars ?? Number.POSITIVE_INFINITY;
    const message = resultText(recordedValue(record.message, most).value);
    this.close(kind, `Error: ${message}`, { ...record, message });
  }

  close(
    kind: ToolResultKind,
    value: JsonValue,
    error: ErrorRecord | null = null,
    parts: ResultParts = {},
  ): void {
    const { events } = this.#run;
    const { id, name, args, argsRaw } = this.call;
    const took = this.#startedAt === 0 ? 0 : this.#run.now() - this.#startedAt;
    const durationMs = Math.round(took * 1000) / 1000;
    const plain: ToolResult = error
      ? { callId: id, kind, value, error, durationMs }
      : { callId: id, kind, value, ...parts, durationMs };
    const result = this.#approval ? { ...plain, approval: this.#approval } : plain;
    this.#draft.results[this.#place] = result;
    // a step with parts is saved again: its state then says which releases can read them
    if (parts.content) this.#draft.isSaved = false;
    this.#run.emitMessage();
    this.#run.journal?.finish(result, name, this.#checkpoint());
    const more = {
      ...(parts.files && { files: events.redacted(parts.files) }),
      ...(this.#isTruncated && { truncated: true }),
      // there was no ToolCallStarted event
      ...(this.#startedAt === 0 && { args: events.redacted(argsRaw ?? args) }),
    };
    if (events.wants('ToolCallCompleted')) emitCompleted(events, name, result, more);
  }
}

const notRun = Symbol('not run');
