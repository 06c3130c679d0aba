import {
  AgentBuilder,
  ErrorPolicy,
  type Agent,
  type AgentEvent,
  type ContinuationEvaluation,
  type JsonObject,
  type Tool,
} from 'onward';
import { type InferenceDriver, modelCallFailed, type InferenceResponse } from 'onward/drivers';
import type { FakeClock } from 'onward/testing';

/** One answer of a metered model. */
export interface Spoken {
  readonly call?: string;
  /** How many times the answer calls it. */
  readonly times?: number;
  readonly text?: string;
  readonly tokens: number;
  readonly cost?: number | null;
  readonly delayMs?: number;
  /** Fails with this usage, or without usage. */
  readonly fails?: 'with usage' | 'without usage';
}

/** Counts the model calls of a family independently, for comparison with the totals. */
export class Meter {
  spent = 0;
  calls = 0;
  failed = 0;
  /** Sizes of the calls in flight. */
  readonly inFlight: Set<{ readonly tokens: number }> = new Set();
  mostInFlight = 0;
  /** At the start of each call: the known usage, and the expected usage of the calls in flight. */
  readonly starts: {
    readonly agent: string;
    readonly spent: number;
    readonly reserved: number;
    readonly limit: number;
  }[] = [];
  /** The largest call of a nested agent that this process knows. */
  #largest = 0;
  /** The usage before this moment: the usage of a call that just ended is not reported yet. */
  #spentBefore: number | null = null;
  /** The size of the calls that were in flight when a limit was reached. */
  overdraft = 0;
  limit: number;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.limit = limit;
  }

  /** Raises the limit by a grant. */
  raise(by: number): void {
    if (by > 0) this.overdraft = 0;
    this.limit += by;
  }

  begin(agent: string, call: { readonly tokens: number }): void {
    this.calls += 1;
    const reserved = this.#spentBefore === null ? this.inFlight.size * this.#largest : 0;
    this.starts.push({
      agent,
      spent: this.#spentBefore ?? this.spent,
      reserved,
      limit: this.limit,
    });
    this.inFlight.add(call);
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight.size);
  }

  /** Simulates another process, which knows the totals but not the size of calls. */
  forget(): void {
    this.#largest = 0;
  }

  end(agent: string, call: { readonly tokens: number }, used: number): void {
    if (this.#spentBefore === null) {
      this.#spentBefore = this.spent;
      setImmediate(() => (this.#spentBefore = null));
    }
    if (agent !== 'root') this.#largest = Math.max(this.#largest, used);
    const isCrossing = this.spent < this.limit && this.spent + used >= this.limit;
    if (isCrossing) for (const { tokens } of this.inFlight) this.overdraft += tokens;
    this.inFlight.delete(call);
    this.spent += used;
  }
}

let ids = 0;

/** A model that answers with `speak` and reports its usage only when the call ends. */
export const meteredModel = (
  agent: string,
  meter: Meter,
  speak: (answers: number) => Spoken,
  clock: FakeClock | null = null,
): InferenceDriver => {
  return {
    name: 'metered',
    async infer({ messages }, { signal }): Promise<InferenceResponse> {
      const said = speak(messages.withRole('assistant').length);
      const call = { tokens: said.tokens };
      meter.begin(agent, call);
      let used = 0;
      try {
        if (said.delayMs !== undefined) await delay(clock, said.delayMs, signal);
        used = said.fails === 'without usage' ? 0 : said.tokens;
      } finally {
        meter.end(agent, call, used);
      }
      const usage = { input: said.tokens, output: 0, total: said.tokens };
      if (said.fails) {
        meter.failed += 1;
        throw modelCallFailed(
          { type: 'model', code: 'server_error', message: 'down', retryable: true },
          said.fails === 'with usage' ? { usage, cost: said.cost ?? null } : {},
        );
      }
      return answer(said, usage);
    },
  };
};

function answer({ call, times = 1, text = '', cost }: Spoken, usage: { readonly total: number }) {
  const args: JsonObject = { input: 'please' };
  return {
    content: text,
    toolCalls:
      call === undefined
        ? []
        : Array.from({ length: times }, () => ({ id: `m${++ids}`, name: call, args })),
    finishReason: call === undefined ? 'stop' : 'tool_calls',
    usage,
    ...(cost != null && { cost }),
  } as unknown as InferenceResponse;
}

const delay = (clock: FakeClock | null, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
    const done = (): void => {
      signal.removeEventListener('abort', fail);
      resolve();
    };
    if (clock) clock.after(ms, done);
    else setTimeout(done, ms);
  });

/** An agent with a metered model and any number of steps. */
export const member = (
  name: string,
  meter: Meter,
  speak: (call: number) => Spoken,
  ...tools: readonly Tool[]
): AgentBuilder =>
  AgentBuilder.base()
    .withName(name)
    .withDriver(meteredModel(name, meter, speak))
    .withTools(...tools)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors());

export const asTool = (agent: Agent, name: string): Tool =>
  agent.asTool({ name, description: `Asks ${name}.` });

/** Records how nested agents ended: the deciding evaluations, by agent. */
export function listening(): {
  readonly ends: { readonly agent: string; readonly decisive: ContinuationEvaluation }[];
  readonly wiretap: (event: AgentEvent) => void;
} {
  const names = new Map<string, string>();
  const ends: { agent: string; decisive: ContinuationEvaluation }[] = [];
  return {
    ends,
    wiretap(event) {
      if (event.type === 'AgentStarted') names.set(event.agentId, event.agentName);
      if (event.type !== 'AgentFinished' || event.parentAgentId === null) return;
      const decisive = event.outcome?.decisive;
      if (decisive) ends.push({ agent: names.get(event.agentId) ?? '', decisive });
    },
  };
}
