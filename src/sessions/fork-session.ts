import type { AgentStepJSON } from '../agent/agent-state.ts';
import { statusOf } from '../agent/agent-status.ts';
import type { Execution } from '../agent/execution.ts';
import { isoTime } from '../clock.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { uuid } from '../ids.ts';
import type { MessageJSON } from '../messages/message.ts';
import { checkedSessionId } from './check-names.ts';
import { RowReader } from './row-reader.ts';
import { plainBody } from './row-writer.ts';
import { idTaken } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { OwnerOptions } from './session-options.ts';
import type { ForkedSessionRow, SessionRow } from './session-rows.ts';
import { requirementOf, type StateHeader, type ForkPoint } from './state-rows.ts';

/** Stores a new session that continues from a step of another one. Returns its id. */
export async function forkSession(
  lookup: SessionLookup,
  sessionId: string,
  options: OwnerOptions & { readonly atStep?: number; readonly id?: string },
): Promise<string> {
  const id = options.id === undefined ? uuid() : checkedSessionId(options.id);
  const source = await lookup.workable(sessionId, options.owner);
  const row = await forkRow(lookup, source, id, options.atStep);
  if (!(await lookup.store.fork(source.id, row))) throw idTaken(id);
  return id;
}

async function forkRow(
  lookup: SessionLookup,
  source: SessionRow,
  id: string,
  atStep: number | undefined,
): Promise<ForkedSessionRow> {
  const reader = new RowReader(lookup.store, source);
  const head = await reader.head(source.head);
  const isOver = source.phase === 'idle' && source.closeReason === null;
  const isWhole = atStep === undefined && isOver;
  const at = isWhole ? null : await stepAt(reader, source, atStep ?? source.stepCount);
  const { approvalRules: _, ...found } = at
    ? await stateAt(lookup, reader, source, head, at)
    : head.state;
  const { id: forkedFrom } = found.execution;
  // a new id: the same call id in both sessions names two tool calls
  const execution = {
    ...found.execution,
    id: forkedFrom && uuid(),
    // includes grants after the step, so that a fork cannot be granted them again
    ...(await logsOf(reader, source, head, forkedFrom, at?.step.number)),
  };
  const state = { ...found, execution, agentId: uuid() };
  const { compactions = 0 } = at ? at.mark : head;
  const counted = { compactions: compactions || undefined };
  const createdAt = isoTime(lookup.clock.now());
  const step = at?.number ?? source.stepCount;
  return {
    id,
    owner: source.owner,
    agent: source.agent,
    status: state.status,
    executionId: state.execution.id || null,
    // messages of an unfinished step are not copied
    head: await plainBody(lookup.store, {
      ...head,
      ...counted,
      pending: undefined,
      forkedFrom,
      origin: { sessionId: source.id, step, at: createdAt },
      state,
    }),
    messageCount: at?.mark.messages ?? source.messageCount,
    stepCount: step,
    compactionCount: compactions,
    createdAt,
    ...requirementOf(state, compactions > 0),
  };
}

/** Returns all grants to an execution that are in the store, and its runs up to a step. */
async function logsOf(
  reader: RowReader,
  source: SessionRow,
  { state }: StateHeader,
  executionId: string,
  step: number = Number.POSITIVE_INFINITY,
): Promise<Pick<Execution, 'grantLog' | 'runs'>> {
  if (state.execution.id === executionId) return logsIn(state.execution, step);
  const rows = await reader.store.steps(source.id, '', { executionId, limit: 1 });
  const [mark] = await reader.values<ForkPoint>(rows.map((row) => ({ body: row.mark })));
  return mark ? logsIn(mark.execution, step) : {};
}

const logsIn = (
  { grantLog, runs }: Execution,
  step: number,
): Pick<Execution, 'grantLog' | 'runs'> => ({
  ...(grantLog && { grantLog }),
  ...(runs && { runs: runs.filter(({ afterStep }) => afterStep < step) }),
});

interface StepAt {
  readonly number: number;
  readonly step: AgentStepJSON;
  readonly mark: ForkPoint;
}

async function stepAt(reader: RowReader, source: SessionRow, number: number): Promise<StepAt> {
  const isPossible = Number.isInteger(number) && number >= 1 && number <= source.stepCount;
  const [row] = isPossible
    ? await reader.store.steps(source.id, '', { from: number - 1, before: number })
    : [];
  if (!row) {
    const [oldest] = await reader.store.steps(source.id, '');
    const kept = oldest ? `${oldest.position + 1} to ${source.stepCount}` : 'none yet';
    throw invalidOption('fork atStep', number, `a step that is kept: ${kept}`);
  }
  const [step] = await reader.values<AgentStepJSON>([row]);
  const [mark] = await reader.values<ForkPoint>([{ body: row.mark }]);
  return { number, step: step as AgentStepJSON, mark: mark as ForkPoint }; // one value per row
}

/**
 * Returns the state after a step. It is paused if the run would have continued, so that it accepts resume or a new
 * message.
 */
async function stateAt(
  lookup: SessionLookup,
  reader: RowReader,
  source: SessionRow,
  head: StateHeader,
  { step, mark }: StepAt,
): Promise<StateHeader['state']> {
  const { outcome } = step;
  const continues = outcome?.shouldContinue !== false;
  const status = continues ? 'paused' : statusOf(outcome.stopReason ?? 'completed');
  const isSame = head.state.execution.id === mark.execution.id && !continues;
  return {
    ...head.state,
    status,
    execution: mark.execution,
    info: mark.info,
    unfinishedStep: null,
    lastContinuationOutcome: outcome,
    pause: continues
      ? { kind: 'fork', at: isoTime(lookup.clock.now()), pendingApprovals: [] }
      : null,
    output: isSame
      ? head.state.output
      : status === 'completed'
        ? await textBefore(reader, source, mark)
        : null,
    partialOutput: isSame ? head.state.partialOutput : null,
  };
}

async function textBefore(
  reader: RowReader,
  source: SessionRow,
  mark: ForkPoint,
): Promise<unknown> {
  const range = { before: mark.messages, limit: 1 };
  const rows = await reader.store.messages(source.id, '', range);
  const [message] = await reader.values<MessageJSON>(rows);
  return message?.role === 'assistant' ? message.content : null;
}
