import { Cancelled } from '../cancellation.ts';
import { isoTime } from '../clock.ts';
import { callId, isUsableCallId } from '../ids.ts';
import { LeakFilter, isCallLeak, looksLikeToolCall } from '../inference/content-guard.ts';
import type {
  InferenceChunk,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { brokenOff, readFailure } from '../inference/inference-error.ts';
import { isReport, MAX_CALLS, readResponse, type ReadCall } from '../inference/read-response.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { withFiles } from './answer-files.ts';
import { answerMetadata } from './answer-metadata.ts';
import { foundCall, FoundCallDeltas, type FoundCall } from './found-call.ts';
import { HookFailure } from './hooks.ts';
import { leaveStream } from './leave-stream.ts';
import { ModelCallLog } from './model-call-log.ts';
import { endCoolDown } from './model-chain.ts';
import { ReasoningDeltas } from './reasoning-deltas.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { TextDeltas } from './text-deltas.ts';
import { ToolCallDeltas } from './tool-call-deltas.ts';

/** Receives one answer of the model. */
export class ModelAnswer {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #ids: string[] = [];
  readonly #names: string[] = [];
  readonly #deltas: ToolCallDeltas[] = [];
  readonly #found: FoundCallDeltas[] = [];
  readonly #log: ModelCallLog;
  #reasoning: ReasoningDeltas | null = null;
  #hold: LeakFilter | null = null;
  #text: TextDeltas;
  /** Chunks that nothing shows until guards have passed; null if chunks are shown. */
  #held: ShownChunk[] | null;
  #closed = false;

  constructor(run: Run, draft: StepDraft, isHeld: boolean = false) {
    this.#run = run;
    this.#draft = draft;
    this.#log = new ModelCallLog(run, draft);
    this.#text = new TextDeltas(run, draft);
    this.#held = isHeld ? [] : null;
  }

  /** Calls the model, and streams if chunks or deltas have a listener. */
  infer(request: InferenceRequest): Promise<InferenceResponse> {
    const { cancellation, events, journal } = this.#run;
    const { driver } = this.#draft.model;
    if (cancellation.cause) return Promise.reject(new Cancelled(cancellation.cause));
    const proof = journal?.confirm();
    if (proof) return proof.then(() => this.infer(request));
    if (this.#draft.hasShown) this.#discard();
    if (this.#held) this.#held = [];
    this.#log.start(request);
    if (driver.stream && streamed.some((type) => events.wants(type)))
      return this.#stream(driver.stream(request, this.#log));
    return cancellation.race(driver.infer(request, this.#log));
  }

  noted(response: InferenceResponse): InferenceResponse {
    return this.#log.returned(response);
  }

  async #stream(chunks: AsyncIterable<InferenceChunk>): Promise<InferenceResponse> {
    const iterator = chunks[Symbol.asyncIterator]();
    const { agent } = this.#run;
    const { offered } = this.#draft;
    // an answer in a response format is JSON, which readers stream
    const mayLeak = offered.toolNameSet.size > 0 && agent.response === null;
    this.#hold = mayLeak ? new LeakFilter() : null;
    const pump = async (): Promise<InferenceResponse> => {
      for (;;) {
        const next = await iterator.next();
        if (this.#closed || this.#run.cancellation.cause) throw new Error('closed');
        if (next.done === true)
          throw brokenOff({}, 'The stream of the model ended before the answer was complete.');
        if (next.value.type === 'done') return next.value.response;
        this.#take(next.value);
      }
    };
    try {
      return await this.#run.cancellation.race(pump());
    } finally {
      leaveStream(iterator);
    }
  }

  #take(chunk: Exclude<InferenceChunk, { type: 'done' }>): void {
    if (chunk.type === 'usage') return this.#log.used(chunk);
    this.#log.chunk();
    if (this.#held) this.#held.push(chunk);
    else this.#emit(chunk);
  }

  /** Shows what was held back, and everything from now on. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const chunk of held) this.#emit(chunk);
  }

  #emit(chunk: ShownChunk): void {
    if (chunk.type === 'content') this.#text.push(this.#hold?.push(chunk.text) ?? chunk.text);
    else if (chunk.type === 'reasoning') this.#reasoningDeltas.push(chunk.text);
    else this.#takeDelta(chunk);
  }

  /** Discards the streamed text, because a hook calls the model again or the text leaked a tool call. */
  #discard(): void {
    const { events } = this.#run;
    const draft = this.#draft;
    draft.shown = '';
    draft.emitted = 0;
    draft.restart += 1;
    draft.hasShownReasoning = false;
    this.#reasoning = null;
    this.#text = new TextDeltas(this.#run, draft);
    if (events.wants('StreamDiscarded'))
      events.emit('StreamDiscarded', { stepNumber: draft.number, attempt: draft.attempt });
  }

  get #reasoningDeltas(): ReasoningDeltas {
    return (this.#reasoning ??= new ReasoningDeltas(this.#run, this.#draft));
  }

  #takeDelta(chunk: Extract<InferenceChunk, { type: 'tool_call' }>): void {
    const { index } = chunk;
    if (!(index >= 0 && index <= MAX_CALLS)) return; // calls beyond the maximum are not recorded
    const id = (this.#ids[index] ??= this.#claimId(chunk.id ?? null));
    const tool = (this.#names[index] ||= chunk.name ?? '');
    if (chunk.argsDelta === '') return;
    const { offered } = this.#draft;
    const piece =
      tool === offered.found?.callTool
        ? (this.#found[index] ??= new FoundCallDeltas(offered)).push(chunk.argsDelta)
        : { tool, argsDelta: chunk.argsDelta };
    if (piece === null) return;
    (this.#deltas[index] ??= new ToolCallDeltas(this.#run, id)).push(piece.tool, piece.argsDelta);
  }

  /**
   * Returns the provider's id, or a new one if it is missing, used before, or not safe for routes and stores. Nested
   * agents always get new ids, because they share the root's id space.
   */
  #claimId(providerId: string | null): string {
    const { usedIds, parent } = this.#run;
    const isUsable = providerId !== null && parent === null && isUsableCallId(providerId);
    const id = isUsable ? providerId : callId();
    const before = usedIds.size;
    // the set grows only for a new id
    return usedIds.add(id).size > before ? id : this.#claimId(null);
  }

  accept(response: InferenceResponse): void {
    this.release();
    const draft = this.#draft;
    const read = readResponse(response);
    this.#log.keepUsage(response ?? {});
    if (isReport(read)) {
      this.#log.keepReport(response ?? {});
      draft.failure = this.#log.failure(read);
      if (read.code === 'refusal') this.#addMessage(response.refusal ?? '', response);
      return;
    }
    draft.finishReason = read.finishReason;
    this.#log.keepReport(response);
    endCoolDown(draft.model);
    if (reasoningOf(response)) this.#reasoningDeltas.end(reasoningOf(response));
    else this.#reasoning?.end(null);
    draft.notes.push(...read.notes);
    draft.calls = Object.freeze(read.calls.map((call, i) => this.#toolCall(call, i)));
    this.#addMessage(this.#guarded(read.content, read.calls), response);
  }

  /** Returns the content to keep, and emits or drops the text that was held back. */
  #guarded(content: string, calls: readonly ReadCall[]): string {
    const draft = this.#draft;
    const { toolNameSet } = draft.offered;
    if (isCallLeak(content, calls)) {
      draft.notes.push('contentLeakDropped');
      if (draft.shown !== '') this.#discard();
      return '';
    }
    if (calls.length === 0 && toolNameSet.size > 0 && looksLikeToolCall(content, toolNameSet))
      draft.notes.push('looksLikeToolCall');
    if (draft.shown === '' && this.#run.events.wants('StreamChunk')) this.#text.push(content);
    else if (this.#hold) this.#text.push(this.#hold.release());
    this.#text.end();
    return content;
  }

  #toolCall(read: ReadCall, index: number): ToolCall {
    const draft = this.#draft;
    const call: FoundCall = draft.offered.found ? foundCall(read, draft.offered) : read;
    const id = this.#ids[index] ?? this.#claimId(call.providerId);
    if (call.problem !== undefined) (draft.problems ??= [])[index] = call.problem;
    const { providerId, name, argsRaw, via } = call;
    const args = argsRaw === undefined ? call.args : {};
    if (argsRaw === undefined && via === undefined && (providerId === null || providerId === id))
      return { id, name, args };
    return {
      id,
      ...(providerId === null || providerId === id ? null : { providerId }),
      name,
      args,
      ...(via === undefined ? null : { via }),
      ...(argsRaw === undefined ? null : { argsRaw }),
    };
  }

  #addMessage(content: string, answer: Partial<InferenceResponse>): void {
    const draft = this.#draft;
    const reasoning = reasoningOf(answer);
    draft.addMessage(
      Message.trusted({
        id: draft.messageId,
        role: 'assistant',
        content: withFiles(content, answer.files),
        toolCalls: draft.calls,
        createdAt: isoTime(this.#run.now()),
        metadata: answerMetadata(answer),
      }),
    );
    if (
      !this.#run.events.wants('MessageAdded') ||
      (content.trim() === '' && !reasoning && !answer.files)
    )
      return;
    const { messageId, number: stepNumber } = draft;
    const added = { messageId, role: 'assistant', content, stepNumber } as const;
    this.#run.pendingMessage = reasoning ? { ...added, reasoning } : added;
  }

  /** Makes late chunks have no effect. */
  close(): void {
    this.#closed = true;
  }

  /** Interrupts the answer: keeps the streamed text and drops incomplete tool calls. */
  cut(): void {
    const draft = this.#draft;
    draft.isTruncated = true;
    if (this.#hold && this.#ids.length === 0) this.#text.push(this.#hold.release());
    this.#text.end();
    this.#reasoning?.end(null);
    this.#log.keepPartialUsage();
    this.#log.keepReport();
    if (draft.shown === '') return;
    const reasoning = this.#reasoning?.received ?? null;
    this.#addMessage(draft.shown, { reasoning, metadata: { cut: true } });
  }

  /** Keeps only what the call is known to have used: another process calls the model again. */
  drop(): void {
    this.#draft.isTruncated = true;
    if (this.#log.isUsageKnown) this.#log.keepUsage({});
  }

  /** Drops an answer that a guard has blocked, and keeps what it used; null if the model has not answered. */
  block(response: InferenceResponse | null): void {
    const draft = this.#draft;
    draft.isTruncated = true;
    if (draft.hasShown) this.#discard();
    if (response) this.#log.keepUsage(response);
    else this.#log.keepPartialUsage();
    this.#log.keepReport(response ?? {});
  }

  fail(thrown: unknown): void {
    const draft = this.#draft;
    const { report, partial } = readFailure(thrown);
    const { requestId: given, ...failed } = report;
    const fromHook = thrown instanceof HookFailure;
    this.#log.keepReport(
      fromHook ? {} : { ...(given !== undefined && { requestId: given }), ...partial },
    );
    draft.failure = fromHook
      ? this.#run.record({ type: 'unknown', code: 'hook_failed', message: thrown.message })
      : this.#log.failure(failed);
    this.#log.keepPartialUsage(partial);
  }
}

/** A chunk with a part of the answer. */
type ShownChunk = Exclude<InferenceChunk, { type: 'done' | 'usage' }>;

/** Reasoning of the answer; null if the driver returned none. */
const reasoningOf = ({ reasoning }: Partial<InferenceResponse>): string | null =>
  typeof reasoning === 'string' && reasoning !== '' ? reasoning : null;

const streamed = ['StreamChunk', 'ToolCallDelta', 'ReasoningDelta'] as const;
