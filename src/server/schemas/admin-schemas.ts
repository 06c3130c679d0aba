import type { JsonSchema } from '../../tools/schema.ts';
import { summary } from './session-schemas.ts';
import { count, list, number, object, oneOfTexts, orNull, ref, text, time } from './shapes.ts';

const counts = {
  waiting: count,
  oldestWaitingMs: orNull(number),
  active: count,
  recovered: count,
  expired: count,
  parked: count,
  workers: count,
};

/** Schemas of the routes for operators. */
export const adminSchemas: Readonly<Record<string, JsonSchema>> = {
  Worker: object({
    id: text,
    status: oneOfTexts(['busy', 'idle', 'draining', 'lost']),
    host: orNull(text),
    pid: orNull(count),
    agents: orNull(list(text)),
    startedAt: orNull(time),
    active: orNull(count),
    leases: count,
    expired: count,
    seenMsAgo: orNull(number),
  }),
  WorkerList: object({ workers: list(ref('Worker')) }),
  Queue: object({ ...counts, agents: list(object({ agent: text, ...counts })) }),
  ParkedSession: object({
    id: text,
    owner: text,
    agent: text,
    error: orNull(text),
    tries: count,
    deaths: count,
    parkedAt: time,
    lastRetry: orNull(ref('RetryRecord')),
  }),
  OperatorPage: object({
    sessions: list(object({ ...summary, owner: text })),
    cursor: orNull(text),
    total: orNull(count),
  }),
  ParkedPage: object({ sessions: list(ref('ParkedSession')), cursor: orNull(text) }),
  RetriedSessions: object({ retried: list(text), skipped: list(text), by: text }),
};
