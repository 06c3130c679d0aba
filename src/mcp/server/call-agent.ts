import { AgentError } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Session } from '../../sessions/session.ts';
import { failedCall, notSent, sessionResult, type CallResult } from './agent-result.ts';
import { MAX_MESSAGE, type AgentTool } from './agent-tools.ts';
import { reportProgress, type Followed, type Report } from './call-progress.ts';
import {
  giveAnswer,
  MAX_ROUNDS,
  questionsOf,
  type AskedState,
  type CanAsk,
  type SessionQuestion,
} from './session-questions.ts';

/** How an end of the request is meant: the client cancelled it, or it is gone. */
export type CallEnd = 'cancelled' | 'gone';

/** A call of an agent by the client of one owner. */
export interface AgentCall {
  readonly tool: AgentTool;
  readonly owner: string;
  readonly args: unknown;
  readonly can: CanAsk;
  readonly signal: AbortSignal;
  /** Why the signal aborted. */
  end(): CallEnd;
  /** Absent if the client wants no progress. */
  readonly report?: Report;
}

/** Answers to the questions of an earlier turn, by key. */
export interface GivenAnswers {
  readonly state: AskedState;
  readonly responses: unknown;
}

/** What a call comes to: its result, or questions with which it continues, in any process. */
export type CallTurn =
  | { readonly result: CallResult }
  | { readonly questions: Readonly<Record<string, SessionQuestion>>; readonly state: AskedState };

/** Runs agents for clients. Calls that wait for the same session share one wait. */
export class AgentCaller {
  readonly #runtime: SessionRuntime;
  readonly #waitMs: number;
  readonly #waits: Map<string, Promise<unknown>> = new Map();
  readonly #closing: Promise<void>;
  /** Ends all waits: each call returns what is true now. */
  close: () => void = () => {};

  constructor(runtime: SessionRuntime, waitMs: number) {
    this.#runtime = runtime;
    this.#waitMs = waitMs;
    this.#closing = new Promise((resolve) => (this.close = resolve));
  }

  /** Begins a call, or continues one with the answers of the user. */
  async turn(call: AgentCall, given: GivenAnswers | null): Promise<CallTurn> {
    const problems = new Map<string, string>();
    let left: readonly string[] = [];
    let followed: Followed | CallResult;
    if (given === null) followed = await this.#begin(call);
    else {
      followed = await this.#own(call, given.state.sessionId);
      left = [...given.state.left, ...(await this.#answer(call, given, problems))];
    }
    if ('content' in followed) return { result: followed };
    const session = await this.#settled(call, followed);
    const round = (given?.state.round ?? 0) + 1;
    const asked =
      session.status === 'paused' && session.phase !== 'open' && round <= MAX_ROUNDS
        ? questionsOf(session, call.can, problems, left)
        : [];
    if (asked.length === 0) return { result: await sessionResult(call.tool, session) };
    const questions = Object.fromEntries(
      asked.map((question, i) => [`question_${i + 1}`, question]),
    );
    const refs = Object.fromEntries(
      Object.entries(questions).map(([key, { ref }]) => [key, ref] as const),
    );
    return { questions, state: { sessionId: session.id, round, refs, left } };
  }

  /** Sends the message, or finds the session to wait for. */
  async #begin(call: AgentCall): Promise<Followed | CallResult> {
    const { tool, owner, args, signal } = call;
    const { message, sessionId, ...others } = isRecord(args) ? args : {};
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      return failedCall(
        `The argument ${JSON.stringify(unknown.slice(0, 100))} is unknown. Pass message, sessionId or both.`,
      );
    if (sessionId !== undefined && typeof sessionId !== 'string')
      return failedCall('sessionId is not a text. Pass the one of an earlier result.');
    if (message === undefined && sessionId === undefined)
      return failedCall('Pass a message, the sessionId of an earlier result, or both.');
    if (message !== undefined && !isMessage(message))
      return failedCall(`message is not a text of 1 to ${MAX_MESSAGE} characters.`);
    const known = sessionId === undefined ? null : await this.#own(call, sessionId);
    if (message === undefined && known) return known;
    signal.throwIfAborted();
    const id = known?.sessionId ?? (await this.#create(tool.agent, owner));
    signal.throwIfAborted();
    let sent: Session;
    try {
      sent = await this.#runtime.send(id, String(message), { owner });
    } catch (error) {
      if (!AgentError.is(error) || !notNow.has(error.code)) throw error;
      return notSent(tool, await this.#runtime.get(id, { owner }));
    }
    return {
      sessionId: id,
      owner,
      ...(sent.executionId !== null && { executionId: sent.executionId }),
    };
  }

  async #create(agent: string, owner: string): Promise<string> {
    return (await this.#runtime.create({ owner, agent })).id;
  }

  /** A session of this owner and this agent; any other is not found. */
  async #own({ tool, owner }: AgentCall, sessionId: string): Promise<Followed> {
    const { agent } = await this.#runtime.get(sessionId, { owner });
    if (agent === tool.agent) return { sessionId, owner };
    throw new AgentError(
      'session_not_found',
      `There is no session "${sessionId}" of agent "${tool.agent}". Call the agent that it belongs to.`,
    );
  }

  /** Gives the session the answers. Returns the questions that stay open. */
  async #answer(
    { owner }: AgentCall,
    { state: { sessionId, refs }, responses }: GivenAnswers,
    problems: Map<string, string>,
  ): Promise<readonly string[]> {
    const left: string[] = [];
    for (const [key, ref] of Object.entries(refs)) {
      const response = isRecord(responses) && Object.hasOwn(responses, key) ? responses[key] : null;
      const given = await giveAnswer(this.#runtime, { sessionId, owner }, ref, response);
      if (given === 'left') left.push(ref.id);
      else if (given !== 'given') problems.set(ref.id, given.problem);
    }
    return left;
  }

  /** Waits within bounds, and reports progress meanwhile. A call that the client cancels stops the run. */
  async #settled(call: AgentCall, followed: Followed): Promise<Session> {
    const { signal, owner, report } = call;
    const { sessionId } = followed;
    const over = new AbortController();
    const { promise: aborted, release } = abortOf(signal);
    const limit = new Promise<void>((resolve) => {
      const cancel = this.#runtime.clock.after(this.#waitMs, resolve);
      over.signal.addEventListener('abort', cancel, { once: true });
    });
    if (report) reportProgress(this.#runtime, followed, report, over.signal).catch(() => {}); // the result counts
    try {
      await Promise.race([this.#wait(followed), limit, aborted, this.#closing]);
    } finally {
      over.abort();
      release();
    }
    const session = await this.#runtime.get(sessionId, { owner });
    if (!signal.aborted || session.phase !== 'open' || call.end() === 'gone') return session;
    return this.#runtime.stop(sessionId, { owner, reason: 'the MCP client cancelled the call' });
  }

  /** One wait for each execution: it polls the store as long as the run takes, also when the call has ended. */
  #wait({ sessionId, owner, executionId }: Followed): Promise<unknown> {
    const key = JSON.stringify([owner, sessionId, executionId]);
    const known = this.#waits.get(key);
    if (known) return known;
    const waiting = this.#runtime
      .wait(sessionId, { owner, ...(executionId !== undefined && { executionId }) })
      .finally(() => this.#waits.delete(key));
    waiting.catch(() => {}); // the calls that wait get it
    this.#waits.set(key, waiting);
    return waiting;
  }
}

/** Codes of a session that takes no message now. */
const notNow = new Set(['awaiting_approval', 'conflict', 'execution_open', 'parked']);

const isMessage = (message: unknown): message is string =>
  typeof message === 'string' && message.trim() !== '' && message.length <= MAX_MESSAGE;

function abortOf(signal: AbortSignal): { readonly promise: Promise<void>; release(): void } {
  let release = (): void => {};
  const promise = new Promise<void>((resolve) => {
    const onAbort = (): void => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) resolve();
    release = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, release };
}
