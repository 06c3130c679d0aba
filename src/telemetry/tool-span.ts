import { SpanKind, type Attributes, type Span } from '@opentelemetry/api';
import type { StepDraft } from '../agent/step-draft.ts';
import { messageOf } from '../errors/error-record.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { Recorder } from './model-span.ts';
import { fail, word } from './recording.ts';

/** The span of one tool call, and its metric. */
export class ToolSpan {
  readonly span: Span;
  readonly #recorder: Recorder;
  readonly #call: ToolCall;
  readonly #tool: string;
  readonly #beganAt: number;

  constructor(
    recorder: Recorder,
    call: ToolCall,
    step: number,
    start: (name: string, kind: SpanKind, attributes: Attributes) => Span,
  ) {
    // a model may call any name
    this.#tool = word(recorder.run.redactor.text(call.name));
    this.#recorder = recorder;
    this.#call = call;
    this.#beganAt = recorder.run.now();
    this.span = start(`execute_tool ${this.#tool}`, SpanKind.INTERNAL, {
      ...recorder.common,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': this.#tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': word(call.id),
      'onward.step': step,
    });
  }

  /** Ends the span of a call that ran. Without a result the call stays open. */
  ended(draft: StepDraft): void {
    const { content, instruments, run } = this.#recorder;
    const { id, args } = this.#call;
    const result = draft.results.find((one) => one?.callId === id);
    // an approver may have edited them
    const used = draft.calls.find((call) => call.id === id)?.args ?? args;
    if (content !== null) this.span.setAttribute('gen_ai.tool.call.arguments', content.value(used));
    if (result === undefined) {
      const isPaused = draft.children?.has(id) === true;
      const open = isPaused ? 'paused' : draft.inputs?.has(id) ? 'input_required' : 'aborted';
      this.span.setAttribute('onward.tool.outcome', open);
    } else {
      this.#result(result);
      instruments?.toolSeconds.record(Math.max(0, run.now() - this.#beganAt) / 1000, {
        'gen_ai.agent.name': run.agent.name,
        'gen_ai.tool.name': this.#tool,
        ...(result.kind !== 'ok' && { 'error.type': word(result.error?.code ?? result.kind) }),
      });
    }
    this.span.end();
  }

  threw(error: unknown): void {
    fail(this.span, 'error', this.#recorder.content?.text(messageOf(error)) ?? null);
    this.span.end();
  }

  /** Ends the span of a call that was answered without being run. */
  refused(result: ToolResult): void {
    this.span.setAttribute('onward.tool.executed', false);
    this.#result(result);
    this.span.end();
  }

  #result({ kind, value, error, approval }: ToolResult): void {
    const { content } = this.#recorder;
    this.span.setAttribute('onward.tool.outcome', kind);
    if (approval) this.span.setAttribute('onward.approval', approval.decision);
    if (content !== null) this.span.setAttribute('gen_ai.tool.call.result', content.value(value));
    if (kind === 'ok') return;
    fail(this.span, error?.code ?? kind, error ? (content?.text(error.message) ?? null) : null);
  }
}
