import { uuid } from '../ids.ts';
import type { InputAnswer } from '../tools/input-request.ts';
import type { ToolProgress } from '../tools/tool-progress.ts';
import { questionKey } from './server-question.ts';
import { raced } from './waiting.ts';

/** Most questions of a connection that wait for an answer. */
const MAX_ASKED = 64;
const MAX_DELAY_MS = 2_147_483_647;

/** A question that a server asked on the connection, and holds the call open for. */
export interface Asked {
  readonly key: string;
  readonly params: unknown;
  /** Whether the request of the server was lost or withdrawn. */
  isGone(): boolean;
  answer(answer: InputAnswer): void;
}

type CallResult = Readonly<Record<string, unknown>>;
type Send = (call: {
  readonly signal: AbortSignal;
  progress(report: ToolProgress): void;
}) => Promise<CallResult>;

/** What a call has come to. */
export type CallTurn = { readonly result: CallResult } | { readonly asked: readonly Asked[] };

/** A call that a server works on. It may outlive the run that began it while a person is asked. */
export class OpenCall {
  readonly id: string = uuid();
  readonly asked: Map<string, Asked> = new Map();
  readonly #result: Promise<CallResult>;
  readonly #abort: AbortController = new AbortController();
  readonly #stored: Map<string, InputAnswer>;
  #progress: (report: ToolProgress) => void = () => {};
  #wake: () => void = () => {};
  #timer: ReturnType<typeof setTimeout> | null = null;
  isSettled = false;

  constructor(send: Send, stored: ReadonlyMap<string, InputAnswer>, settled: () => void) {
    this.#stored = new Map(stored);
    const progress = (report: ToolProgress): void => this.#progress(report);
    this.#result = send({ signal: this.#abort.signal, progress }).finally(() => {
      this.isSettled = true;
      settled();
    });
    // a held call may fail while nothing waits for it
    this.#result.catch(() => {});
  }

  /** Waits for the result or for questions. The signal cancels the call on the server. */
  async next(signal: AbortSignal, progress: (report: ToolProgress) => void): Promise<CallTurn> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#progress = progress;
    const abort = (): void => this.#abort.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      const asked = new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.asked.size === 0 || this.isSettled)
        await raced(Promise.race([this.#result, asked]), signal);
      if (!this.isSettled && this.asked.size > 0) return { asked: [...this.asked.values()] };
      return { result: await this.#result };
    } finally {
      this.#progress = () => {};
      signal.removeEventListener('abort', abort);
    }
  }

  /** Returns an answer of an earlier try to the same question. Each is used once. */
  stored(key: string): InputAnswer | undefined {
    const answer = this.#stored.get(key);
    this.#stored.delete(key);
    return answer;
  }

  ask(asked: Asked): void {
    this.asked.get(asked.key)?.answer({ action: 'cancel' });
    this.asked.set(asked.key, asked);
    this.#wake();
  }

  answer(key: string, answer: InputAnswer): void {
    const asked = this.asked.get(key);
    this.asked.delete(key);
    asked?.answer(answer);
  }

  /** Cancels the call if nothing continues it in time. */
  expireAfter(ms: number, expired: () => void): void {
    this.#timer = setTimeout(
      () => {
        this.#abort.abort(new Error('no answer came in time'));
        expired();
      },
      Math.min(ms, MAX_DELAY_MS),
    );
    (this.#timer as { unref?(): void }).unref?.();
  }
}

/** The calls of one connection: a server that holds a request open does not say for which of them it asks. */
export class OpenCalls {
  readonly #running: Set<OpenCall> = new Set();
  readonly #held: Map<string, OpenCall> = new Map();
  #unplaced: readonly Asked[] = [];

  start(send: Send, stored: ReadonlyMap<string, InputAnswer>): OpenCall {
    const call: OpenCall = new OpenCall(send, stored, () => {
      this.#running.delete(call);
      this.#place();
    });
    this.#running.add(call);
    return call;
  }

  /** Keeps a call whose questions are with the user. */
  hold(call: OpenCall, ms: number): void {
    this.#held.set(call.id, call);
    call.expireAfter(ms, () => this.#held.delete(call.id));
  }

  /** Takes a held call back; null if this process does not have it. */
  take(id: string): OpenCall | null {
    const call = this.#held.get(id) ?? null;
    this.#held.delete(id);
    return call;
  }

  /** Asks the user. Settles with what the server gets. */
  ask(params: unknown, signal: AbortSignal): Promise<InputAnswer> {
    return new Promise((resolve) => {
      const waiting = [...this.#running].reduce((sum, { asked }) => sum + asked.size, 0);
      if (waiting + this.#unplaced.length >= MAX_ASKED) return resolve({ action: 'cancel' });
      const asked = {
        key: questionKey(params),
        params,
        isGone: () => signal.aborted,
        answer: resolve,
      };
      this.#unplaced = [...this.#unplaced, asked];
      this.#place();
    });
  }

  /** Gives questions to calls once it is clear whose they are: the calls without one are not more than the questions. */
  #place(): void {
    const running = [...this.#running];
    const left = this.#unplaced.filter((asked) => !asked.isGone() && !isPlaced(running, asked));
    const free = running.filter(({ asked }) => asked.size === 0);
    this.#unplaced = left;
    if (left.length === 0 || free.length > left.length) return;
    this.#unplaced = [];
    for (const [i, asked] of left.entries()) {
      const call = free[Math.min(i, free.length - 1)] ?? running.at(-1);
      if (call) call.ask(asked);
      else asked.answer({ action: 'cancel' });
    }
  }
}

/** Answers or places a question that an earlier try of a call has asked too. */
function isPlaced(running: readonly OpenCall[], asked: Asked): boolean {
  const { key } = asked;
  const again = running.find((call) => call.asked.get(key)?.isGone());
  if (again) {
    again.ask(asked);
    return true;
  }
  for (const call of running) {
    const answer = call.stored(key);
    if (answer) {
      asked.answer(answer);
      return true;
    }
  }
  return false;
}
