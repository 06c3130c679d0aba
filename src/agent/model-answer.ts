import { Cancelled } from '../cancellation.ts';
import { isoTime } from '../clock.ts';
import { streamOf, type TextStream } from '../errors/redactor.ts';
import { RedactedDeltas } from '../events/redacted-deltas.ts';
import { callId, isUsableCallId } from '../ids.ts';
import { LeakFilter, isCallLeak, looksLikeToolCall } from '../inference/content-guard.ts';
import type {
  InferenceChunk,
  InferenceRequest,
  InferenceResponse,
} from '../inference/inference-driver.ts';
import { brokenOff, readFailure, type PartialAnswer } from '../inference/inference-error.ts';
import { isReport, MOST_CALLS, readResponse, type ReadCall } from '../inference/read-response.ts';
import { costOfUsage } from '../inference/prices.ts';
import { costOf, usageOf, type Usage } from '../inference/usage.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { HookFailure } from './hooks.ts';
import { ReasoningDeltas } from './reasoning-deltas.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** One answer on its way in. */
export class ModelAnswer {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #ids: string[] = [];
  readonly #names: string[] = [];
  readonly #deltas: RedactedDeltas[] = [];
  readonly #argsTold: number[] = [];
  #reasoning: ReasoningDeltas | null = null;
  #hold: LeakFilter | null = null;
  #text: TextStream | null = null;
  #partial: PartialAnswer = {};
  #closed = false;

  constructor(run: Run, draft: StepDraft) {
    this.#run = run;
    this.#draft = draft;
  }

  /** Streams whenever chunks or deltas have a listener. */
  infer(request: InferenceRequest): Promise<InferenceResponse> {
    const { agent, cancellation, events, journal } = this.#run;
    const { driver } = agent;
    if (cancellation.cause) return Promise.reject(new Cancelled(cancellation.cause));
    const proof = journal?.confirm();
    if (proof) return proof.then(() => this.infer(request));
    if (this.#draft.hasShown) this.#discard();
    if (driver.stream && streamed.some((type) => events.wants(type)))
      return this.#stream(driver.stream(request, cancellation));
    return cancellation.race(driver.infer(request, cancellation));
  }

  /** Whatever a hook makes of the answer, what the call has used counts. */
  noted(response: InferenceResponse): InferenceResponse {
    const { usage, cost = null } = response ?? {};
    if (usage) this.#partial = { usage, cost };
    return response;
  }

  async #stream(chunks: AsyncIterable<InferenceChunk>): Promise<InferenceResponse> {
    const iterator = chunks[Symbol.asyncIterator]();
    const { agent, offered } = this.#run;
    // an answer in a response format is JSON, and readers follow it
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
      leave(iterator);
    }
  }

  #take(chunk: Exclude<InferenceChunk, { type: 'done' }>): void {
    if (chunk.type === 'content') this.#show(this.#hold?.push(chunk.text) ?? chunk.text);
    else if (chunk.type === 'usage') this.#partial = chunk;
    else if (chunk.type === 'reasoning') this.#reasoningDeltas.push(chunk.text);
    else this.#takeDelta(chunk);
  }

  #show(text: string): void {
    if (text === '') return;
    const { events, redactor } = this.#run;
    this.#draft.shown += text;
    // a text that has begun is streamed to its end: those who come back must not miss its middle
    if (this.#text !== null || events.wants('StreamChunk'))
      this.#tell((this.#text ??= streamOf(redactor)).push(text));
  }

  /** Nothing more comes: what could have become a secret has not, or is hidden. */
  #showRest(): void {
    if (this.#text) this.#tell(this.#text.end());
  }

  #tell(content: string): void {
    if (content === '') return;
    const draft = this.#draft;
    const { messageId, number: stepNumber, attempt, chunks: index, told: offset, restart } = draft;
    draft.chunks = index + 1;
    draft.told = offset + content.length;
    const chunk = { messageId, stepNumber, attempt, content, offset };
    this.#run.events.emit('StreamChunk', restart === 0 ? chunk : { ...chunk, restart }, index);
  }

  /** A hook asks once more: what the first try had shown is void. */
  #discard(): void {
    const { events } = this.#run;
    const draft = this.#draft;
    draft.shown = '';
    draft.told = 0;
    draft.restart += 1;
    draft.hasShownReasoning = false;
    this.#reasoning = null;
    this.#text = null;
    if (events.wants('StreamDiscarded'))
      events.emit('StreamDiscarded', { stepNumber: draft.number, attempt: draft.attempt });
  }

  get #reasoningDeltas(): ReasoningDeltas {
    return (this.#reasoning ??= new ReasoningDeltas(this.#run, this.#draft));
  }

  #takeDelta(chunk: Extract<InferenceChunk, { type: 'tool_call' }>): void {
    const { events, redactor } = this.#run;
    const { index } = chunk;
    if (!(index >= 0 && index <= MOST_CALLS)) return; // too many: they are not recorded
    const id = (this.#ids[index] ??= this.#claimId(chunk.id ?? null));
    const tool = (this.#names[index] ||= chunk.name ?? '');
    if (chunk.argsDelta === '' || !events.wants('ToolCallDelta')) return;
    const argsDelta = (this.#deltas[index] ??= new RedactedDeltas(redactor)).push(chunk.argsDelta);
    if (argsDelta === '') return;
    const offset = this.#argsTold[index] ?? 0;
    this.#argsTold[index] = offset + argsDelta.length;
    events.emit('ToolCallDelta', { toolCallId: id, tool, argsDelta, offset });
  }

  /**
   * Ours if the provider's is missing, was used before, or holds anything that a route or a store could not carry;
   * always ours in nested agents, whose ids share the root's space.
   */
  #claimId(providerId: string | null): string {
    const { usedIds, parent } = this.#run;
    const isUsable = providerId !== null && parent === null && isUsableCallId(providerId);
    const id = isUsable ? providerId : callId();
    const before = usedIds.size;
    // a set that does not grow has seen the id before
    return usedIds.add(id).size > before ? id : this.#claimId(null);
  }

  accept(response: InferenceResponse): void {
    const draft = this.#draft;
    const read = readResponse(response);
    const usage = response?.usage ?? this.#partial.usage;
    const told = response?.cost ?? this.#partial.cost;
    draft.usage = usageOf(usage);
    // without a count there is nothing to price: unknown, not free
    draft.cost = usage ? this.#costOf(draft.usage, told) : costOf(told);
    if (isReport(read)) {
      draft.failure = this.#run.record(read);
      if (read.code === 'refusal') this.#addMessage(response.refusal ?? '', response);
      return;
    }
    draft.finishReason = read.finishReason;
    if (reasoningOf(response)) this.#reasoningDeltas.end(reasoningOf(response));
    else this.#reasoning?.end(null);
    draft.notes.push(...read.notes);
    draft.calls = Object.freeze(read.calls.map((call, i) => this.#toolCall(call, i)));
    this.#addMessage(this.#guarded(read.content, read.calls), response);
  }

  /** The content to keep; also decides what becomes of text that was held back. */
  #guarded(content: string, calls: readonly ReadCall[]): string {
    const { toolNameSet } = this.#run.offered;
    const draft = this.#draft;
    if (isCallLeak(content, calls)) {
      draft.notes.push('contentLeakDropped');
      if (draft.shown !== '') this.#discard();
      return '';
    }
    if (calls.length === 0 && toolNameSet.size > 0 && looksLikeToolCall(content, toolNameSet))
      draft.notes.push('looksLikeToolCall');
    if (draft.shown === '' && this.#run.events.wants('StreamChunk')) this.#show(content);
    else if (this.#hold) this.#show(this.#hold.release());
    this.#showRest();
    return content;
  }

  #toolCall(call: ReadCall, index: number): ToolCall {
    const id = this.#ids[index] ?? this.#claimId(call.providerId);
    if (call.problem !== undefined) (this.#draft.problems ??= [])[index] = call.problem;
    const { providerId, name, argsRaw } = call;
    const args = argsRaw === undefined ? call.args : {};
    if (argsRaw === undefined && (providerId === null || providerId === id))
      return { id, name, args };
    return {
      id,
      ...(providerId === null || providerId === id ? null : { providerId }),
      name,
      args,
      ...(argsRaw === undefined ? null : { argsRaw }),
    };
  }

  #addMessage(content: string, answer: Partial<InferenceResponse>): void {
    const draft = this.#draft;
    const { metadata } = answer;
    const reasoning = reasoningOf(answer);
    draft.addMessage(
      Message.trusted({
        id: draft.messageId,
        role: 'assistant',
        content,
        toolCalls: draft.calls,
        createdAt: isoTime(this.#run.now()),
        metadata: reasoning ? { ...metadata, reasoning } : (metadata ?? noMetadata),
      }),
    );
    if (!this.#run.events.wants('MessageAdded') || (content.trim() === '' && !reasoning)) return;
    const { messageId, number: stepNumber } = draft;
    const added = { messageId, role: 'assistant', content, stepNumber } as const;
    this.#run.untold = reasoning ? { ...added, reasoning } : added;
  }

  /** Late chunks of a call that is over change nothing. */
  close(): void {
    this.#closed = true;
  }

  /** Keeps what was shown; calls that had begun to arrive are dropped, for they never were asked for. */
  cut(): void {
    const draft = this.#draft;
    draft.isCut = true;
    if (this.#hold && this.#ids.length === 0) this.#show(this.#hold.release());
    this.#showRest();
    this.#reasoning?.end(null);
    this.#keepUsage(this.#partial);
    if (draft.shown === '') return;
    const reasoning = this.#reasoning?.received ?? null;
    this.#addMessage(draft.shown, { reasoning, metadata: { cut: true } });
  }

  fail(thrown: unknown): void {
    const fromHook = thrown instanceof HookFailure;
    const { report, partial } = readFailure(thrown);
    this.#draft.failure = this.#run.record(
      fromHook ? { type: 'unknown', code: 'hook_failed', message: thrown.message } : report,
    );
    this.#keepUsage({ ...this.#partial, ...partial });
  }

  /** What the driver says, else by the price table. */
  #costOf(usage: Usage, told: number | null | undefined): number | null {
    const { price } = this.#run.agent;
    return costOf(told) ?? (price === null ? null : costOfUsage(usage, price));
  }

  #keepUsage({ usage, cost }: PartialAnswer): void {
    const draft = this.#draft;
    if (usage === undefined) draft.notes.push('usageUnknown');
    draft.usage = usageOf(usage);
    draft.cost = usage === undefined ? costOf(cost) : this.#costOf(draft.usage, cost);
  }
}

/** Not awaited: a driver that hangs must not hold the run. */
function leave(iterator: AsyncIterator<unknown>): void {
  const left = async (): Promise<unknown> => iterator.return?.();
  left().catch(() => {});
}

/** Null where the driver gave none. */
const reasoningOf = ({ reasoning }: Partial<InferenceResponse>): string | null =>
  typeof reasoning === 'string' && reasoning !== '' ? reasoning : null;

const noMetadata = Object.freeze({});
const streamed = ['StreamChunk', 'ToolCallDelta', 'ReasoningDelta'] as const;
