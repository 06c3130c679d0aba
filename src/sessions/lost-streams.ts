import type { EventNote } from '../events/event-outlet.ts';
import { entriesOf } from './event-log.ts';
import { PAGE_CHARACTERS, type RowReader } from './row-reader.ts';
import type { SessionRow } from './session-rows.ts';

/** Number of events at the end of a log that are searched for an unfinished step. */
const MOST_EVENTS = 100;

/** One attempt of one agent at a step. */
export interface Attempt {
  readonly agentId: string;
  readonly stepNumber: number;
  readonly attempt: number;
}

/** Text that a lost worker may have streamed: readers have seen it, but no log has it. */
export interface LostStreams {
  /** Events that discard the text, for the log. */
  readonly notes: readonly EventNote[];
  /** Returns how often the text of an attempt was begun and discarded. */
  countOf(attempt: Attempt): number;
}

const keyOf = ({ agentId, stepNumber, attempt }: Attempt): string =>
  `${stepNumber} ${attempt} ${agentId}`;

/** Finds lost text at the end of the log of an execution that another worker has left open. */
export async function findLostStreams(
  reader: RowReader,
  row: SessionRow,
  at: string,
): Promise<LostStreams> {
  const { id, seq } = row;
  const executionId = row.executionId ?? '';
  const after = Math.max(0, seq - MOST_EVENTS);
  const rows = await reader.store.events(id, executionId, { after, limit: MOST_EVENTS });
  // the newest ones that fit; large values are not needed here
  const { values } = await reader.fitting<unknown>(rows.toReversed(), PAGE_CHARACTERS, true);
  const open = new Map<string, EventNote>();
  const counts = new Map<string, number>();
  const count = (attempt: Attempt): void => {
    counts.set(keyOf(attempt), (counts.get(keyOf(attempt)) ?? 0) + 1);
  };
  for (const { agents, events } of entriesOf(values.toReversed()))
    for (const [agent, type, , , fields] of events) {
      const [agentId, parentAgentId] = agents[agent] ?? ['', null];
      open.delete(agentId);
      if (!('stepNumber' in fields && 'attempt' in fields)) continue;
      const { stepNumber, attempt } = fields;
      const base = { agentId, parentAgentId, executionId, index: 0, at };
      if (type === 'AgentStepStarted')
        open.set(agentId, { ...base, type: 'StreamDiscarded', fields: { stepNumber, attempt } });
      else if (type === 'StreamDiscarded') count({ agentId, stepNumber, attempt });
    }
  const notes = [...open.values()];
  for (const { agentId, fields } of notes)
    count({ agentId, ...(fields as Omit<Attempt, 'agentId'>) });
  return { notes, countOf: (attempt) => counts.get(keyOf(attempt)) ?? 0 };
}
