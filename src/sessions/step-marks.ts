import type { Execution, SessionInfo } from '../agent/execution.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { checkedPlace } from './check-names.ts';
import { RowReader } from './row-reader.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionRow } from './session-rows.ts';
import type { ForkPoint } from './state-rows.ts';

/** Totals of one execution, and of the session at that point. */
export interface Accounts {
  readonly execution: Execution;
  readonly info: SessionInfo;
}

/** Which agent of the session to read. */
export interface OfAgentOptions {
  /** A nested agent of the session: the `agentId` of its events. Positions are then its own. Default: the session's agent. */
  readonly agentId?: string;
}

export interface AccountsOptions extends OfAgentOptions {
  /** Right after this step, counted from 1. Default: now; required for a nested agent. */
  readonly atStep?: number;
}

export async function readAccounts(
  lookup: SessionLookup,
  row: SessionRow,
  { atStep, agentId }: AccountsOptions,
): Promise<Accounts | null> {
  const reader = new RowReader(lookup.store, row);
  const key = agentId === undefined ? '' : nestedKey(agentId);
  const isNow = atStep === undefined && key === '';
  const found = isNow
    ? (await reader.head(row.head)).state
    : await markAt(reader, row, checkedPlace('atStep', atStep ?? -1), key);
  if (!found) return null;
  const { execution, info } = found;
  return lookup.familyRedactorOf(row).value({ execution, info });
}

/**
 * Finds the position after the last step that wrote messages before a message position, by binary search. Each step has
 * the number of messages after it, which does not depend on a clock. Pruned steps are missing; they are the oldest.
 */
export async function stepBehind(
  lookup: SessionLookup,
  row: SessionRow,
  message: number,
): Promise<number> {
  const reader = new RowReader(lookup.store, row);
  let low = 0;
  let high = row.stepCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const mark = await markAt(reader, row, middle + 1);
    if (mark && mark.messages >= message) high = middle;
    else low = middle + 1;
  }
  return Math.min(low + 1, row.stepCount);
}

/** The key '' is the session's own agent, whose rows have other rules. */
export function nestedKey(agentId: string): string {
  if (agentId.length > 0 && agentId.length <= 200) return agentId;
  throw invalidOption('agentId', agentId, 'the agentId of a nested agent');
}

async function markAt(
  reader: RowReader,
  row: SessionRow,
  step: number,
  agentId: string = '',
): Promise<ForkPoint | undefined> {
  const range = { from: step - 1, before: step };
  const [found] = step === 0 ? [] : await reader.store.steps(row.id, agentId, range);
  return found && (await reader.values<ForkPoint>([{ body: found.mark }]))[0];
}
