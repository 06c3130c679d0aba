import { isOpen } from '../agent/agent-status.ts';
import { isoTime } from '../clock.ts';
import { parkedOutcome } from './attempts.ts';
import { ExecutionWriter } from './execution-writer.ts';
import { RowReader } from './row-reader.ts';
import { RowWriter } from './row-writer.ts';
import type { SessionRow } from './session-rows.ts';
import type { WorkerContext } from './session-worker.ts';
import type { StateHeader } from './state-rows.ts';

/** Writes into the log of an open execution that it is parked, so that every screen that follows it learns that. */
export async function emitParked(context: WorkerContext, parked: SessionRow): Promise<void> {
  const { store } = context;
  const row = await store.find(parked.id);
  if (row?.token !== parked.token) return;
  const head = await new RowReader(store, row).head(row.head);
  const { state } = head;
  if (!isOpen(state.status) || state.execution.id !== row.executionId) return;
  const writer = writerFor(context, row, head);
  const { agentId, execution, status } = state;
  const at = isoTime(context.clock.now());
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
  const base = { agentId, parentAgentId: null, executionId: execution.id, index: 0, at };
  writer.publish({ type: 'AgentFailed', ...base, fields }, () => {});
  await writer.commit();
}

const writerFor = (
  context: WorkerContext,
  row: SessionRow,
  { salt }: StateHeader,
): ExecutionWriter =>
  new ExecutionWriter({
    store: context.store,
    rows: new RowWriter(context.store, salt),
    sessionId: row.id,
    executionId: row.executionId ?? '',
    token: row.token,
    revision: row.revision,
    seq: row.seq,
    salt,
    definition: '',
    now: () => isoTime(context.clock.now()),
    onEvent: (event, seq, follows) =>
      context.onEvent({ sessionId: row.id, owner: row.owner, seq, follows, event }),
    hasListeners: () => context.hasListeners(row.id),
    failed: () => {},
    signalled: () => {},
  });
