import { SpanKind, type Attributes, type Span } from '@opentelemetry/api';
import type { AgentModel } from '../agent/model-chain.ts';
import type { Run } from '../agent/run.ts';
import type { StepDraft } from '../agent/step-draft.ts';
import { Cancelled } from '../cancellation.ts';
import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import { readFailure } from '../inference/inference-error.ts';
import { costOfUsage } from '../inference/prices.ts';
import { isReport, readResponse } from '../inference/read-response.ts';
import { costOf, usageOf, type Usage } from '../inference/usage.ts';
import type { Content } from './content.ts';
import type { Instruments } from './instruments.ts';
import { modelNames } from './model-names.ts';
import { fail, present, word } from './recording.ts';

/** What the spans of a run share. */
export interface Recorder {
  readonly run: Run;
  /** Null if content is not captured. */
  readonly content: Content | null;
  readonly instruments: Instruments | null;
  readonly common: Attributes;
}

/** What a span of a model call records. */
export interface RecordedCall {
  readonly draft: StepDraft;
  readonly request: InferenceRequest;
  /** The model of a summary; undefined for the call of the step itself. */
  readonly summary: AgentModel | undefined;
}

/** The span of one model call, and its metrics. */
export class ModelSpan {
  readonly span: Span;
  readonly #recorder: Recorder;
  readonly #model: AgentModel;
  readonly #beganAt: number;
  readonly #labels: Attributes;
  /** Whether guards have not passed the message yet: then neither it nor its answer is captured. */
  readonly #isUnchecked: boolean;

  constructor(
    recorder: Recorder,
    { draft, request, summary }: RecordedCall,
    start: (name: string, kind: SpanKind, attributes: Attributes) => Span,
  ) {
    const { guards } = recorder.run.agent;
    const { answeredSteps } = recorder.run.state.execution;
    this.#isUnchecked = guards !== null && guards.input.length > 0 && answeredSteps === 0;
    const agentModel = summary ?? draft.model;
    const { provider, model } = modelNames(agentModel.driver);
    this.#recorder = recorder;
    this.#model = agentModel;
    this.#beganAt = recorder.run.now();
    this.#labels = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
    };
    this.span = start(`chat ${model}`, SpanKind.CLIENT, {
      ...recorder.common,
      ...this.#labels,
      'gen_ai.output.type': request.responseFormat === null ? 'text' : 'json',
      'onward.step': draft.number,
      ...(summary ? { 'onward.summary': true } : { 'onward.attempt': draft.attempt }),
      ...this.#asked(request),
    });
  }

  #asked({ system, messages }: InferenceRequest): Attributes {
    const { content } = this.#recorder;
    if (content === null || this.#isUnchecked) return {};
    return present({
      'gen_ai.system_instructions': system === null ? null : content.system(system),
      'gen_ai.input.messages': content.messages(messages),
    });
  }

  answered(response: InferenceResponse): void {
    const { run, content } = this.#recorder;
    const { model, requestId, rawFinishReason, finishReason } = response ?? {};
    const usage = response?.usage ? usageOf(response.usage) : null;
    const cost = this.#cost(usage, response?.cost);
    this.span.setAttributes(
      present({
        'gen_ai.response.model': model === undefined ? null : this.#word(model),
        'gen_ai.response.id': requestId === undefined ? null : this.#word(requestId),
        'gen_ai.response.finish_reasons': [this.#word(rawFinishReason ?? finishReason)],
        ...usageAttributes(usage),
        'onward.cost': cost,
        'gen_ai.output.messages':
          // an answer that a guard may block is in no record yet
          content === null || this.#isUnchecked || (run.agent.guards?.output.length ?? 0) > 0
            ? null
            : content.answer(response),
      }),
    );
    this.#count(usage, cost);
    // an answer with calls is read by the loop anyway, and reading it twice costs
    const hasCalls = Array.isArray(response?.toolCalls) && response.toolCalls.length > 0;
    const read = hasCalls ? null : readResponse(response);
    if (read !== null && isReport(read)) this.#failed(read.code, read.message);
    else this.#end();
  }

  threw(error: unknown): void {
    const { run } = this.#recorder;
    const by = run.cancellation.cause?.by ?? (error instanceof Cancelled ? error.by : null);
    if (by !== null) {
      this.span.setAttribute('onward.cancelled_by', by);
      if (by === 'deadline') return this.#failed('timeout', 'The time limit was reached.');
      return this.#end('cancelled');
    }
    const { report, partial } = readFailure(error);
    const usage = partial.usage ? usageOf(partial.usage) : null;
    const cost = this.#cost(usage, partial.cost);
    this.span.setAttributes(present({ ...usageAttributes(usage), 'onward.cost': cost }));
    if (report.requestId !== undefined)
      this.span.setAttribute('gen_ai.response.id', this.#word(report.requestId));
    if (report.status !== undefined)
      this.span.setAttribute('http.response.status_code', report.status);
    this.#count(usage, cost);
    this.#failed(report.code, report.message);
  }

  #word(text: unknown): string {
    return word(this.#recorder.run.redactor.text(String(text)));
  }

  #cost(usage: Usage | null, reported: unknown): number | null {
    const known = costOf(reported);
    const { price } = this.#model;
    return known === null && usage !== null && price ? costOfUsage(usage, price) : known;
  }

  #count(usage: Usage | null, cost: number | null): void {
    const { instruments, run } = this.#recorder;
    if (usage !== null) {
      const token = (type: string): Attributes => ({ ...this.#labels, 'gen_ai.token.type': type });
      instruments?.tokens.record(usage.input, token('input'));
      instruments?.tokens.record(usage.output, token('output'));
    }
    if (cost !== null)
      instruments?.cost.add(cost, { ...this.#labels, 'gen_ai.agent.name': run.agent.name });
  }

  #failed(type: string, message: string): void {
    fail(this.span, type, this.#recorder.content?.text(message) ?? null);
    this.#end(type);
  }

  #end(errorType?: string): void {
    const { instruments, run } = this.#recorder;
    const seconds = Math.max(0, run.now() - this.#beganAt) / 1000;
    const labels = errorType === undefined ? {} : { 'error.type': word(errorType) };
    instruments?.modelSeconds.record(seconds, { ...this.#labels, ...labels });
    this.span.end();
  }
}

function usageAttributes(usage: Usage | null): Attributes {
  if (usage === null) return {};
  const { input, output, cachedInput, cacheWrite, reasoning } = usage;
  return {
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    ...(cachedInput > 0 && { 'gen_ai.usage.cache_read.input_tokens': cachedInput }),
    ...(cacheWrite !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
    ...(reasoning > 0 && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
  };
}
