import { Cancellation, Cancelled, type Cancellable, type CancelCause } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import type { Message } from '../messages/message.ts';
import { requestInput, type GivenInput } from './input-request.ts';
import type { AnyTool, ToolContext, ToolStateView } from './tool.ts';
import type { JsonObject } from '../json.ts';
import { ProgressReports, type ToolProgress } from './tool-progress.ts';

/** Rejection of {@link callTool} when a tool exceeds its time. */
export class ToolTimeout extends Error {
  override readonly name = 'ToolTimeout';
}

/** What the tool that reads earlier results gets besides. */
export interface ReadingContext extends ToolContext {
  /** Returns a result of this agent's conversation that is not in `state.messages`; null if there is none. */
  earlierResult(messageId: string): Promise<Message | null>;
}

/** What the loop provides to a call. */
export interface CallFrame {
  readonly state: ToolStateView & { readonly execution: { readonly id: string } };
  readonly deps: Record<string, unknown>;
  readonly cancellation: Cancellation;
  readonly clock: Clock;
  requestStop(reason: string, toolName?: string): void;
  requestPause(reason: string): void;
  reportProgress(tool: string, callId: string, progress: ToolProgress): void;
  earlierResult?(messageId: string): Promise<Message | null>;
  /** Headers that continue the trace of the call. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

/**
 * The context of `execute`, and the call itself while it runs. Its signal is created only if the tool reads it, and
 * its timer only if the tool is asynchronous.
 */
class RunningCall implements ReadingContext, Cancellable {
  readonly callId: string;
  readonly input: GivenInput | null;
  readonly #tool: AnyTool;
  readonly #frame: CallFrame;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;
  #isSettled = false;
  #stopTimer: (() => void) | null = null;
  #own: Cancellation | null = null;
  #cause: CancelCause | null = null;
  #reports: ProgressReports | null = null;

  constructor(
    tool: AnyTool,
    callId: string,
    input: GivenInput | null,
    frame: CallFrame,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#tool = tool;
    this.callId = callId;
    this.input = input;
    this.#frame = frame;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(args: unknown): void {
    this.#frame.cancellation.join(this);
    try {
      const returned = this.#tool.execute(args, this);
      if (!isThenable(returned)) return this.#succeed(returned);
      returned.then(
        (value) => this.#succeed(value),
        (error: unknown) => this.#fail(error),
      );
      queueMicrotask(() => this.#watch());
    } catch (error) {
      this.#fail(error);
    }
  }

  cancelled(cause: CancelCause): void {
    this.#abort(cause);
    this.#fail(new Cancelled(cause));
  }

  #watch(): void {
    const { name, timeoutMs } = this.#tool;
    if (this.#isSettled || !Number.isFinite(timeoutMs)) return;
    this.#stopTimer = this.#frame.clock.after(timeoutMs, () => {
      const reason = `Tool "${name}" took longer than its ${timeoutMs} ms.`;
      this.#abort({ by: 'deadline', reason });
      this.#fail(new ToolTimeout(reason));
    });
  }

  #abort(cause: CancelCause): void {
    this.#cause = cause;
    this.#own?.cancel(cause);
  }

  #succeed(value: unknown): void {
    this.#settle();
    this.#resolve(value);
  }

  #fail(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#stopTimer?.();
    this.#frame.cancellation.leave(this);
  }

  get signal(): AbortSignal {
    this.#own ??= new Cancellation();
    if (this.#cause) this.#own.cancel(this.#cause);
    return this.#own.signal;
  }
  get state(): ToolStateView {
    return this.#frame.state;
  }
  get executionId(): string {
    return this.#frame.state.execution.id;
  }
  get idempotencyKey(): string {
    return `${this.executionId}:${this.callId}`;
  }
  get deps(): Record<string, unknown> {
    return this.#frame.deps;
  }
  get traceHeaders(): Readonly<Record<string, string>> {
    return this.#frame.traceHeaders ?? {};
  }
  get metadata(): JsonObject {
    return this.#frame.state.metadata;
  }
  get progress(): (progress: ToolProgress) => void {
    const { clock } = this.#frame;
    this.#reports ??= new ProgressReports(
      () => clock.now(),
      (known) => this.#frame.reportProgress(this.#tool.name, this.callId, known),
    );
    const reports = this.#reports;
    return (progress) => {
      if (!this.#isSettled) reports.report(progress);
    };
  }
  earlierResult(messageId: string): Promise<Message | null> {
    return this.#frame.earlierResult?.(messageId) ?? Promise.resolve(null);
  }
  // bound functions, so that `({ requestStop })` works
  get requestStop(): (reason: string) => void {
    return (reason) => this.#frame.requestStop(reason, this.#tool.name);
  }
  get requestInput(): typeof requestInput {
    return requestInput;
  }

  get requestPause(): (reason: string) => void {
    return (reason) => this.#frame.requestPause(reason);
  }
}

/** Runs `execute` until it settles, times out ({@link ToolTimeout}) or the run is canceled ({@link Cancelled}). */
export function callTool(
  tool: AnyTool,
  args: unknown,
  callId: string,
  frame: CallFrame,
  input: GivenInput | null = null,
): Promise<unknown> {
  const { cause } = frame.cancellation;
  if (cause) return Promise.reject(new Cancelled(cause));
  return new Promise((resolve, reject) => {
    new RunningCall(tool, callId, input, frame, resolve, reject).start(args);
  });
}

/** Whether a value is thenable: query builders are thenables, not promises. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function';
