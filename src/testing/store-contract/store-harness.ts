import { uuid } from '../../ids.ts';
import type {
  CallRow,
  EventRow,
  MessageRow,
  NewSessionRow,
  SessionRow,
  StepRow,
} from '../../sessions/session-rows.ts';
import type {
  AgentTurn,
  CallWrite,
  Commit,
  CommitReceipt,
  LeaseRequest,
  RecoverablePage,
  RecoverableQuery,
  SessionStore,
} from '../../sessions/session-store.ts';
import { found, same } from './expect.ts';

/** One requirement of {@link SessionStore}: `run` rejects with what was expected and seen if the store violates it. */
export interface StoreContractCase {
  readonly name: string;
  run(): Promise<void>;
}

export interface HarnessCase {
  readonly name: string;
  run(harness: StoreHarness): Promise<void>;
}

/** Long enough that no test outlives it. */
export const LONG_MS = 600_000;
/** The execution of the harness's sessions. */
export const EXECUTION = 'exe-1';

/** What the cases use. The store may contain other sessions, so each case creates its own. */
export interface StoreHarness {
  readonly store: SessionStore;
  /** A lease that expires soon. */
  readonly leaseMs: number;
  /** Waits until such a lease has certainly expired. */
  lapse(): Promise<void>;
  /** Creates an idle session. */
  idle(patch?: Partial<NewSessionRow>): Promise<NewSessionRow>;
  /** Creates a session with one message and no lease. */
  open(patch?: Partial<NewSessionRow>): Promise<NewSessionRow>;
  /** Creates a session with the lease of a new worker. */
  held(lease?: Partial<LeaseRequest>, patch?: Partial<NewSessionRow>): Promise<Held>;
  /** Creates a session that needs approval of these calls. */
  paused(calls?: readonly string[], patch?: Partial<NewSessionRow>): Promise<Held>;
  row(sessionId: string): Promise<SessionRow>;
  /** Claims a session for a new worker. */
  take(sessionId: string, ttlMs?: number, lease?: Partial<LeaseRequest>): Promise<Held>;
  /** Lets this many processes die, one after another, with the session; the last one has the lease. */
  dying(deaths: number, patch?: Partial<NewSessionRow>): Promise<Held>;
}

/** A lease, and the commits made under it. */
export interface Held {
  readonly id: string;
  readonly worker: string;
  readonly token: number;
  /** Creates the next commit with its token and revision, unless given. */
  commit(parts: Partial<Commit>): Promise<CommitReceipt>;
  /** Returns the next commit without making it. */
  next(parts: Partial<Commit>): Commit;
}

/** The lease as `renew` names it. */
export const leaseOf = ({ id, token }: Held): { sessionId: string; token: number } => ({
  sessionId: id,
  token,
});

/** Returns times that grow from call to call. */
export const at = (second: number): string =>
  new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

export const fresh = (kind: string): string => `${kind}-${uuid()}`;

/** Returns the row of a session without work so far. */
export const untouched = (session: NewSessionRow): SessionRow => ({
  ...session,
  phase: 'idle',
  revision: 0,
  token: 0,
  worker: null,
  isLeased: false,
  stopReason: null,
  pauseReason: null,
  seq: 0,
  tries: 0,
  deaths: 0,
  isQuarantined: false,
  error: null,
  parkedAt: null,
  retriedBy: null,
  retriedAt: null,
  closeReason: null,
  requires: session.requires ?? 1,
  updatedAt: session.createdAt,
});

/** Returns one page of the sessions of an agent that a worker may claim. */
export async function waitingFor(
  store: SessionStore,
  agent: string,
  { afterOwner, ...query }: Omit<RecoverableQuery, 'agents'> & Pick<AgentTurn, 'afterOwner'>,
): Promise<RecoverablePage> {
  const turn = { agent, ...(afterOwner !== undefined && { afterOwner }) };
  const [page, ...more] = await store.recoverable({ ...query, agents: [turn] });
  same(more, [], 'pages of other agents');
  return found(page ?? null, 'the page of the agent');
}

/** Returns all sessions of one owner without a lease that a worker may claim now, in the order of their turns. */
export async function recoverable(store: SessionStore, owner: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let afterOwner: string | undefined;
  do {
    const range = { limit: 1_000_000, ...(afterOwner !== undefined && { afterOwner }) };
    const page: RecoverablePage = await waitingFor(store, 'support', range);
    ids.push(...page.ids);
    afterOwner = page.afterOwner ?? undefined;
  } while (afterOwner !== undefined);
  return ofOwner(store, ids, owner);
}

/** Returns all sessions of one owner that a worker should claim immediately. */
export const urgent = async (store: SessionStore, owner: string): Promise<readonly string[]> =>
  ofOwner(store, await store.urgent({ agents: ['support'], limit: 1_000_000 }), owner);

async function ofOwner(
  store: SessionStore,
  ids: readonly string[],
  owner: string,
): Promise<readonly string[]> {
  const rows = await Promise.all(ids.map((id) => store.find(id)));
  return ids.filter((_id, i) => rows[i]?.owner === owner);
}

export const root = (
  patch: Partial<NonNullable<Commit['root']>> = {},
): NonNullable<Commit['root']> => ({
  head: '{"n":1}',
  status: 'in_progress',
  executionId: EXECUTION,
  messageCount: 0,
  stepCount: 0,
  ...patch,
});

export const message = (position: number, patch: Partial<MessageRow> = {}): MessageRow => ({
  agentId: '',
  position,
  role: position % 2 === 0 ? 'user' : 'assistant',
  body: `{"message":${position}}`,
  ...patch,
});

export const step = (position: number, patch: Partial<StepRow> = {}): StepRow => ({
  agentId: '',
  position,
  executionId: EXECUTION,
  body: `{"step":${position}}`,
  mark: `{"mark":${position}}`,
  ...patch,
});

export const event = (seq: number, patch: Partial<EventRow> = {}): EventRow => ({
  executionId: EXECUTION,
  seq,
  type: 'AgentStepFinished',
  body: `{"event":${seq}}`,
  ...patch,
});

export const call = (
  callId: string,
  state: CallWrite['state'],
  patch: Partial<CallWrite> = {},
): CallWrite => ({
  executionId: EXECUTION,
  callId,
  tool: 'send_mail',
  state,
  ...patch,
});

/** Reads the ledger entry of a call. */
export async function line(
  store: SessionStore,
  sessionId: string,
  callId: string,
): Promise<CallRow> {
  const rows = await store.calls(sessionId, EXECUTION, { callIds: [callId] });
  return found(rows[0], `the ledger entry of ${callId}`);
}

export const command = (
  body = '{"text":"hi"}',
  second = 1,
): Parameters<SessionStore['accept']>[1] => ({
  kind: 'message',
  executionId: EXECUTION,
  body,
  at: at(second),
});

export function makeHarness(store: SessionStore, leaseMs: number): StoreHarness {
  const harness: StoreHarness = {
    store,
    leaseMs,
    lapse: () => new Promise((resolve) => setTimeout(resolve, leaseMs * 1.5 + 10)),
    async idle(patch) {
      const session: NewSessionRow = {
        id: fresh('ses'),
        owner: fresh('own'),
        agent: 'support',
        status: 'pending',
        executionId: null,
        head: '{"n":0}',
        messageCount: 0,
        stepCount: 0,
        createdAt: at(0),
        ...patch,
      };
      if (!(await store.create(session)))
        throw new Error(`create refused the new id ${session.id}.`);
      return session;
    },
    async open(patch) {
      const session = await harness.idle(patch);
      const answer = await store.accept(session.id, command(), { phases: ['idle'] });
      if (answer?.accepted !== true)
        throw new Error('accept refused a message to an idle session.');
      return session;
    },
    async held(lease = {}, patch = {}) {
      const { id } = await harness.open(patch);
      return take(store, id, { worker: fresh('wrk'), ttlMs: LONG_MS, ...lease });
    },
    async paused(calls = [], patch = {}) {
      const held = await harness.held({}, patch);
      await held.commit({
        root: root({ status: 'paused' }),
        calls: calls.map((callId) => call(callId, 'waiting')),
        done: found(await store.nextCommand(held.id), 'the command').number,
        end: 'paused',
      });
      return held;
    },
    async row(sessionId) {
      return found(await store.find(sessionId), `session ${sessionId}`);
    },
    take: (sessionId, ttlMs = LONG_MS, lease = {}) =>
      take(store, sessionId, { worker: fresh('wrk'), ttlMs, ...lease }),
    async dying(deaths, patch) {
      let held = await harness.held({ ttlMs: deaths > 0 ? harness.leaseMs : LONG_MS }, patch);
      for (let n = 1; n <= deaths; n++) {
        await harness.lapse();
        held = await harness.take(held.id, n < deaths ? harness.leaseMs : LONG_MS, {
          alone: n > 1,
        });
      }
      return held;
    },
  };
  return harness;
}

async function take(store: SessionStore, id: string, lease: LeaseRequest): Promise<Held> {
  const { worker } = lease;
  const row = found(await store.claim(id, lease), 'a claim of an open session');
  let { revision } = row;
  const next = (parts: Partial<Commit>): Commit => ({
    sessionId: id,
    token: row.token,
    revision,
    at: at(10 + revision),
    ...parts,
  });
  return {
    id,
    worker,
    token: row.token,
    next,
    async commit(parts) {
      const receipt = await store.commit(next(parts));
      revision++;
      return receipt;
    },
  };
}
