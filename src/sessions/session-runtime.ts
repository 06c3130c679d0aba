import type { AnyAgent } from '../agent/agent.ts';
import type { AgentState, AgentStepJSON } from '../agent/agent-state.ts';
import { systemClock, type Clock } from '../clock.ts';
import { whole } from '../errors/agent-error.ts';
import { onDemand } from '../on-demand.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import { answerCall, approvalOf, resumeSession } from './answer-calls.ts';
import { answerInput } from './answer-input.ts';
import { readRules, revokeRule, type SessionRule } from './approval-rules.ts';
import { approveAll } from './approve-all.ts';
import { checkedOwner } from './check-names.ts';
import { followSession, type FollowOptions } from './feed/follow-session.ts';
import type { FollowedEvent } from './feed/live-source.ts';
import { SessionFeeds } from './feed/session-feeds.ts';
import { forkSession } from './fork-session.ts';
import { beginSession } from './begin-session.ts';
import { keepBegin } from './begins-of.ts';
import type { ModelCallOptions, StoredModelCall } from './requests/read-model-call.ts';
import { createSession } from './create-session.ts';
import { readCompactions, type SessionCompaction as Compacted } from './read-compactions.ts';
import { pauseRequest, requestSession, retryRequest, stopRequest } from './request-session.ts';
import { sendMessage } from './send-message.ts';
import { SessionLookup } from './session-lookup.ts';
import type {
  AnswerOptions,
  ApproveAllOptions,
  ApproveOptions,
  CreateOptions,
  ExpireOptions,
  ForkOptions,
  GrantCapOptions,
  InputOptions,
  ListSessionsOptions,
  NamedAgent,
  OwnerOptions,
  PauseSessionOptions,
  PruneOptions,
  ResumeSessionOptions,
  RetryOptions,
  RuntimeSettings,
  SendOptions,
  SessionRuntimeOptions,
  StopSessionOptions,
} from './session-options.ts';
import { readEvents, readMessages, readSteps } from './session-reads.ts';
import type { HistoryPage as Page, LogPage, LogPageOptions } from './session-reads.ts';
import type { PageOptions, StepPageOptions } from './session-reads.ts';
import { readAccounts, type Accounts, type AccountsOptions } from './step-marks.ts';
import { sessionHandle, type HandleOf, type NameOf, type PageOf } from './session-handle.ts';
import type { Session } from './session.ts';
import { settledSession } from './settled-session.ts';
import { SessionWorker, type SessionEvent } from './session-worker.ts';
import type { Dropped, SessionRequest } from './session-store.ts';
import { upkeepRequest } from './upkeep-request.ts';

type Of<Options> = OwnerOptions & Options;

/** Conversations in a store: any process with the same store and agents can continue them. */
export class SessionRuntime<const out Agents extends readonly AnyAgent[] = readonly AnyAgent[]> {
  readonly agents: Agents;
  readonly clock: Clock;
  readonly #lookup: SessionLookup;
  readonly #worker: SessionWorker;
  readonly #feeds: SessionFeeds;

  constructor(given: SessionRuntimeOptions<Agents>) {
    const options = given as unknown as RuntimeSettings; // the types above are for the caller
    const { clock = systemClock, maxMessages = 200, maxCharacters = 16_000_000 } = options;
    whole('SessionRuntime maxMessages', maxMessages);
    whole('SessionRuntime maxCharacters', maxCharacters);
    this.agents = given.agents;
    this.clock = clock;
    this.#lookup = new SessionLookup(options, clock, { maxMessages, maxCharacters });
    this.#worker = new SessionWorker(this.#lookup, options);
    this.#feeds = new SessionFeeds(this, this.#lookup, this.#worker.live);
    keepBegin(this, (...given) => beginSession(this.#lookup, this.#worker, ...given));
  }

  /** Makes a session; `id` and all methods are on what it returns. `agent` is required where the runtime has several. */
  async create<const N extends NameOf<Agents> = NameOf<Agents>>(
    options: CreateOptions<N> & NamedAgent<N>,
  ): Promise<HandleOf<Agents, N>> {
    const { id } = await createSession(this.#lookup, options);
    return this.session<N>(id, { owner: options.owner });
  }

  /** One session of one owner. Name its agent to get its types: sessions of another agent are then refused. */
  session<const N extends NameOf<Agents> = NameOf<Agents>>(
    id: string,
    { owner, agent }: OwnerOptions & { readonly agent?: N },
  ): HandleOf<Agents, N> {
    return sessionHandle(this, id, owner, agent, (name) => this.#lookup.agentNamed(name));
  }

  async get(sessionId: string, options: OwnerOptions & GrantCapOptions): Promise<Session> {
    return this.#lookup.view(await this.#owned(sessionId, options), options.grants);
  }

  /** Newest change first. */
  async list(options: ListSessionsOptions<NameOf<Agents>>): Promise<PageOf<Agents>> {
    const owner = checkedOwner(options.owner);
    return this.#lookup.list({ ...options, owner }) as Promise<never>; // typed by the agents
  }

  /** Hands the agent a new message. The same content under the same `executionId` runs once, ever. */
  async send(sessionId: string, content: MessageContent, options: SendOptions): Promise<Session> {
    const sent = await sendMessage(this.#lookup, this.#worker, sessionId, content, options);
    const { executionId, hasBegun } = sent;
    return { ...(await this.#result(sessionId, options, executionId, hasBegun)), executionId };
  }

  /** Asks a running execution to pause after its step, if it would continue. */
  async pause(sessionId: string, options: PauseSessionOptions): Promise<Session> {
    await this.#request(sessionId, options.owner, pauseRequest(options));
    return this.get(sessionId, options);
  }

  /** Continues a session: with approvals, after a pause, or past a limit with a grant. */
  async resume(sessionId: string, options: ResumeSessionOptions): Promise<Session> {
    const executionId = await resumeSession(this.#lookup, this.#worker, sessionId, options);
    return this.#result(sessionId, options, executionId);
  }

  /** Lets a call run that waits, perhaps with other arguments. */
  async approve(sessionId: string, callId: string, options: ApproveOptions): Promise<Session> {
    const answer = approvalOf(options);
    const given = answerCall(this.#lookup, this.#worker, sessionId, callId, answer, options);
    return this.#result(sessionId, options, await given);
  }

  async deny(
    sessionId: string,
    callId: string,
    options: AnswerOptions & { readonly reason: string },
  ): Promise<Session> {
    const denial = { deny: options.reason };
    const given = answerCall(this.#lookup, this.#worker, sessionId, callId, denial, options);
    return this.#result(sessionId, options, await given);
  }

  /** Answers a question of a tool: one of `pendingInputs`. */
  async answer(sessionId: string, inputId: string, options: InputOptions): Promise<Session> {
    const executionId = await answerInput(this.#lookup, this.#worker, sessionId, inputId, options);
    return this.#result(sessionId, options, executionId);
  }

  /** Approves every call that waits, or exactly the named ones. Each answer is bound to its call as it was read. */
  async approveAll(sessionId: string, options: ApproveAllOptions): Promise<Session> {
    const executionId = await approveAll(this.#lookup, this.#worker, sessionId, options);
    return this.#result(sessionId, options, executionId);
  }

  /** Lists the approvals that the session remembers, each with the id that revokes it. */
  rules(sessionId: string, options: OwnerOptions): Promise<readonly SessionRule[]> {
    return readRules(this.#lookup, sessionId, options);
  }

  /** Revokes a remembered approval. It reaches a running worker before its next tool. */
  revokeRule(sessionId: string, ruleId: string, options: OwnerOptions): Promise<void> {
    return revokeRule(this.#lookup, this.#worker, sessionId, ruleId, options);
  }

  /** Ends the open execution, wherever it runs; an idle session stays as it is. */
  async stop(sessionId: string, options: StopSessionOptions): Promise<Session> {
    await this.#request(sessionId, options.owner, stopRequest(options, this.clock));
    return this.#result(sessionId, options, null);
  }

  /** Continues a parked session with all counts at 0, in whatever process; any other stays as it is. */
  async retry(sessionId: string, options: RetryOptions): Promise<Session> {
    await this.#request(sessionId, options.owner, retryRequest(options, this.clock));
    return this.#result(sessionId, options, null);
  }

  /** Resolves when the session, or one execution of it, is neither busy nor about to be, or the session is parked. */
  wait(
    sessionId: string,
    { owner, executionId }: OwnerOptions & { readonly executionId?: string },
  ): Promise<Session> {
    return this.#result(sessionId, { owner, wait: true }, executionId ?? null);
  }

  /** A new session with this one's history up to a step (from 1); default: all of it. */
  async fork(sessionId: string, options: ForkOptions): Promise<Session> {
    return this.get(await forkSession(this.#lookup, sessionId, options), options);
  }

  /** Deletes a session and all its data; work on it ends without an event. */
  async delete(sessionId: string, { owner }: OwnerOptions): Promise<void> {
    const row = await this.#lookup.owned(sessionId, owner);
    await this.#lookup.store.delete(row.id);
    this.#worker.forget(row.id);
    this.#feeds.end(row.id);
  }

  /** Drops what no next turn needs of idle sessions that did not change since, in batches that block nothing else. */
  async prune(options: PruneOptions): Promise<Dropped> {
    return this.#lookup.store.prune(upkeepRequest(options));
  }

  /** Deletes whole sessions that did not change since, in such batches; never one that is busy or about to be. */
  async expire(options: ExpireOptions): Promise<Dropped> {
    return this.#lookup.store.expire(upkeepRequest(options));
  }

  /** Recovers sessions that a stopped process left, and starts waiting work. Returns how many sessions it found. */
  recover(): Promise<number> {
    return this.#worker.recover();
  }

  /** Recovers now and from time to time, until `close`. */
  start(): void {
    this.#worker.start();
  }

  /** Finishes the steps that run, releases their leases and claims nothing more. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    await this.#worker.close(options.graceMs);
    this.#feeds.close();
    await this.#lookup.releaseAgents();
  }

  /** Reads the conversation, newest page first. A page has at most a million characters, or one message. */
  async messages(sessionId: string, options: Of<PageOptions>): Promise<Page<MessageJSON>> {
    return readMessages(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /** The steps with all their evaluations, newest page first, bounded like `messages`. */
  async steps(sessionId: string, options: Of<StepPageOptions>): Promise<Page<AgentStepJSON>> {
    return readSteps(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /** Reads how the model was called in one step: its exact request, secrets and all. For server code only. */
  async modelCall(sessionId: string, options: Of<ModelCallOptions>): Promise<StoredModelCall> {
    const { readModelCall } = await onDemand(import('./requests/read-model-call.ts'));
    return readModelCall(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /** Reads the compactions of the conversation, newest page first. Positions are those of `messages`. */
  async compactions(sessionId: string, options: Of<PageOptions>): Promise<Page<Compacted>> {
    return readCompactions(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /** What was used by now, or right after a step (counted from 1 in the session); null where that is not kept. */
  async accounts(sessionId: string, options: Of<AccountsOptions>): Promise<Accounts | null> {
    return readAccounts(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /** Returns the events of an execution after the sequence number `after`, for a client that was away. */
  async events(sessionId: string, options: Of<LogPageOptions>): Promise<LogPage> {
    return readEvents(this.#lookup, await this.#owned(sessionId, options), options);
  }

  /**
   * Yields the log from a position on, then what happens in any process: each event once and in order. A deleted session,
   * `close` and the signal end it; the end of a run does not. A slow reader loses chunks of text alone.
   */
  follow(sessionId: string, options: FollowOptions): AsyncIterable<FollowedEvent> {
    return followSession(this.#feeds, sessionId, options);
  }

  /** The state that the next turn starts from, secrets and all: for server code, never for a client. */
  async state(sessionId: string, options: OwnerOptions): Promise<AgentState> {
    return (await this.#lookup.load(await this.#owned(sessionId, options))).state;
  }

  /** Listens to the events of every session that this process works on, each after it is stored. */
  wiretap(listener: (event: SessionEvent) => void): () => void {
    return this.#worker.listeners.listen(null, listener);
  }

  /** Listens to the events of one session while this process works on it. A listener that leaves stops nothing. */
  async subscribe(
    sessionId: string,
    { owner }: OwnerOptions,
    listener: (event: SessionEvent) => void,
  ): Promise<() => void> {
    const row = await this.#lookup.owned(sessionId, owner);
    return this.#worker.listeners.listen(row.id, listener);
  }

  #owned(sessionId: string, { owner }: OwnerOptions): ReturnType<SessionLookup['owned']> {
    return this.#lookup.owned(sessionId, owner);
  }

  #request(sessionId: string, owner: string, request: SessionRequest): Promise<void> {
    return requestSession(this.#lookup, this.#worker, { sessionId, owner, request });
  }

  #result(
    sessionId: string,
    options: OwnerOptions & GrantCapOptions & { readonly wait?: boolean },
    executionId: string | null,
    hasBegun: boolean = false,
  ): Promise<Session> {
    return settledSession(this.#lookup, this.#worker, sessionId, options, executionId, hasBegun);
  }
}
