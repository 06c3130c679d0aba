import { Cancelled } from '../cancellation.ts';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf, type ErrorRecord, type ErrorReport } from '../errors/error-record.ts';
import { isRecord, toJsonValue, type JsonObject, type JsonValue } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { callTool, ToolTimeout } from '../tools/call-tool.ts';
import type { Tool } from '../tools/tool.ts';
import {
  recordedValue,
  resultText,
  type ToolResult,
  type ToolResultKind,
} from '../tools/tool-result.ts';
import { HookFailure, type ComposedHooks, type ToolCallInput } from './hooks.ts';
import type { Checkpoint } from './journal.ts';
import { isMisuse } from './model-call.ts';
import { NestedPause, runNested } from './nested-agent.ts';
import { checkpointOf } from './pause-step.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Writes down what becomes of one call, and tells the listeners. */
export class CallDesk {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #place: number;
  #startedAt = 0;
  /** The start in the journal: one per call, however often a hook calls it. */
  #start: Promise<void> | null = null;
  /** Set when an agent behind the call paused: whatever hooks make of it, the call stays open. */
  #paused: NestedPause | null = null;

  constructor(run: Run, draft: StepDraft, place: number) {
    this.#run = run;
    this.#draft = draft;
    this.#place = place;
  }

  get call(): ToolCall {
    return this.#draft.calls[this.#place] as ToolCall; // places are taken from the list of calls
  }

  /** Records arguments that a person changed; the model is told in the result. */
  edit(args: JsonObject): JsonObject {
    const edited = toJsonValue(args) as JsonObject;
    const draft = this.#draft;
    draft.calls = draft.calls.with(this.#place, { ...this.call, args: edited });
    draft.notes.push(`argsEdited:${this.call.id}`);
    draft.isSaved = false;
    return edited;
  }

  run(tool: Tool, args: JsonObject, checked: unknown): Promise<void> {
    const { events, agent } = this.#run;
    const { id: toolCallId } = this.call;
    this.#startedAt = this.#run.now();
    const isResumed = this.#draft.children?.has(toolCallId) === true;
    this.#run.tellMessage();
    if (!isResumed && events.wants('ToolCallStarted'))
      events.emit('ToolCallStarted', { tool: tool.name, toolCallId, args: events.redacted(args) });
    const { toolCall } = agent.hooks;
    const work = toolCall
      ? this.#insideHooks(toolCall, tool, args, checked)
      : this.#invoke(tool, checked).then((returned) => this.#finish(tool, returned));
    return work.catch((error: unknown) => this.#caught(tool, error));
  }

  async #insideHooks(
    toolCall: NonNullable<ComposedHooks['toolCall']>,
    tool: Tool,
    args: JsonObject,
    checked: unknown,
  ): Promise<void> {
    const { cancellation, state, hookContext } = this.#run;
    let own: unknown = notRun;
    let inside: Promise<unknown> | null = null;
    const input: ToolCallInput = { tool: tool.name, callId: this.call.id, args, state };
    const next = async (given: ToolCallInput): Promise<unknown> => {
      inside = this.#invokeGiven(tool, given.args, args, checked);
      return (own = await inside);
    };
    const hooked = cancellation.race(toolCall(input, next, hookContext));
    const returned = await hooked.catch(async (error: unknown) => {
      // an agent behind the tool ends by itself on a cancel, and what it used counts
      if (cancellation.cause && tool.agent !== undefined) await inside?.catch(() => {});
      throw error;
    });
    if (
      !this.#paused &&
      returned !== own &&
      isRecord(returned) &&
      typeof returned['blocked'] === 'string'
    )
      this.close('blocked', `Blocked: ${returned['blocked']}`);
    else this.#finish(tool, returned);
  }

  async #invokeGiven(
    tool: Tool,
    given: JsonObject,
    args: JsonObject,
    checked: unknown,
  ): Promise<unknown> {
    if (given === args) return this.#invoke(tool, checked);
    const again = await tool.check(given);
    if (!again.ok) throw new Error(badArguments(tool.name, again.message));
    return this.#invoke(tool, again.value);
  }

  #invoke(tool: Tool, checked: unknown): Promise<unknown> {
    const run = this.#run;
    const { cause } = run.cancellation;
    if (cause) return Promise.reject(new Cancelled(cause));
    return run.journal === null ? this.#call(tool, checked) : this.#callJournaled(tool, checked);
  }

  async #callJournaled(tool: Tool, checked: unknown): Promise<unknown> {
    const { journal } = this.#run;
    const draft = this.#draft;
    // an agent that goes on was started before
    if (this.#start === null && !draft.children?.has(this.call.id))
      this.#start = journal?.start(this.call.id, tool, this.#checkpoint()) ?? null;
    await this.#start;
    // at the last moment: calls beside this one, or a hook, may have held it up
    for (let proof = journal?.confirm(); proof; proof = journal?.confirm()) await proof;
    return this.#call(tool, checked);
  }

  /** Null where the journal has the step: a call is written down with the step that it belongs to, never without. */
  #checkpoint(): Checkpoint | null {
    const draft = this.#draft;
    if (draft.isSaved) return null;
    draft.isSaved = true;
    return checkpointOf(this.#run, draft);
  }

  #call(tool: Tool, checked: unknown): Promise<unknown> {
    const run = this.#run;
    if (tool.agent !== undefined) return this.#nested(tool, checked);
    return callTool(tool, checked, this.call.id, run);
  }

  async #nested(tool: Tool, checked: unknown): Promise<unknown> {
    const returned = await runNested(this.#run, this.#draft, this.call, tool, checked);
    this.#paused = returned instanceof NestedPause ? returned : null;
    return returned;
  }

  /** Keeps the state of an agent that paused inside the call, or drops what was kept of it. */
  #keepChild(): boolean {
    const draft = this.#draft;
    if (this.#paused) (draft.children ??= new Map()).set(this.call.id, this.#paused.state);
    else draft.children?.delete(this.call.id);
    return this.#paused !== null;
  }

  #finish(tool: Tool, returned: unknown): void {
    if (this.#keepChild()) return;
    // an agent that was cut off with this run has no answer: its call is sealed like any other
    if (tool.agent !== undefined && this.#run.cancellation.cause) return;
    const { value, cut } = recordedValue(returned, tool.maxResultChars);
    if (cut) this.#draft.notes.push(`resultCut:${this.call.id}`);
    this.close('ok', value);
  }

  #caught(tool: Tool, error: unknown): void {
    if (this.#run.journal?.failure) throw this.#run.journal.failure;
    // a plain tool may throw what it likes, our own errors included; only a script that ran out is the test's mistake
    if (isMisuse(error) && (tool.agent !== undefined || AgentError.is(error, 'script_exhausted')))
      throw error;
    if (this.#keepChild()) return;
    const { cause } = this.#run.cancellation;
    if (cause || error instanceof Cancelled) return;
    if (error instanceof ToolTimeout)
      return this.fail(
        { type: 'timeout', code: 'tool_timeout', message: error.message },
        'timeout',
      );
    const code = error instanceof HookFailure ? 'hook_failed' : 'tool_failed';
    this.fail({ type: 'tool', code, message: messageOf(error) });
  }

  reject(code: string, message: string): void {
    this.fail({ type: 'validation', code, message });
  }

  /** A process died between the start of the call and its end. */
  reportLost(): void {
    const { name } = this.call;
    this.fail({
      type: 'unknown',
      code: 'effect_unknown',
      message:
        `"${name}" was started, and the process ended before its result was seen: whether it took effect is unknown. ` +
        'It was not run again. Find out before you repeat it.',
    });
  }

  fail(report: ErrorReport, kind: ToolResultKind = 'error'): void {
    const { name: toolName } = this.call;
    const record = this.#run.record({ ...report, toolName });
    const most = this.#run.agent.tools.get(toolName)?.maxResultChars ?? Number.POSITIVE_INFINITY;
    const message = resultText(recordedValue(record.message, most).value);
    this.close(kind, `Error: ${message}`, { ...record, message });
  }

  close(kind: ToolResultKind, value: JsonValue, error: ErrorRecord | null = null): void {
    const { events } = this.#run;
    const { id, name } = this.call;
    const took = this.#startedAt === 0 ? 0 : this.#run.now() - this.#startedAt;
    const durationMs = Math.round(took * 1000) / 1000;
    const result: ToolResult = error
      ? { callId: id, kind, value, error, durationMs }
      : { callId: id, kind, value, durationMs };
    this.#draft.results[this.#place] = result;
    this.#run.tellMessage();
    this.#run.journal?.finish(result, name, this.#checkpoint());
    if (!events.wants('ToolCallCompleted')) return;
    events.emit('ToolCallCompleted', {
      tool: name,
      toolCallId: id,
      success: kind === 'ok',
      error: kind === 'ok' ? null : (error?.message ?? kind),
      durationMs,
      result: events.redacted(value),
    });
  }
}

const notRun = Symbol('not run');

export const badArguments = (name: string, message: string): string =>
  `The arguments of "${name}" do not fit: ${message}. Call it again with arguments that match its schema.`;
