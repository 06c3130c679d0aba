import type { AgentEvent } from '../events/agent-event.ts';
import type { DeepPartial, JsonObject } from '../json.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import type { Stored } from '../stored.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { Call } from '../tools/tool.ts';
import type { AgentState } from './agent-state.ts';
import { readCalls, readPartials, readText } from './stream-readers.ts';

/** One call of the agent itself and its result; calls of nested agents are in the events. */
export type ToolCallRecord<C extends Call = Call> = FinishedCall<C> | FailedCall<C['tool']>;

type FinishedCall<C extends Call> = C extends Call
  ? {
      readonly ok: true;
      readonly tool: C['tool'];
      readonly callId: string;
      /** Arguments from the model, before defaults and transforms. */
      readonly args: C['args'];
      readonly result: Stored<C['result']>;
      /** The images and files of the result, without their bytes; absent if it has none. */
      readonly files?: readonly PartFacts[];
    }
  : never;

/** A call that failed, was blocked or denied, has an unknown name, or has a truncated result. */
export interface FailedCall<Name extends string = string> {
  readonly ok: false;
  readonly tool: Name | (string & {});
  readonly callId: string;
  readonly args: JsonObject | null;
  readonly error: string;
}

/**
 * A live run, resume or session. Readers are independent: each gets all events from the start, even if it starts late.
 * The stream keeps all events in memory.
 */
export interface RunStream<
  Output = unknown,
  C extends Call = Call,
  End = AgentState<Output>,
> extends AsyncIterable<AgentEvent> {
  /** Text of the agent, without nested agents, in pieces. Includes text of attempts that are discarded later. */
  readonly textStream: AsyncIterable<string>;
  /**
   * The answer so far, checked against the response format as a partial value, before defaults and transforms. Without
   * a format, the text so far.
   */
  readonly partialOutputStream: AsyncIterable<DeepPartial<Output>>;
  /** Finished calls of the agent, without those of nested agents. */
  readonly toolCalls: AsyncIterable<ToolCallRecord<C>>;
  /** The final state; rejects only on misuse. */
  readonly state: Promise<End>;
  /** @deprecated Read `state`. */
  readonly result: Promise<End>;
}

export interface StreamSource<End> {
  /** Starts the work at once. */
  start(notify: (event: AgentEvent) => void, signal: AbortSignal): Promise<End>;
  readonly signal?: AbortSignal | undefined;
  /** Whether the work aborts when the last reader leaves early. */
  readonly stopsWhenLeft: boolean;
  /** Returns the schema of the answer; null for text. Called when an answer arrives. */
  format(): JsonSchema | null;
  /** Returns the arguments of a call from an earlier run. */
  argsOf?(callId: string): JsonObject | null;
}

export function openStream<Output, C extends Call, End>(
  source: StreamSource<End>,
): RunStream<Output, C, End> {
  const log: AgentEvent[] = [];
  const waiting = new Set<() => void>();
  const abort = new AbortController();
  let isOver = false;
  let readers = 0;
  const wake = (): void => {
    for (const next of waiting) next();
    waiting.clear();
  };
  const { signal } = source;
  const onAbort = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const state = source.start((event) => {
    log.push(event);
    if (waiting.size > 0) wake();
  }, abort.signal);
  const over = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
    wake();
  };
  state.then(over, over);

  async function* events(): AsyncGenerator<AgentEvent, void, undefined> {
    let place = 0;
    readers += 1;
    try {
      for (;;) {
        for (; place < log.length; place++) yield log[place] as AgentEvent; // below the length
        if (isOver) break;
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
      await state; // misuse reaches the reader
    } finally {
      readers -= 1;
      if (!isOver && readers === 0 && source.stopsWhenLeft)
        abort.abort('the reader of the stream left');
    }
  }

  const stream = {
    [Symbol.asyncIterator]: events,
    textStream: { [Symbol.asyncIterator]: () => readText(events()) },
    partialOutputStream: { [Symbol.asyncIterator]: () => readPartials(events(), source) },
    toolCalls: { [Symbol.asyncIterator]: () => readCalls(events(), source) },
    state,
    result: state,
  };
  return stream as RunStream<Output, C, End>; // the sources check the values at run time
}
