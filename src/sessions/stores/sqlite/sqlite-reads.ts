import type {
  AgentRow,
  BlobRow,
  CallRow,
  CompactionRow,
  EventRow,
  MessageRow,
  StepRow,
} from '../../session-rows.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { history, KEY, plain, type SyncStore } from './sqlite-rows.ts';

type Reads = Pick<
  SyncStore,
  'messages' | 'steps' | 'compactions' | 'agents' | 'calls' | 'events' | 'blobs'
>;

const ALL = -1;

/** Implements reads of a session's rows. */
export function reads(db: SqliteDatabase): Reads {
  const inRange = 'agent_id = ? AND position >= ? AND position < ?';
  const newest = 'ORDER BY era DESC, position DESC LIMIT ?';
  const message = 'SELECT agent_id AS agentId, position, role, body FROM';
  const messages = db.prepare(
    `${message} ${history('messages', KEY)} AND ${inRange} AND role = ifnull(?, role) ${newest}`,
  );
  // written as literals, so that the partial indexes apply
  const marked = new Map(
    ['user', 'system'].map((role) => [
      role,
      db.prepare(
        `${message} messages WHERE session = ${KEY} AND ${inRange} AND role = '${role}' ORDER BY position DESC LIMIT ?`,
      ),
    ]),
  );
  const steps = db.prepare(
    `SELECT agent_id AS agentId, position, execution_id AS executionId, body, mark
     FROM ${history('steps', KEY)} AND ${inRange} AND execution_id = ifnull(?, execution_id) ${newest}`,
  );
  const compaction = `SELECT agent_id AS agentId, position, kind, to_position AS toPosition, body FROM compactions
    WHERE session = ${KEY} AND ${inRange}`;
  const byPosition = 'ORDER BY position DESC LIMIT ?';
  const compactions = db.prepare(`${compaction} ${byPosition}`);
  const compactionsOf = {
    summary: db.prepare(`${compaction} AND kind = 'summary' ${byPosition}`),
    tool_results: db.prepare(`${compaction} AND kind = 'tool_results' ${byPosition}`),
  };
  const agents = db.prepare(
    `SELECT agent_id AS agentId, execution_id AS executionId, call_id AS callId, head,
     message_count AS messageCount, step_count AS stepCount FROM agents
     WHERE session = ${KEY} AND execution_id = ?`,
  );
  const call = `SELECT execution_id AS executionId, call_id AS callId, tool, state, token, starts, answer, result
    FROM calls WHERE session = ${KEY} AND execution_id = ?`;
  const callsById = db.prepare(`${call} AND call_id IN (SELECT value FROM json_each(?))`);
  const callsByState = db.prepare(`${call} AND state = ?`);
  const openCalls = new Map(
    ['waiting', 'decided'].map((state) => [state, db.prepare(`${call} AND state = '${state}'`)]),
  );
  const events = db.prepare(
    `SELECT execution_id AS executionId, seq, type, body FROM ${history('events', KEY)}
     AND execution_id = ? AND seq > ? ORDER BY era, seq LIMIT ?`,
  );
  const blobs = db.prepare(
    `SELECT hash, body FROM blobs WHERE session = ${KEY} AND hash IN (SELECT value FROM json_each(?))
     GROUP BY hash`,
  );

  return {
    messages(sessionId, agentId, range = {}) {
      const { from = 0, before = Number.MAX_SAFE_INTEGER, role = null, limit = ALL } = range;
      const found =
        marked.get(role ?? '')?.all(sessionId, agentId, from, before, limit) ??
        messages.all(sessionId, agentId, from, before, role, limit);
      return plain<MessageRow>(found).toReversed();
    },
    steps(sessionId, agentId, range = {}) {
      const { from = 0, before = Number.MAX_SAFE_INTEGER, executionId = null, limit = ALL } = range;
      return plain<StepRow>(
        steps.all(sessionId, agentId, from, before, executionId, limit),
      ).toReversed();
    },
    compactions(sessionId, agentId, range = {}) {
      const { from = 0, before = Number.MAX_SAFE_INTEGER, kind, limit = ALL } = range;
      const found = kind === undefined ? compactions : compactionsOf[kind];
      return plain<CompactionRow>(found.all(sessionId, agentId, from, before, limit)).toReversed();
    },
    agents: (sessionId, executionId) => plain<AgentRow>(agents.all(sessionId, executionId)),
    calls: (sessionId, executionId, filter) =>
      plain<CallRow>(
        'state' in filter
          ? (openCalls.get(filter.state)?.all(sessionId, executionId) ??
              callsByState.all(sessionId, executionId, filter.state))
          : callsById.all(sessionId, executionId, JSON.stringify(filter.callIds)),
      ),
    events: (sessionId, executionId, { after, limit }) =>
      plain<EventRow>(events.all(sessionId, executionId, after, limit)),
    blobs: (sessionId, hashes) =>
      plain<Omit<BlobRow, 'scope'>>(blobs.all(sessionId, JSON.stringify(hashes))),
  };
}
