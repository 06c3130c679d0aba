import { readFailure } from './inference-error.ts';
import type {
  InferenceChunk,
  InferenceDriver,
  InferenceOptions,
  InferenceRequest,
  InferenceResponse,
} from './inference-driver.ts';
import type { LimitQueue, LimitTurn } from './limit-queue.ts';
import { usageOf, type Usage } from './usage.ts';

/** Longest pause that a provider can ask for. A longer one is left to retries and fallback models. */
const LONGEST_PAUSE_MS = 60_000;

/** Estimates the tokens of a request. */
export type TokenEstimate = (request: InferenceRequest) => number;

/** Wraps a driver so that its calls wait for their turn in a queue. Timeouts of the driver start after the wait. */
export function limitedDriver(
  driver: InferenceDriver,
  queue: LimitQueue,
  estimate: TokenEstimate,
): InferenceDriver {
  const { name, model, contextWindow } = driver;
  return {
    name,
    ...(model !== undefined && { model }),
    ...(contextWindow !== undefined && { contextWindow }),
    async infer(request, options): Promise<InferenceResponse> {
      const call = new LimitedCall(queue, estimate(request), options);
      if (!(await call.isAdmitted())) throw options.signal.reason;
      try {
        const response = await driver.infer(request, options);
        call.used(response?.usage);
        return response;
      } catch (error) {
        call.failed(error, queue);
        throw error;
      } finally {
        call.end();
      }
    },
    ...(driver.stream && {
      stream: (request: InferenceRequest, options: InferenceOptions) => ({
        [Symbol.asyncIterator]: () => new LimitedStream(driver, queue, estimate, request, options),
      }),
    }),
  };
}

/** One call: from its place in the queue to its end, which an abort brings at once. */
class LimitedCall {
  readonly #turn: LimitTurn;
  readonly #options: InferenceOptions;
  readonly #end = (): void => this.end();

  constructor(queue: LimitQueue, tokens: number, options: InferenceOptions) {
    options.signal.throwIfAborted();
    this.#options = options;
    this.#turn = queue.enter(tokens);
    options.signal.addEventListener('abort', this.#end, { once: true });
  }

  /** Waits for its turn; false if it ended before. */
  async isAdmitted(): Promise<boolean> {
    const turn = this.#turn;
    if (turn.ready === null) return true;
    if (!(await turn.ready)) return false;
    this.#options.queued?.(turn.waitedMs);
    return turn.state === 'in_flight';
  }

  /** Notes reported usage; without a report the estimate stays. */
  used(usage: Partial<Usage> | null | undefined): void {
    const { total } = usageOf(usage);
    if (total > 0) this.#turn.used(total);
  }

  /** Notes what a failed call used, and for how long the provider asks to wait. */
  failed(error: unknown, queue: LimitQueue): void {
    const { report, partial } = readFailure(error);
    this.used(partial.usage);
    const { type, retryable, retryAfterMs = 0 } = report;
    if (type !== 'rate_limit' || retryable === false) return;
    if (retryAfterMs > 0 && retryAfterMs <= LONGEST_PAUSE_MS) queue.pause(retryAfterMs);
  }

  end(): void {
    const turn = this.#turn;
    const wasWaiting = turn.state === 'waiting';
    turn.end();
    this.#options.signal.removeEventListener('abort', this.#end);
    // at once, so that the interrupted step says it
    if (wasWaiting) this.#options.queued?.(turn.waitedMs);
  }
}

/** A stream that begins when its turn comes, and ends its call with its last chunk or when its reader leaves. */
class LimitedStream implements AsyncIterator<InferenceChunk> {
  readonly #driver: InferenceDriver;
  readonly #queue: LimitQueue;
  readonly #estimate: TokenEstimate;
  readonly #request: InferenceRequest;
  readonly #options: InferenceOptions;
  #call: LimitedCall | null = null;
  #chunks: AsyncIterator<InferenceChunk> | null = null;
  #opening: Promise<boolean> | null = null;
  #isLeft = false;

  constructor(
    driver: InferenceDriver,
    queue: LimitQueue,
    estimate: TokenEstimate,
    request: InferenceRequest,
    options: InferenceOptions,
  ) {
    this.#driver = driver;
    this.#queue = queue;
    this.#estimate = estimate;
    this.#request = request;
    this.#options = options;
  }

  async next(): Promise<IteratorResult<InferenceChunk>> {
    if (!this.#isLeft && !this.#chunks && !(await (this.#opening ??= this.#open()))) {
      if (!this.#isLeft) this.#options.signal.throwIfAborted();
      return over;
    }
    if (this.#isLeft || !this.#chunks) return over;
    try {
      const next = await this.#chunks.next();
      if (next.done === true) this.#call?.end();
      else if (next.value.type === 'usage') this.#call?.used(next.value.usage);
      else if (next.value.type === 'done') {
        this.#call?.used(next.value.response?.usage);
        // the tools of the answer may call other models before the reader asks again
        this.#call?.end();
      }
      return next;
    } catch (error) {
      this.#call?.failed(error, this.#queue);
      this.#call?.end();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<InferenceChunk>> {
    this.#isLeft = true;
    this.#call?.end();
    return (await this.#chunks?.return?.()) ?? over;
  }

  async #open(): Promise<boolean> {
    this.#call = new LimitedCall(this.#queue, this.#estimate(this.#request), this.#options);
    if (!(await this.#call.isAdmitted())) return false;
    try {
      const chunks = this.#driver.stream?.(this.#request, this.#options);
      this.#chunks = chunks?.[Symbol.asyncIterator]() ?? null;
    } catch (error) {
      this.#call.end();
      throw error;
    }
    return this.#chunks !== null;
  }
}

const over = { done: true, value: undefined } as const;
