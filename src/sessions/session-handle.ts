import type { AgentOutput, AnyAgent } from '../agent/agent.ts';
import type { AgentState, AgentStepJSON } from '../agent/agent-state.ts';
import type { RunStream } from '../agent/run-stream.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { Stored } from '../stored.ts';
import type { InputAnswer } from '../tools/input-request.ts';
import type { CallsOf } from '../tools/tool.ts';
import type { SessionRule } from './approval-rules.ts';
import type { FollowOptions } from './feed/follow-session.ts';
import type { FollowedEvent } from './feed/live-source.ts';
import type {
  AnswerOptions,
  ApproveAllOptions,
  ApproveOptions,
  GrantCapOptions,
  InputOptions,
  OwnerOptions,
  ResumeSessionOptions,
  RetryOptions,
  SendOptions,
  StopSessionOptions,
} from './session-options.ts';
import type { HistoryPage, LogPage, LogPageOptions } from './session-reads.ts';
import type { PageOptions, StepPageOptions } from './session-reads.ts';
import type { Accounts, AccountsOptions } from './step-marks.ts';
import type { SessionRuntime } from './session-runtime.ts';
import {
  streamSession,
  type AgentLookup,
  type SessionStreamOptions,
  type SessionStreamResume,
} from './session-stream.ts';
import type { SessionEvent } from './session-worker.ts';
import type { Session, SessionPage } from './session.ts';
import type { SessionCompaction } from './state-rows.ts';

/** A runtime with any agents, as servers and broadcasters accept it. */
export type AnySessionRuntime = SessionRuntime;

/**
 * A session of one of these agents: a union discriminated by `agent`. Its output was stored as JSON, so dates are text.
 */
export type SessionOf<A extends AnyAgent> = A extends AnyAgent
  ? Session<Stored<AgentOutput<A>>, A['name']>
  : never;

type StateOf<A extends AnyAgent> = A extends AnyAgent ? AgentState<AgentOutput<A>> : never;

type StreamOf<A extends AnyAgent> = RunStream<AgentOutput<A>, CallsOf<A>, SessionOf<A>>;

/** The agents with this name. */
type AgentNamed<A extends AnyAgent, Name extends string> = A extends {
  readonly name: infer N;
}
  ? Name extends N
    ? A
    : never
  : never;

export type NameOf<Agents extends readonly AnyAgent[]> = Agents[number]['name'];
export type HandleOf<Agents extends readonly AnyAgent[], Name extends string> = SessionHandle<
  AgentNamed<Agents[number], Name>
>;
export type PageOf<Agents extends readonly AnyAgent[]> = SessionPage<SessionOf<Agents[number]>>;

/** Options of a runtime method without the owner, which the handle adds. */
type Own<Options extends OwnerOptions> = Omit<Options, 'owner'>;

/** One session of one owner. Each method checks the owner, and the agent if one was named. */
export interface SessionHandle<A extends AnyAgent = AnyAgent> {
  readonly id: string;
  readonly owner: string;
  get(options?: GrantCapOptions): Promise<SessionOf<A>>;
  send(content: MessageContent, options?: Own<SendOptions>): Promise<SessionOf<A>>;
  resume(options?: Own<ResumeSessionOptions>): Promise<SessionOf<A>>;
  approve(callId: string, options?: Own<ApproveOptions>): Promise<SessionOf<A>>;
  deny(callId: string, reason: string, options?: Own<AnswerOptions>): Promise<SessionOf<A>>;
  /** Approves every call that waits, or exactly the named ones. */
  approveAll(options?: Own<ApproveAllOptions>): Promise<SessionOf<A>>;
  /** Lists the remembered approvals of the session. */
  rules(): Promise<readonly SessionRule[]>;
  revokeRule(ruleId: string): Promise<void>;
  /** Answers a question of a tool: one of `pendingInputs`. */
  answer(
    inputId: string,
    answer: InputAnswer,
    options?: Omit<Own<InputOptions>, 'answer'>,
  ): Promise<SessionOf<A>>;
  pause(reason?: string): Promise<SessionOf<A>>;
  stop(options?: Own<StopSessionOptions>): Promise<SessionOf<A>>;
  retry(options?: Own<RetryOptions>): Promise<SessionOf<A>>;
  /** Resolves when the session is neither busy nor waiting for a worker, or is parked. */
  wait(): Promise<SessionOf<A>>;
  fork(options?: { readonly atStep?: number; readonly id?: string }): Promise<SessionHandle<A>>;
  delete(): Promise<void>;
  messages(options?: PageOptions): Promise<HistoryPage<MessageJSON>>;
  steps(options?: StepPageOptions): Promise<HistoryPage<AgentStepJSON>>;
  compactions(options?: PageOptions): Promise<HistoryPage<SessionCompaction>>;
  accounts(options?: AccountsOptions): Promise<Accounts | null>;
  events(options?: LogPageOptions): Promise<LogPage>;
  /** Reads the state that the next turn starts from, including secrets. For server code only, never for a client. */
  state(): Promise<StateOf<A>>;
  /** Yields the log from a position on, then live events; see `runtime.follow`. */
  follow(options?: Own<FollowOptions>): AsyncIterable<FollowedEvent>;
  /**
   * Sends a message and streams the execution that answers it, in whichever process it runs. Leaving the stream does
   * not stop the execution.
   */
  stream(message: MessageContent, options?: SessionStreamOptions): StreamOf<A>;
  /** Resumes and streams. Without an argument, it joins the current execution of the session. */
  stream(resume?: SessionStreamResume): StreamOf<A>;
  subscribe(listener: (event: SessionEvent) => void): Promise<() => void>;
}

/** Creates a handle. Checks `agent` once, before the first call, because a session never changes its agent. */
export function sessionHandle(
  runtime: SessionRuntime,
  id: string,
  owner: string,
  agent: string | undefined,
  agentNamed: AgentLookup,
): SessionHandle {
  let isChecked = agent === undefined;
  /** Runs the work if the session belongs to the agent. Otherwise it is not found, like a session of another owner. */
  const own = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!isChecked && (await runtime.get(id, { owner })).agent !== agent)
      throw new AgentError(
        'session_not_found',
        `There is no session "${id}" of agent "${agent}". Omit the agent, or name the right one.`,
      );
    isChecked = true;
    return work();
  };
  return {
    id,
    owner,
    get: (given) => own(() => runtime.get(id, { ...given, owner })),
    send: (content, given) => own(() => runtime.send(id, content, { ...given, owner })),
    resume: (given) => own(() => runtime.resume(id, { ...given, owner })),
    approve: (callId, given) => own(() => runtime.approve(id, callId, { ...given, owner })),
    deny: (callId, reason, given) =>
      own(() => runtime.deny(id, callId, { ...given, reason, owner })),
    approveAll: (given) => own(() => runtime.approveAll(id, { ...given, owner })),
    rules: () => own(() => runtime.rules(id, { owner })),
    revokeRule: (ruleId) => own(() => runtime.revokeRule(id, ruleId, { owner })),
    answer: (inputId, answer, given) =>
      own(() => runtime.answer(id, inputId, { ...given, answer, owner })),
    pause: (reason) =>
      own(() => runtime.pause(id, { owner, ...(reason !== undefined && { reason }) })),
    stop: (given) => own(() => runtime.stop(id, { ...given, owner })),
    retry: (given) => own(() => runtime.retry(id, { ...given, owner })),
    wait: () => own(() => runtime.wait(id, { owner })),
    fork: (given) =>
      own(async () => {
        const fork = await runtime.fork(id, { ...given, owner });
        return sessionHandle(runtime, fork.id, owner, undefined, agentNamed);
      }),
    delete: () => own(() => runtime.delete(id, { owner })),
    messages: (given) => own(() => runtime.messages(id, { ...given, owner })),
    steps: (given) => own(() => runtime.steps(id, { ...given, owner })),
    compactions: (given) => own(() => runtime.compactions(id, { ...given, owner })),
    accounts: (given) => own(() => runtime.accounts(id, { ...given, owner })),
    events: (given) => own(() => runtime.events(id, { ...given, owner })),
    state: () => own(() => runtime.state(id, { owner })),
    follow(given) {
      const feed = runtime.follow(id, { ...given, owner });
      return isChecked ? feed : checkedFeed(feed, () => own(async () => {}));
    },
    stream: (input?: MessageContent | SessionStreamResume, given?: SessionStreamOptions) =>
      streamSession(runtime, id, owner, agentNamed, { input, given }, (work) => own(work)),
    subscribe: (listener) => own(() => runtime.subscribe(id, { owner }, listener)),
  };
}

/** Wraps a feed so that each `next` rejects if the check fails. It can be left at any time. */
function checkedFeed<T>(feed: AsyncIterable<T>, check: () => Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const events = feed[Symbol.asyncIterator]();
      const leave = async (): Promise<IteratorResult<T, undefined>> => {
        await events.return?.();
        return { done: true, value: undefined };
      };
      const checked = check().catch(async (error: unknown) => {
        await leave();
        throw error;
      });
      checked.catch(() => {}); // each `next` rejects with this error
      return { next: () => checked.then(() => events.next()), return: leave };
    },
  };
}
