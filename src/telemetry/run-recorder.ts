import {
  context,
  SpanKind,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import type { RunObservation } from '../agent/run-observer.ts';
import type { AgentState } from '../agent/agent-state.ts';
import type { AgentModel } from '../agent/model-chain.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { Run } from '../agent/run.ts';
import type { StepDraft } from '../agent/step-draft.ts';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { Content } from './content.ts';
import type { Instruments } from './instruments.ts';
import { modelNames } from './model-names.ts';
import { ModelSpan, type Recorder } from './model-span.ts';
import { fail, present, safely, word } from './recording.ts';
import { ToolSpan } from './tool-span.ts';
import { activeOr, headersOf, placeOf, traceparentOf, tracer } from './tracing.ts';

/** Records one run as a span, with spans of its model calls and tool calls in it. */
export class RunRecorder implements RunObservation, Recorder {
  readonly run: Run;
  readonly content: Content | null;
  readonly instruments: Instruments | null;
  readonly common: Attributes;
  readonly traceparent: string | null;
  readonly #span: Span;
  readonly #context: Context;
  readonly #beganAt: number;
  /** Number of the last step that is recorded. */
  #reported: number;
  /** Calls of the current step with a span of their own, or one in an earlier run. */
  readonly #spanned: Set<string>;

  constructor(
    run: Run,
    isResumed: boolean,
    { instruments, captures }: { instruments: Instruments | null; captures: boolean },
  ) {
    const { agent, state, parent: caller } = run;
    const behind = caller?.observation instanceof RunRecorder ? caller.observation : null;
    const { parent, links } = placeOf(run, behind && behind.#context);
    this.run = run;
    this.instruments = instruments;
    this.common = {
      'gen_ai.agent.name': agent.name,
      'gen_ai.conversation.id':
        run.origin?.sessionId ?? behind?.common['gen_ai.conversation.id'] ?? state.agentId,
      'onward.execution.id': state.execution.id,
    };
    this.#span = tracer().startSpan(
      `invoke_agent ${agent.name}`,
      {
        kind: SpanKind.INTERNAL,
        links,
        attributes: {
          ...this.common,
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': modelNames(agent.models[0].driver).provider,
          'gen_ai.agent.id': state.agentId,
          'onward.resumed': isResumed,
          ...grantAttributes(state),
        },
      },
      parent,
    );
    // what is not sampled needs no content
    this.content = captures && this.#span.isRecording() ? new Content(run.redactor) : null;
    this.#context = trace.setSpan(parent, this.#span);
    this.traceparent = traceparentOf(this.#span.spanContext());
    this.#beganAt = run.now();
    this.#reported = state.execution.stepCount;
    this.#spanned = new Set(state.unfinishedStep?.results.map(({ callId }) => callId));
  }

  get traceHeaders(): Readonly<Record<string, string>> {
    return safely(() => headersOf(activeOr(this.#context))) ?? {};
  }

  inside<T>(work: () => Promise<T>): Promise<T> {
    return context.with(this.#context, work);
  }

  #start(name: string, kind: SpanKind, attributes: Attributes): Span {
    return tracer().startSpan(name, { kind, attributes }, activeOr(this.#context));
  }

  async modelCall(
    draft: StepDraft,
    request: InferenceRequest,
    call: () => Promise<InferenceResponse>,
    summary?: AgentModel,
  ): Promise<InferenceResponse> {
    const model = safely(
      () => new ModelSpan(this, { draft, request, summary }, (...span) => this.#start(...span)),
    );
    if (model === null) return call();
    try {
      const response = await this.#within(model.span, call);
      safely(() => model.answered(response));
      return response;
    } catch (error) {
      safely(() => model.threw(error));
      throw error;
    }
  }

  #within<T>(span: Span, work: () => T): T {
    return context.with(trace.setSpan(activeOr(this.#context), span), work);
  }

  async toolCall(draft: StepDraft, call: ToolCall, work: () => Promise<void>): Promise<void> {
    const tool = safely(() => this.#toolSpan(call, draft.number));
    if (tool === null) return work();
    this.#spanned.add(call.id);
    try {
      await this.#within(tool.span, work);
      safely(() => tool.ended(draft));
    } catch (error) {
      safely(() => tool.threw(error));
      throw error;
    }
  }

  #toolSpan(call: ToolCall, step: number): ToolSpan {
    return new ToolSpan(this, call, step, (...span) => this.#start(...span));
  }

  stepEnded(state: AgentState): void {
    safely(() => this.#report(state));
  }

  /** Records the steps that are new since the last report. */
  #report({ steps, execution }: AgentState): void {
    const found: AgentStep[] = [];
    for (let i = steps.length - 1; i >= 0; i--) {
      const step = steps.at(i);
      if (step === undefined || step.executionId !== execution.id) break;
      if (step.number <= this.#reported) break;
      found.push(step);
    }
    for (const step of found.toReversed()) {
      this.#reported = step.number;
      this.#reportStep(step);
    }
  }

  #reportStep(step: AgentStep): void {
    const { run, instruments } = this;
    const { outcome } = step;
    const [failure] = step.errors;
    this.#closed(step);
    this.#span.addEvent(
      'onward.step',
      present({
        'onward.step': step.number,
        'onward.step.type': step.type,
        'onward.attempt': step.attempt,
        'onward.decision': outcome?.decision,
        'onward.continues': outcome?.shouldContinue,
        'onward.decided_by': outcome?.resolvedBy,
        'onward.stop_reason': outcome?.stopReason,
        'onward.retry.wait_ms': step.waitMs,
        'onward.fallback.model': step.fallback,
        'error.type': failure === undefined ? undefined : word(failure.code),
      }),
    );
    for (const { kind, reason, tokensBefore, tokensAfter } of step.compactions ?? [])
      this.#span.addEvent(
        'onward.compaction',
        present({
          'onward.step': step.number,
          'onward.compaction.kind': kind,
          'onward.compaction.reason': reason,
          'onward.compaction.tokens_before': tokensBefore,
          'onward.compaction.tokens_after': tokensAfter,
        }),
      );
    const { firstTokenMs } = step.modelCall ?? {};
    const agent = { 'gen_ai.agent.name': run.agent.name };
    if (firstTokenMs !== undefined)
      instruments?.firstChunkSeconds.record(firstTokenMs / 1000, {
        ...agent,
        'gen_ai.operation.name': 'chat',
      });
    if (step.type === 'error' && failure && outcome?.shouldContinue === true)
      instruments?.retries.add(1, {
        ...agent,
        'error.type': word(failure.code),
        'onward.handling': step.fallback === undefined ? 'retry' : 'fallback',
      });
  }

  /** Records calls that were answered without being run. */
  #closed({
    toolCalls,
    results,
    number,
  }: Pick<AgentStep, 'toolCalls' | 'results' | 'number'>): void {
    for (const call of toolCalls) {
      const result = results.find(({ callId }) => callId === call.id);
      if (result === undefined || this.#spanned.delete(call.id)) continue;
      this.#toolSpan(call, number).refused(result);
    }
  }

  end(state: AgentState, error?: unknown): void {
    // the active context may be that of a request that woke the worker
    safely(() => context.with(this.#context, () => this.#end(state, error)));
    safely(() => this.#span.end());
  }

  #end(state: AgentState, error: unknown): void {
    this.#report(state);
    const { unfinishedStep } = state;
    if (unfinishedStep) this.#closed(unfinishedStep);
    this.#span.setAttributes(this.#endAttributes(state));
    if (error !== undefined) {
      const code = AgentError.is(error) ? error.code : 'error';
      fail(this.#span, code, this.content?.text(messageOf(error)) ?? null);
    } else if (state.status === 'failed')
      fail(this.#span, state.currentStep?.errors.at(-1)?.code ?? 'error', null);
    this.#count(state, error);
  }

  #endAttributes(state: AgentState): Attributes {
    const { status, stopReason, execution, lastContinuationOutcome: outcome } = state;
    const isOver = stopReason !== null;
    const { content } = this;
    // other explanations may quote what a user, a tool or a provider said
    const isPlain = PLAIN.has(outcome?.decisive?.facts?.kind ?? '');
    const explained = isOver && (isPlain || content !== null) ? outcome?.explanation() : undefined;
    const { headline, detail } = explained ?? {};
    return present({
      'onward.status': status,
      'onward.stop_reason': stopReason,
      'onward.decision': outcome?.decision,
      'onward.decided_by': outcome?.resolvedBy,
      'onward.explanation': headline === undefined ? null : word(headline, MAX_EXPLANATION),
      'onward.explanation.detail': detail ? word(detail, MAX_EXPLANATION) : null,
      'onward.pause.kind': status === 'paused' ? state.pause?.kind : isOver ? null : 'handover',
      'onward.steps': execution.stepCount,
      'onward.usage.input_tokens': execution.usage.input,
      'onward.usage.output_tokens': execution.usage.output,
      'onward.cost': execution.cost,
      ...this.#said(state),
    });
  }

  /** What was asked and answered. A guard keeps what it blocks out of all records. */
  #said({ messages, execution, stopReason, outputText }: AgentState): Attributes {
    const { content } = this;
    if (content === null || stopReason === 'guard') return {};
    const asked = messages.at(execution.firstMessage);
    return present({
      'gen_ai.input.messages': asked?.isUser() ? content.said('user', asked.text) : null,
      'gen_ai.output.messages': outputText === '' ? null : content.said('assistant', outputText),
    });
  }

  #count({ stopReason }: AgentState, error: unknown): void {
    const { instruments, run } = this;
    const labels = {
      'gen_ai.agent.name': run.agent.name,
      'onward.stop_reason': error === undefined ? (stopReason ?? 'paused') : 'thrown',
    };
    const seconds = Math.max(0, run.now() - this.#beganAt) / 1000;
    instruments?.runSeconds.record(seconds, labels);
    if (error === undefined && stopReason !== null) instruments?.stops.add(1, labels);
  }
}

const grantAttributes = ({ execution: { grants } }: AgentState): Attributes =>
  Object.fromEntries(
    Object.entries(grants).map(([kind, amount]) => [`onward.grants.${kind}`, amount]),
  );

const MAX_EXPLANATION = 1_000;
/** Kinds of facts whose explanation is made from numbers and names only. */
const PLAIN: ReadonlySet<string> = new Set(['limit', 'answered', 'finish', 'tool_called']);
