import { Cancellation, Cancelled, type CancelCause } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import type { Tool, ToolContext, ToolStateView } from './tool.ts';
import type { JsonObject } from '../json.ts';

/** What {@link callTool} rejects with when a tool takes longer than it may. */
export class ToolTimeout extends Error {
  override readonly name = 'ToolTimeout';
}

/** What the loop lends to a call. */
export interface CallFrame {
  readonly state: ToolStateView & { readonly execution: { readonly id: string } };
  readonly deps: Record<string, unknown>;
  readonly cancellation: Cancellation;
  readonly clock: Clock;
  requestStop(reason: string): void;
  requestPause(reason: string): void;
}

/** The context handed to `execute`; its signal is only made if the tool asks for it. */
class CallContext implements ToolContext {
  readonly callId: string;
  readonly #frame: CallFrame;
  #own: Cancellation | null = null;
  #cause: CancelCause | null = null;

  constructor(callId: string, frame: CallFrame) {
    this.callId = callId;
    this.#frame = frame;
  }

  cancel(cause: CancelCause): void {
    this.#cause = cause;
    this.#own?.cancel(cause);
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
  get metadata(): JsonObject {
    return this.#frame.state.metadata;
  }
  // functions of their own, so that `({ requestStop })` works
  get requestStop(): (reason: string) => void {
    return (reason) => this.#frame.requestStop(reason);
  }
  get requestPause(): (reason: string) => void {
    return (reason) => this.#frame.requestPause(reason);
  }
}

/** Runs `execute` until it settles, its time is up ({@link ToolTimeout}) or the run is cancelled ({@link Cancelled}). */
export function callTool(
  tool: Tool,
  args: unknown,
  callId: string,
  frame: CallFrame,
): Promise<unknown> {
  const { cause } = frame.cancellation;
  if (cause) return Promise.reject(new Cancelled(cause));
  const context = new CallContext(callId, frame);
  return new Promise((resolve, reject) => {
    let stopTimer: (() => void) | undefined;
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      stopTimer?.();
      leave();
    };
    const leave = frame.cancellation.onCancel((cause) => {
      isSettled = true;
      stopTimer?.();
      context.cancel(cause);
      reject(new Cancelled(cause));
    });
    const fail = (error: unknown): void => {
      settle();
      reject(error);
    };
    try {
      const returned = tool.execute(args, context);
      if (!isThenable(returned)) {
        settle();
        resolve(returned);
        return;
      }
      returned.then((value) => {
        settle();
        resolve(value);
      }, fail);
      // in line behind the result: a tool that answers at once never costs a timer
      queueMicrotask(() => {
        if (isSettled) return;
        stopTimer = frame.clock.after(tool.timeoutMs, () => {
          const reason = `Tool "${tool.name}" took longer than its ${tool.timeoutMs} ms.`;
          context.cancel({ by: 'deadline', reason });
          fail(new ToolTimeout(reason));
        });
      });
    } catch (error) {
      fail(error);
    }
  });
}

/** Query builders and the like are thenables, not promises. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function';
