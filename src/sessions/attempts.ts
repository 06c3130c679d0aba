import { ContinuationOutcome } from '../continuation/outcome.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import type { Redactor } from '../errors/redactor.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import { visibleText } from '../visible-text.ts';
import { QUARANTINE_DEATHS, type SessionRow } from './session-rows.ts';

/** So many tries without a step, a result, a pause or an end park a session. */
export const MOST_TRIES = 5;
/** So many deaths of one execution park it, whatever it got done between them. */
const MOST_DEATHS = 10;
const MOST_CHARACTERS = 1_000;
/** The first wait as a share of a lease: one second of the default 15. */
const FIRST_WAIT = 1 / 15;
const GROWTH = 3;
/** The longest wait, in first waits. */
const MOST_GROWTH = 60;

/** How long a session is left alone after so many failures in a row: 1, 3, 9, 27, then 60 seconds. */
export const waitAfter = (failures: number, leaseMs: number): number =>
  failures <= 0 ? 0 : leaseMs * FIRST_WAIT * Math.min(MOST_GROWTH, GROWTH ** (failures - 1));

/** The wait for the case that the next lease runs out: a first death waits for nothing. */
export const waitAfterDeath = (
  { deaths, worker }: Pick<SessionRow, 'deaths' | 'worker'>,
  leaseMs: number,
): number => waitAfter(deaths + Number(worker !== null), leaseMs);

/**
 * Whether a session that was just claimed has killed enough workers. Deaths beside other sessions bring it into
 * quarantine and no further: any of those may have been the cause.
 */
export const isSpent = ({ deaths, tries }: Pick<SessionRow, 'deaths' | 'tries'>): boolean =>
  deaths > QUARANTINE_DEATHS && (deaths >= MOST_DEATHS || tries > MOST_TRIES);

/** What was thrown as a row keeps it: one line, bounded, without secrets and without what no column takes. */
export function failureText(thrown: unknown, redactor: Redactor): string {
  const text = visibleText(redactor.text(textOf(thrown).slice(0, 4 * MOST_CHARACTERS)));
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

function textOf(thrown: unknown): string {
  try {
    return messageOf(thrown) || 'no reason was given';
  } catch {
    return 'something was thrown that cannot be shown';
  }
}

export const deathText = ({ deaths }: Pick<SessionRow, 'deaths'>): string =>
  `The process that worked on it ended ${deaths} times in the middle of the work: it crashed, was killed or ran ` +
  'out of memory.';

type ParkedRow = Pick<SessionRow, 'id' | 'error' | 'tries' | 'parkedAt'>;

/** Refuses what a parked session does not take. */
export const sessionParked = ({ id, error, tries, parkedAt }: ParkedRow): AgentError =>
  new AgentError(
    'parked',
    `Session ${show(id)} is parked after ${triesText(tries)}: ${sentence(reasonOf(error))} Remove the cause and continue it with ` +
      `retry(), end it with stop(), or let the message wait with { whenBusy: 'queue' }.`,
    { details: { sessionId: id, error, tries, parkedAt } },
  );

/** For the log of the operator. */
export const wasParked = ({ id, error, tries }: ParkedRow, cause: unknown): AgentError =>
  new AgentError(
    'parked',
    `Session ${show(id)} is parked after ${triesText(tries)}: ${sentence(reasonOf(error))} Remove the cause, then continue it ` +
      'with runtime.retry() or: onward parked --retry.',
    { cause, details: { sessionId: id, error, tries } },
  );

/** Says on every surface why a parked session does not continue. */
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
        text: 'remove the cause, then call runtime.retry(id, { owner }), or stop the session.',
      },
      facts: { kind: 'runtime', what: 'parked', tries, error: reasonOf(error) },
    },
  ]);

/** Of an execution that was ended on the row alone. */
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
