import { isOpen } from '../agent/agent-status.ts';
import { isoTime } from '../clock.ts';
import { parkedOutcome } from './attempts.ts';
import { ExecutionWriter } from './execution-writer.ts';
import { RowReader } from './row-reader.ts';
import { RunSignals } from './run-signals.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionWorker } from './session-worker.ts';

/** Logs that an open execution was parked, so that each view that follows it is updated. */
export async function emitParked(
  worker: Pick<SessionWorker, 'lookup' | 'listeners'>,
  parked: SessionRow,
): Promise<void> {
  const { store, clock } = worker.lookup;
  const row = await store.find(parked.id);
  if (row?.token !== parked.token) return;
  const { state, salt } = await new RowReader(store, row).head(row.head);
  if (!isOpen(state.status) || state.execution.id !== row.executionId) return;
  const { agentId, execution, status } = state;
  const executionId = execution.id;
  const at = isoTime(clock.now());
  const message = parked.error ?? '';
  const fields = {
    status: 'failed',
    previousStatus: status,
    stopReason: 'error',
    stepCount: execution.stepCount,
    usage: execution.usage,
    cost: execution.cost,
    outcome: parkedOutcome(parked),
    outputText: '',
    error: { type: 'unknown', code: 'parked', message, retryable: false, at },
  } as const;
  const base = { agentId, parentAgentId: null, executionId, index: 0, at };
  const written = { row, executionId, isNew: false, salt, definition: null };
  const writer = new ExecutionWriter(worker, new RunSignals(), written);
  writer.publish({ type: 'AgentFailed', ...base, fields }, () => {});
  await writer.commit();
}
