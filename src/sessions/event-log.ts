import type { AgentStepJSON } from '../agent/agent-state.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentEvent, EventBase } from '../events/agent-event.ts';
import type { EventNote } from '../events/event-outlet.ts';
import type { RowReader } from './row-reader.ts';
import type { EventRow, SessionRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';

/** Reference to the full outcome of an event: the agent's key and the position of its step. */
export type OutcomePlace = readonly [agentKey: string, position: number];
type Identity = readonly [agentId: string, parentAgentId: string | null];
type Fields = EventNote['fields'] | { readonly outcome: null };
type Line = readonly [
  agent: number,
  type: string,
  index: number,
  at: string,
  fields: Fields,
  outcome?: OutcomePlace,
];
/** Format that the first stores wrote. */
type FirstLine = readonly [
  agent: number,
  event: Fields & Pick<EventNote, 'type' | 'index' | 'at'> & { readonly outcomeAt?: OutcomePlace },
];

/** The events of one commit in one row: the agent is stored once, and an outcome of a step is stored as a reference. */
export interface LogEntry {
  readonly agents: readonly Identity[];
  readonly events: readonly Line[];
}

export interface NumberedEvent {
  readonly seq: number;
  readonly event: AgentEvent;
}

function logEntry(
  notes: readonly EventNote[],
  places: ReadonlyMap<unknown, OutcomePlace>,
): LogEntry {
  const agents: Identity[] = [];
  const events = notes.map(({ agentId, parentAgentId, type, index, at, fields }): Line => {
    let agent = agents.findIndex(([id]) => id === agentId);
    if (agent === -1) agent = agents.push([agentId, parentAgentId]) - 1;
    const place = 'outcome' in fields ? places.get(fields.outcome) : undefined;
    return place === undefined
      ? [agent, type, index, at, fields]
      : [agent, type, index, at, { ...fields, outcome: null }, place];
  });
  return { agents, events };
}

/**
 * Returns the text of a row with these events. Fields that are too large are replaced by a note, because a log entry
 * must not fail a run.
 */
export async function logBody(
  notes: readonly EventNote[],
  places: ReadonlyMap<unknown, OutcomePlace>,
  maxBytes: number,
  textOf: (entry: LogEntry) => string | Promise<string>,
): Promise<string> {
  const most = maxBytes / (10 * notes.length);
  const shortOf = (characters: number): string | Promise<string> =>
    textOf(
      logEntry(
        notes.map((note) => shortened(note, characters)),
        places,
      ),
    );
  try {
    return await textOf(logEntry(notes, places));
  } catch {
    // try again with shorter fields
  }
  try {
    return await shortOf(most);
  } catch {
    return shortOf(Math.min(most, SHORT_CHARACTERS));
  }
}

/** Fields up to this many characters are always logged: ids, names, numbers. */
const SHORT_CHARACTERS = 200;
const TOO_LARGE = 'too large for the log';

/** Returns the note with each large field replaced by a text that it was omitted. */
const shortened = (note: EventNote, most: number): EventNote => {
  const short = Object.entries(note.fields).map(([name, value]: [string, unknown]) => {
    // an outcome is small, mostly a reference, and readers rely on it
    if (name === 'outcome' || lengthOf(value) <= most) return [name, value];
    return [name, typeof value === 'string' ? `(${TOO_LARGE})` : { omitted: TOO_LARGE }];
  });
  return { ...note, fields: Object.fromEntries(short) as EventNote['fields'] };
};

function lengthOf(value: unknown): number {
  try {
    return (JSON.stringify(value) ?? '').length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns the text of a row with one event as it was emitted, such as one from an export. */
export function eventLogBody(
  { type, agentId, parentAgentId, executionId: _id, index, at, ...fields }: JsonEvent,
  maxBytes: number,
  textOf: (entry: LogEntry) => string | Promise<string>,
): Promise<string> {
  const note = { type, agentId, parentAgentId, index, at, fields } as unknown as EventNote; // as JSON
  return logBody([note], new Map(), maxBytes, textOf);
}
type JsonEvent = Pick<AgentEvent, 'type' | keyof EventBase> & Readonly<Record<string, unknown>>;

/** Whether an execution has logged any event. */
export async function hasLog(
  store: SessionStore,
  sessionId: string,
  executionId: string,
): Promise<boolean> {
  return (await store.events(sessionId, executionId, { after: 0, limit: 1 })).length > 0;
}

/** Reads the events of the first rows that fit, in order and as they were emitted. */
export async function readLog(
  reader: RowReader,
  { id }: SessionRow,
  rows: readonly EventRow[],
  maxCharacters: number,
): Promise<{
  readonly events: readonly NumberedEvent[];
  readonly rowCount: number;
  readonly characters: number;
}> {
  const { values, characters } = await reader.fitting<LogEntry>(rows, maxCharacters);
  const entries = entriesOf(values);
  const outcomes = await outcomesOf(reader, id, entries);
  const read = entries.flatMap(({ agents, events }, i) => {
    const { seq: last = 0, executionId = '' } = rows[i] ?? {}; // one value per row
    return events.map(([agent, type, index, at, fields, place], k): NumberedEvent => {
      const [agentId, parentAgentId] = agents[agent] ?? ['', null];
      const outcome = place
        ? outcomes.get(placeName(...place))
        : 'outcome' in fields
          ? revived(fields.outcome)
          : undefined;
      const base = { type, agentId, parentAgentId, executionId, index, at };
      const event = { ...base, ...fields, ...(outcome !== undefined && { outcome }) };
      return { seq: last - events.length + 1 + k, event: event as unknown as AgentEvent }; // as it was emitted
    });
  });
  return { events: read, rowCount: entries.length, characters };
}

/** Converts rows of the log to the format of this release. */
export const entriesOf = (values: readonly unknown[]): readonly LogEntry[] =>
  (values as readonly LogEntry[]).map(presentForm);

const presentForm = ({ agents, events }: LogEntry): LogEntry => ({
  agents,
  events: (events as readonly (Line | FirstLine)[]).map((line) => {
    if (line.length !== 2) return line;
    const [agent, { type, index, at, outcomeAt, ...fields }] = line;
    return outcomeAt
      ? [agent, type, index, at, fields, outcomeAt]
      : [agent, type, index, at, fields];
  }),
});

const placeName = (key: string, position: number): string => `${position}:${key}`;

const revived = (outcome: unknown): ContinuationOutcome | null | undefined =>
  outcome
    ? ContinuationOutcome.from(outcome as ContinuationOutcome)
    : (outcome as null | undefined);

async function outcomesOf(
  reader: RowReader,
  sessionId: string,
  entries: readonly LogEntry[],
): Promise<ReadonlyMap<string, ContinuationOutcome>> {
  const byAgent = new Map<string, number[]>();
  for (const { events } of entries)
    for (const [, , , , , place] of events) {
      if (!place) continue;
      const [key, position] = place;
      byAgent.set(key, [...(byAgent.get(key) ?? []), position]);
    }
  const outcomes = new Map<string, ContinuationOutcome>();
  for (const [key, positions] of byAgent) {
    const range = { from: Math.min(...positions), before: Math.max(...positions) + 1 };
    const rows = await reader.store.steps(sessionId, key, range);
    const steps = await reader.values<AgentStepJSON>(rows, 'outcome');
    for (const [i, { outcome }] of steps.entries())
      if (outcome)
        outcomes.set(placeName(key, rows[i]?.position ?? -1), ContinuationOutcome.from(outcome));
  }
  return outcomes;
}
