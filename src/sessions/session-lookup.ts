import type { AnyAgent } from '../agent/agent.ts';
import { durableAgent, type DurableAgent } from '../agent/durable-agent.ts';
import type { Clock } from '../clock.ts';
import type { Grants } from '../continuation/grants.ts';
import { AgentError, invalidOption, whole } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { pacer } from '../pacing.ts';
import { checkedLimit, checkedOwner, isSessionId } from './check-names.ts';
import { attentionOf, attentionTimes } from './attention.ts';
import { cursorOf, placeOf } from './list-cursor.ts';
import { listQuery, placeIn, type AllSessionsOptions } from './list-query.ts';
import {
  checkedPolicy,
  ownersGrants,
  type GrantPolicy,
  type GrantSubject,
  type OwnersGrants,
} from './grant-policy.ts';
import { isImported, readOnlySession } from './imported-session.ts';
import type { HistoryWindow } from './load-conversation.ts';
import { loadSession, type LoadedSession } from './load-session.ts';
import { PAGE_CHARACTERS, RowReader, ROWS_AT_ONCE } from './row-reader.ts';
import { newerSession, sessionNotFound } from './session-errors.ts';
import type { RuntimeSettings } from './session-options.ts';
import { READS, type SessionRow } from './session-rows.ts';
import type { SessionStore, WaitingLimit } from './session-store.ts';
import { sessionOf, type Session, type SessionPage } from './session.ts';
import { unreadHead, type StateHeader } from './state-rows.ts';

/** Finds sessions and agents, and shows a session only to its owner. */
export class SessionLookup {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly window: HistoryWindow;
  readonly maxWaiting: WaitingLimit;
  readonly #agents: ReadonlyMap<string, DurableAgent>;
  readonly #releases: readonly (() => Promise<void>)[];
  readonly #grants: GrantPolicy;

  constructor(
    options: Pick<RuntimeSettings, 'store' | 'agents' | 'grants' | 'maxQueued'>,
    clock: Clock,
    window: HistoryWindow,
  ) {
    const { store, agents, grants = {}, maxQueued = {} } = options;
    const { messages = 100, bytes = 4_000_000 } = maxQueued;
    this.maxWaiting = {
      commands: whole('SessionRuntime maxQueued.messages', messages),
      bytes: whole('SessionRuntime maxQueued.bytes', bytes),
    };
    this.store = store;
    this.clock = clock;
    this.window = window;
    this.#agents = agentsByName(agents);
    this.#releases = [...this.#agents.values()].map((agent) => agent.hold());
    this.#grants = checkedPolicy('SessionRuntime grants', grants);
  }

  /** Closes connections of the agents that no other runtime of this process keeps. */
  async releaseAgents(): Promise<void> {
    await Promise.all(this.#releases.map((release) => release()));
  }

  get agentNames(): readonly string[] {
    return [...this.#agents.keys()];
  }

  agentNamed(name: string): DurableAgent | undefined {
    return this.#agents.get(name);
  }

  agentFor(name: string | undefined): DurableAgent {
    const [only] = this.#agents.values();
    const agent =
      name === undefined && this.#agents.size === 1 ? only : this.#agents.get(name ?? '');
    if (agent) return agent;
    const known = [...this.#agents.keys()].join(', ');
    throw new AgentError(
      'unknown_agent',
      name === undefined
        ? `This runtime has several agents: ${known}. Name one of them with { agent }.`
        : `This runtime has no agent "${name}". Known: ${known}. Add it to agents.`,
      { details: { agent: name ?? null, known: [...this.#agents.keys()] } },
    );
  }

  redactorOf(row: SessionRow): Redactor {
    return this.#agents.get(row.agent)?.redactor ?? defaultRedactor;
  }

  /** The redactor of the agent and of all agents behind its calls. */
  familyRedactorOf(row: SessionRow): Redactor {
    return this.#agents.get(row.agent)?.familyRedactor ?? defaultRedactor;
  }

  async owned(sessionId: string, owner: string): Promise<SessionRow> {
    checkedOwner(owner);
    const row = isSessionId(sessionId) ? await this.store.find(sessionId) : null;
    if (row?.owner !== owner) throw sessionNotFound(sessionId);
    return row;
  }

  /** Like `owned`, for a session that was not imported. */
  async changeable(sessionId: string, owner: string): Promise<SessionRow> {
    const row = await this.owned(sessionId, owner);
    if (isImported(row)) throw readOnlySession(row);
    return row;
  }

  /** Like `changeable`, for a session that this release can work on. */
  async workable(sessionId: string, owner: string): Promise<SessionRow> {
    const row = await this.changeable(sessionId, owner);
    if (row.requires > READS) throw newerSession(row);
    return row;
  }

  /**
   * Reads the header. If a session from a newer release, a parked one or a closed one cannot be read, builds the header
   * from its row.
   */
  async #headOf(
    row: SessionRow,
  ): Promise<{ readonly head: StateHeader; readonly characters: number }> {
    try {
      return await new RowReader(this.store, row).sizedHead(row.head);
    } catch (error) {
      const isGivenUp = row.phase === 'parked' || row.closeReason !== null;
      if (row.requires > READS || isGivenUp) return { head: unreadHead(row), characters: 0 };
      throw error;
    }
  }

  async #viewOf(row: SessionRow, head: StateHeader): Promise<Session> {
    const { pendingApprovals = [], pendingInputs = [] } = head.state.pause ?? {};
    const hasPending = pendingApprovals.length + pendingInputs.length > 0;
    const waiting = hasPending ? await this.waiting(row) : [];
    const own = this.redactorOf(row);
    const family = this.familyRedactorOf(row);
    return sessionOf(row, head, new Set(waiting), { own, family });
  }

  /** Returns the session as its owner sees it, with the owner's remaining allowance. */
  async view(row: SessionRow, policy?: GrantPolicy): Promise<Session> {
    const { head } = await this.#headOf(row);
    const session = await this.#viewOf(row, head);
    const { executionId, grants, grantLog, outcome } = session;
    const isStopped = row.phase === 'idle' && outcome?.shouldContinue === false;
    if (!isStopped || executionId === null || !this.#agents.has(row.agent)) return session;
    const execution = { id: executionId, grants, grantLog };
    const { allowance } = await this.ownersGrants(row, { execution, outcome }, policy);
    return { ...session, allowance };
  }

  /** Returns the caps for owners of an execution, and the remaining allowance. */
  ownersGrants(
    { id, owner, agent }: SessionRow,
    of: Pick<GrantSubject, 'execution' | 'outcome'>,
    policy: GrantPolicy = this.#grants,
    requested: Grants | null = null,
  ): Promise<OwnersGrants> {
    const limits = this.#agents.get(agent)?.grantLimits ?? [];
    return ownersGrants(policy, { session: { id, owner, agent }, limits, ...of }, requested);
  }

  /** Lists sessions, of all owners without one. A page ends early if its sessions are large, and its cursor continues. */
  async list({ limit: most, cursor, ...options }: AllSessionsOptions): Promise<SessionPage> {
    const limit = checkedLimit(most, 200);
    const times = attentionTimes(this.clock.now());
    const query = listQuery(options, times);
    const pause = pacer(options.owner ?? '');
    const sessions: Session[] = [];
    let last = cursor === undefined ? null : placeOf(cursor);
    let space = PAGE_CHARACTERS;
    for (let most: number = ROWS_AT_ONCE.first; ; most = ROWS_AT_ONCE.next) {
      const wanted = Math.min(most, limit - sessions.length);
      // one extra row shows whether there is another page
      const rows = await this.store.list({
        ...query,
        limit: wanted + 1,
        ...(last && { after: last }),
      });
      for (const row of rows.slice(0, wanted)) {
        const { head, characters } = await this.#headOf(row);
        if (sessions.length > 0 && characters > space) return { sessions, cursor: cursorOf(last) };
        const view = await this.#viewOf(row, head);
        sessions.push({ ...view, run: row.run ?? null, attention: attentionOf(row, times) });
        space -= characters;
        last = placeIn(row, query.by);
        await pause();
      }
      if (rows.length <= wanted) return { sessions, cursor: null };
      if (sessions.length >= limit) return { sessions, cursor: cursorOf(last) };
    }
  }

  count(options: Omit<AllSessionsOptions, 'limit' | 'cursor'>, most: number): Promise<number> {
    return this.store.count(listQuery(options, attentionTimes(this.clock.now())), most);
  }

  /** Returns the ids of calls without an answer. */
  async waiting({ id, executionId }: SessionRow): Promise<readonly string[]> {
    if (executionId === null) return [];
    const calls = await this.store.calls(id, executionId, { state: 'waiting' });
    return calls.map(({ callId }) => callId);
  }

  load(row: SessionRow, window: Partial<HistoryWindow> = {}): Promise<LoadedSession> {
    const compacts = this.#agents.get(row.agent)?.compacts ?? false;
    return loadSession(new RowReader(this.store, row), row, {
      ...this.window,
      compacts,
      ...window,
    });
  }
}

function agentsByName(agents: readonly AnyAgent[]): ReadonlyMap<string, DurableAgent> {
  const named = new Map<string, DurableAgent>();
  for (const agent of agents) {
    const durable = durableAgent(agent);
    if (!durable) throw invalidOption('agents', agent, 'what createAgent() or build() returns');
    if (named.has(agent.name))
      throw invalidOption('agents', agent.name, 'a different name for each agent');
    named.set(agent.name, durable);
  }
  if (named.size === 0) throw invalidOption('agents', agents, 'at least one agent');
  return named;
}
