import type { AgentStepJSON } from '../agent/agent-state.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { RowReader } from './row-reader.ts';
import type { EventRow, SessionRow } from './session-store.ts';

/** Where the verdict of an event stands in full: the agent's key and the place of its step. */
export type OutcomePlace = readonly [agentKey: string, position: number];
type Identity = readonly [agentId: string, parentAgentId: string | null];
type Fields = { readonly [field: string]: unknown } & { readonly outcomeAt?: OutcomePlace };

/** The events of one commit in one row: who told them is said once, and a verdict that a step has is only pointed at. */
export interface LogEntry {
  readonly agents: readonly Identity[];
  readonly events: readonly (readonly [agent: number, fields: Fields])[];
}

export interface NumberedEvent {
  readonly seq: number;
  readonly event: AgentEvent;
}

export function logEntry(
  events: readonly AgentEvent[],
  places: ReadonlyMap<unknown, OutcomePlace>,
): LogEntry {
  const agents: Identity[] = [];
  return {
    agents,
    events: events.map((event) => {
      const { agentId, parentAgentId, executionId, ...rest } = event;
      void executionId; // the row has it
      let agent = agents.findIndex(([id]) => id === agentId);
      if (agent === -1) agent = agents.push([agentId, parentAgentId]) - 1;
      const outcomeAt = 'outcome' in rest ? places.get(rest.outcome) : undefined;
      return [agent, outcomeAt ? { ...rest, outcome: undefined, outcomeAt } : rest];
    }),
  };
}

/** Events of the log as they were told, in order. */
export async function readLog(
  reader: RowReader,
  { id }: SessionRow,
  rows: readonly EventRow[],
): Promise<readonly NumberedEvent[]> {
  const entries = await reader.values<LogEntry>(rows);
  const outcomes = await outcomesOf(reader, id, entries);
  return entries.flatMap(({ agents, events }, i) => {
    const { seq: last = 0, executionId = '' } = rows[i] ?? {}; // one value per row
    return events.map(([agent, { type, outcome, outcomeAt, ...fields }], k): NumberedEvent => {
      const [agentId, parentAgentId] = agents[agent] ?? ['', null];
      const verdict = outcomeAt ? outcomes.get(placeName(...outcomeAt)) : revived(outcome);
      const event = {
        type,
        agentId,
        parentAgentId,
        executionId,
        ...fields,
        ...(verdict !== undefined && { outcome: verdict }),
      };
      return { seq: last - events.length + 1 + k, event: event as unknown as AgentEvent }; // what was taken out is back
    });
  });
}

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
    for (const [, { outcomeAt }] of events) {
      if (!outcomeAt) continue;
      const [key, position] = outcomeAt;
      byAgent.set(key, [...(byAgent.get(key) ?? []), position]);
    }
  const outcomes = new Map<string, ContinuationOutcome>();
  for (const [key, positions] of byAgent) {
    const range = { from: Math.min(...positions), before: Math.max(...positions) + 1 };
    const rows = await reader.store.steps(sessionId, key, range);
    const steps = await reader.values<AgentStepJSON>(rows);
    for (const [i, { outcome }] of steps.entries())
      if (outcome)
        outcomes.set(placeName(key, rows[i]?.position ?? -1), ContinuationOutcome.from(outcome));
  }
  return outcomes;
}
