import { ContinuationOutcome } from '../continuation/outcome.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import { QUARANTINE_DEATHS, type SessionRow } from './session-rows.ts';

/** Tries without a step, a result, a pause or an end after which a session is parked. */
export const MOST_TRIES = 5;
/** Deaths of one execution after which it is parked, even if it made progress between them. */
const MOST_DEATHS = 10;
/** First wait as a fraction of a lease: one second with the default of 15 seconds. */
const FIRST_WAIT = 1 / 15;
const GROWTH = 3;
/** Longest wait as a multiple of the first. */
const MOST_GROWTH = 60;

/** Milliseconds until a session that could not get its turn is tried again. */
export const TURN_MS = 500;

/**
 * Returns the wait in milliseconds after consecutive failures. With the default lease: 1, 3, 9, 27, then 60 seconds.
 */
export const waitAfter = (failures: number, leaseMs: number): number =>
  failures <= 0 ? 0 : leaseMs * FIRST_WAIT * Math.min(MOST_GROWTH, GROWTH ** (failures - 1));

/** Returns the wait in milliseconds that applies if the next lease expires. The first death causes no wait. */
export const waitAfterDeath = (
  { deaths, worker }: Pick<SessionRow, 'deaths' | 'worker'>,
  leaseMs: number,
): number => waitAfter(deaths + Number(worker !== null), leaseMs);

/**
 * Whether a session that was just claimed has killed too many workers. Deaths beside other sessions only quarantine it,
 * because any of those sessions may have been the cause.
 */
export const isSpent = ({ deaths, tries }: Pick<SessionRow, 'deaths' | 'tries'>): boolean =>
  deaths > QUARANTINE_DEATHS && (deaths >= MOST_DEATHS || tries > MOST_TRIES);

export const deathText = ({ deaths }: Pick<SessionRow, 'deaths'>): string =>
  `The process that worked on it ended ${deaths} times in the middle of the work: it crashed, was killed or ran ` +
  'out of memory.';

type ParkedRow = Pick<SessionRow, 'id' | 'error' | 'tries' | 'parkedAt'>;

/** Error for an operation that a parked session does not accept. */
export const sessionParked = ({ id, error, tries, parkedAt }: ParkedRow): AgentError =>
  new AgentError(
    'parked',
    `Session ${show(id)} is parked after ${triesText(tries)}: ${sentence(reasonOf(error))} Fix the cause, then continue it with ` +
      `retry(), end it with stop(), or let the message wait with { whenBusy: 'queue' }.`,
    { details: { sessionId: id, error, tries, parkedAt } },
  );

/** Error that reports a parked session to the operator. */
export const wasParked = ({ id, error, tries }: ParkedRow, cause: unknown): AgentError =>
  new AgentError(
    'parked',
    `Session ${show(id)} is parked after ${triesText(tries)}: ${sentence(reasonOf(error))} Fix the cause, then continue it ` +
      'with runtime.retry() or: onward parked --retry.',
    { cause, details: { sessionId: id, error, tries } },
  );

/** Outcome that explains why a parked session does not continue. */
export const parkedOutcome = ({
  error,
  tries,
  deaths,
  parkedAt,
}: Pick<SessionRow, 'error' | 'tries' | 'deaths' | 'parkedAt'>): ContinuationOutcome =>
  ContinuationOutcome.resolve([
    {
      criterion: 'SessionRuntime',
      decision: 'forbid',
      reason: `it was parked after ${triesText(tries)}: ${withoutFullStop(reasonOf(error))}`,
      context: { parked: true, tries, deaths, parkedAt },
      stopReason: 'error',
      remedy: {
        text: 'fix the cause, then call runtime.retry(id, { owner }), or stop the session.',
      },
      facts: { kind: 'runtime', what: 'parked', tries, ...(error !== null && { error }) },
    },
  ]);

/** Outcome of an execution that was ended on its row, without reading its state. */
export const closedOutcome = (reason: string): ContinuationOutcome =>
  ContinuationOutcome.resolve([
    {
      criterion: 'StopRequestCheck',
      decision: 'forbid',
      reason,
      context: {},
      stopReason: 'user_requested',
      facts: { kind: 'stop_request', source: 'user', reason },
    },
  ]);

const triesText = (tries: number): string => `${tries} ${tries === 1 ? 'try' : 'tries'}`;

const reasonOf = (error: string | null): string => error ?? 'no reason was kept';
