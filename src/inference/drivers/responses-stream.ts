import { isRecord, type JsonObject } from '../../json.ts';
import { isBlank } from '../../messages/content-part.ts';
import { finishReasonOf } from '../finish-word.ts';
import type { InferenceChunk, InferenceResponse, InferredToolCall } from '../inference-driver.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';
import type { ProviderReport } from '../model-call-info.ts';
import { MAX_CALLS } from '../read-response.ts';
import type { AnswerFormat, AnswerStream } from './answer-format.ts';
import { readCall, string } from './chat-message.ts';
import { usageIn, type ChatUsage } from './chat-usage.ts';
import { reportIn } from './request-id.ts';
import { isErrorBody } from './provider-error.ts';
import { ReasoningParts } from './reasoning-parts.ts';
import { filesOf, keptItem, partsOf, problemIn, type OutputItem } from './responses-output.ts';
import { callTypes, metadataOf, type StateOrigin } from './responses-state.ts';

/** Assembles an answer of the Responses API event by event, or from a whole response. */
class ResponsesStream implements AnswerStream {
  readonly #origin: StateOrigin;
  /** Output items by their index, in order of arrival. */
  readonly #items: Map<number, OutputItem> = new Map();
  #last: OutputItem | null = null;
  /** Index for an item that has none of its own. */
  #free = 0;
  #content = '';
  readonly #reasoning = new ReasoningParts();
  #calls = 0;
  #final: Record<string, unknown> | null = null;
  #report: ChatUsage | null = null;
  /** Model and id of the response. */
  #source: ProviderReport = {};

  constructor(origin: StateOrigin) {
    this.#origin = origin;
  }

  get hasChoice(): boolean {
    return this.#final !== null;
  }
  get isFinished(): boolean {
    return this.#final !== null;
  }
  get isOver(): boolean {
    return this.#final !== null;
  }

  get report(): ProviderReport {
    return this.#source;
  }

  get partial(): PartialAnswer {
    const toolCalls = this.#toolCalls(true);
    return {
      ...this.#source,
      ...(this.#content === '' ? null : { content: this.#content }),
      ...(toolCalls.length === 0 ? null : { toolCalls }),
      ...this.#report,
    };
  }

  read(event: Record<string, unknown>): InferenceChunk[] {
    const out: InferenceChunk[] = [];
    const delta = string(event['delta']);
    switch (event['type']) {
      case 'response.output_text.delta':
        this.#say(this.#itemOf(event, 'message'), delta, out);
        break;
      case 'response.refusal.delta':
        this.#itemOf(event, 'message').refusal += delta;
        break;
      case 'response.reasoning_summary_text.delta':
        this.#think(
          this.#itemOf(event, 'reasoning'),
          'summary',
          event['summary_index'],
          delta,
          out,
        );
        break;
      case 'response.reasoning_text.delta':
        this.#think(
          this.#itemOf(event, 'reasoning'),
          'content',
          event['content_index'],
          delta,
          out,
        );
        break;
      case 'response.function_call_arguments.delta':
        this.#growCall(this.#itemOf(event, 'function_call'), delta, out);
        break;
      case 'response.custom_tool_call_input.delta':
        this.#growCall(this.#itemOf(event, 'custom_tool_call'), delta, out);
        break;
      case 'response.output_item.added':
        if (isRecord(event['item'])) this.#begin(event['output_index'], event['item'], out);
        break;
      case 'response.output_item.done':
        if (isRecord(event['item'])) this.#complete(event['output_index'], event['item'], out);
        break;
      case 'response.created':
        if (isRecord(event['response'])) this.#source = reportIn(event['response']);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        if (isRecord(event['response'])) this.finish(event['response'], out);
        break;
      default:
    }
    return out;
  }

  end(): InferenceChunk[] {
    return [];
  }

  /** Reads the whole response, and emits what did not arrive in events. */
  finish(response: Record<string, unknown>, out: InferenceChunk[]): void {
    const { output } = response;
    if (Array.isArray(output))
      for (const [index, item] of (output as unknown[]).entries())
        if (isRecord(item) && !this.#items.get(index)?.whole) this.#complete(index, item, out);
    this.#final = response;
    this.#source = { ...this.#source, ...reportIn(response) };
    const report = usageIn(response);
    if (report === null) return;
    this.#report = report;
    out.push({ type: 'usage', ...report });
  }

  response(): InferenceResponse {
    const final = this.#final ?? {};
    const items = [...this.#items.values()];
    const problem = problemIn(final, items);
    if (problem) throw modelCallFailed(problem, this.partial);
    const { status, incomplete_details: details } = final;
    const isCut = status === 'incomplete';
    const toolCalls = this.#toolCalls(isCut);
    const reported = isCut && isRecord(details) ? string(details['reason']) : '';
    const word = reported || string(status);
    const refusal = items.map((item) => item.refusal).join('') || null;
    const files = filesOf(items);
    const isEmpty =
      isBlank(this.#content) && toolCalls.length + files.length === 0 && refusal === null;
    const reason = finishReasonOf(word, !isCut && toolCalls.length > 0, isEmpty);
    const metadata = isCut || refusal !== null ? undefined : this.#metadata(items);
    return {
      ...this.#source,
      content: this.#content,
      toolCalls,
      reasoning: this.#reasoning.text || null,
      refusal,
      finishReason: isCut && reason === 'stop' ? 'length' : reason,
      ...(word === '' ? null : { rawFinishReason: word }),
      ...(files.length > 0 ? { files } : null),
      usage: this.#report?.usage ?? null,
      ...(this.#report?.cost == null ? null : { cost: this.#report.cost }),
      ...(metadata ? { metadata } : null),
    };
  }

  #metadata(items: readonly OutputItem[]): JsonObject | undefined {
    if (this.#calls > MAX_CALLS + 1) return undefined; // the message keeps fewer
    return metadataOf(
      this.#origin,
      items.map(keptItem).filter((item) => item !== null),
    );
  }

  #toolCalls(cutOff: boolean): InferredToolCall[] {
    const calls = [...this.#items.values()].filter(({ call }) => call >= 0);
    return calls.map(({ type, callId, name, args, whole }) =>
      type === 'custom_tool_call'
        ? {
            id: callId || null,
            name,
            args: { input: args },
            argsRaw: JSON.stringify({ input: args }),
          }
        : readCall(callId, name, args, cutOff && whole?.['status'] !== 'completed'),
    );
  }

  /** Returns the item of an event; starts one if the server did not announce it. */
  #itemOf({ output_index: index }: Record<string, unknown>, type: string): OutputItem {
    const known = typeof index === 'number' ? this.#items.get(index) : this.#last;
    return known?.type === type ? known : this.#add(index, type);
  }

  #add(index: unknown, type: string): OutputItem {
    const item: OutputItem = {
      type,
      text: '',
      refusal: '',
      thought: null,
      callId: '',
      name: '',
      args: '',
      emitted: 0,
      call: -1,
      whole: null,
    };
    const isFree = typeof index === 'number' && !this.#items.has(index);
    while (!isFree && this.#items.has(this.#free)) this.#free++;
    this.#items.set(isFree ? index : this.#free, item);
    this.#last = item;
    return item;
  }

  #begin(index: unknown, source: Record<string, unknown>, out: InferenceChunk[]): void {
    const item = this.#add(index, string(source['type']));
    if (callTypes.has(item.type)) this.#nameCall(item, source, out);
  }

  #complete(index: unknown, source: Record<string, unknown>, out: InferenceChunk[]): void {
    const type = string(source['type']);
    const item = this.#itemOf({ output_index: index }, type);
    item.whole = source;
    if (type === 'message') {
      const { text, refusal } = partsOf(source['content']);
      if (text.startsWith(item.text)) this.#say(item, text.slice(item.text.length), out);
      if (refusal !== '') item.refusal = refusal;
    } else if (type === 'reasoning' && item.thought === null) {
      for (const kind of ['summary', 'content'] as const)
        if (Array.isArray(source[kind]))
          for (const [part, { text }] of (source[kind] as unknown[]).filter(isRecord).entries())
            this.#think(item, kind, part, string(text), out);
    } else if (callTypes.has(type)) {
      const args = string(source['arguments'] ?? source['input']);
      if (args.startsWith(item.args)) item.args = args;
      this.#nameCall(item, source, out);
    }
  }

  #say(item: OutputItem, text: string, out: InferenceChunk[]): void {
    if (text === '') return;
    item.text += text;
    this.#content += text;
    out.push({ type: 'content', text });
  }

  /** Reads reasoning. A server may send a summary and the reasoning itself: the first one counts. */
  #think(
    item: OutputItem,
    kind: 'summary' | 'content',
    part: unknown,
    delta: string,
    out: InferenceChunk[],
  ): void {
    if (delta === '') return;
    item.thought ??= { kind, parts: new Map() };
    if (item.thought.kind !== kind) return;
    const { parts } = item.thought;
    if (!parts.has(part)) parts.set(part, {});
    out.push({ type: 'reasoning', text: this.#reasoning.add(parts.get(part), delta) });
  }

  #growCall(item: OutputItem, delta: string, out: InferenceChunk[]): void {
    item.args += delta;
    if (delta !== '') this.#emitCall(item, out);
  }

  #nameCall(item: OutputItem, source: Record<string, unknown>, out: InferenceChunk[]): void {
    item.callId ||= string(source['call_id']);
    item.name ||= string(source['name']);
    if (item.call < 0 || item.emitted < item.args.length) this.#emitCall(item, out);
  }

  /** Emits what is new in a call once it has a name. */
  #emitCall(item: OutputItem, out: InferenceChunk[]): void {
    const { callId, name, args } = item;
    if (name === '') return;
    if (item.call < 0) item.call = this.#calls++;
    const argsDelta = args.slice(item.emitted);
    item.emitted = args.length;
    out.push({ type: 'tool_call', index: item.call, id: callId || null, name, argsDelta });
  }
}

/** Answers of the Responses API, for one model family and account. */
export const responsesFormat = (model: string, account: string): AnswerFormat => ({
  stream: (server) => new ResponsesStream({ server, model, account }),
  whole(body, server) {
    if (!isRecord(body) || !Array.isArray(body['output'])) return null;
    const stream = new ResponsesStream({ server, model, account });
    stream.finish(body, []);
    return stream.response();
  },
  errorIn(event) {
    if (isErrorBody(event)) return event;
    const response = isRecord(event) ? event['response'] : undefined;
    const isFailed = isRecord(event) && event['type'] === 'response.failed';
    return isFailed ? (response ?? event) : null;
  },
  missing: 'it has no output',
});
