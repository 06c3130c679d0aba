import type { ErrorRecord, ErrorReport } from '../errors/error-record.ts';
import type {
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import type { PartialAnswer } from '../inference/inference-error.ts';
import {
  modelCallInfo,
  type CallTimes,
  type ProviderReport,
} from '../inference/model-call-info.ts';
import { costOfUsage } from '../inference/prices.ts';
import { costOf, usageOf, type Usage } from '../inference/usage.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Keeps what is known about a model call besides its answer: usage, cost, times, and the provider's report. */
export class ModelCallLog implements InferenceOptions, CallTimes {
  readonly #run: Run;
  readonly #draft: StepDraft;
  #used: PartialAnswer = {};
  /** What the provider reported before its answer was complete. */
  #reported: ProviderReport = {};
  /** What the model returned, before a hook changes it. */
  #returned: ProviderReport | null = null;
  #startedAt = 0;
  #firstTokenMs: number | null = null;
  #queuedMs = 0;

  constructor(run: Run, draft: StepDraft) {
    this.#run = run;
    this.#draft = draft;
  }

  /** Created with the first read. */
  get signal(): AbortSignal {
    return this.#draft.modelSignal ?? this.#run.cancellation.signal;
  }

  get firstTokenMs(): number | null {
    return this.#firstTokenMs;
  }
  get queuedMs(): number {
    return this.#queuedMs;
  }

  // drivers may take these functions out of the object
  /** Notes that the call waited for a limiter. */
  readonly queued = (ms: number): void => {
    this.#queuedMs += ms;
  };
  /** Notes what the provider reports before its answer is complete. */
  readonly reported = (report: ProviderReport): void => {
    this.#reported = { ...this.#reported, ...report };
  };

  /** Whether the usage of the call is known so far. */
  get isUsageKnown(): boolean {
    return this.#used.usage !== undefined;
  }

  /** Notes the start of a call. A hook may call the model again: times and report are those of the last call. */
  start(request: InferenceRequest): void {
    const { id: stepId, view } = this.#draft;
    if (this.#run.journal?.sent && view) this.#run.journal.sent({ stepId, request, ...view });
    this.#startedAt = this.#run.now();
    this.#firstTokenMs = null;
    this.#queuedMs = 0;
    this.#reported = {};
    this.#returned = null;
  }

  /** Notes a chunk with a part of the answer. */
  chunk(): void {
    this.#firstTokenMs ??= this.#run.now() - this.#startedAt - this.#queuedMs;
  }

  used(partial: PartialAnswer): void {
    this.#used = partial;
  }

  /** Notes the usage of the call, which counts even if a hook changes the answer. */
  returned(response: InferenceResponse): InferenceResponse {
    const { usage, cost = null } = response ?? {};
    this.#returned = response ?? null;
    if (usage) this.#used = { usage, cost };
    return response;
  }

  /** Writes into the step what the call used, from its answer or else from what arrived before. */
  keepUsage(
    answer: Pick<PartialAnswer, 'cost'> & { readonly usage?: Partial<Usage> | null },
  ): void {
    const usage = answer.usage ?? this.#used.usage;
    const draft = this.#draft;
    const { price } = draft.model;
    draft.usage = usageOf(usage);
    draft.cost = costOf(answer.cost ?? this.#used.cost);
    // without usage the cost is unknown, not 0
    if (usage && draft.cost === null && price) draft.cost = costOfUsage(draft.usage, price);
  }

  /** Does the same for a call without a whole answer, and notes if its usage is unknown. */
  keepPartialUsage(partial: PartialAnswer = {}): void {
    if (!this.isUsageKnown && partial.usage === undefined) this.#draft.notes.push('usageUnknown');
    this.keepUsage(partial);
  }

  /** Creates the record of a failed call, with the id of its request. Call it after `keepReport`. */
  failure(report: ErrorReport): ErrorRecord {
    const { requestId } = this.#draft.modelCall ?? {};
    return this.#run.record({ ...report, ...(requestId !== undefined && { requestId }) });
  }

  /** Writes into the step what the model's provider reported, else the given report and what arrived before it. */
  keepReport(report: ProviderReport = {}): void {
    const draft = this.#draft;
    draft.modelCall = modelCallInfo(
      this.#returned ?? { ...this.#reported, ...report },
      draft.finishReason,
      this,
      this.#run.redactor,
    );
  }
}
