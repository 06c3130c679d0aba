import type { Agent } from '../agent/agent.ts';
import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import type { AgentEvent, PendingApproval } from '../events/agent-event.ts';
import type { HistoryPage } from '../sessions/session-reads.ts';
import { SessionRuntime } from '../sessions/session-runtime.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { EvalCase } from './eval-case.ts';
import type { EvalRun } from './eval-run.ts';
import { runOfRecords } from './eval-run-of.ts';

/** Where runs are recorded as sessions, so that the console and `onward explain` show them. */
export interface EvalRecorder {
  readonly store: SessionStore;
  readonly owner: string;
}

export interface RecordOptions extends EvalRecorder {
  readonly signal: AbortSignal;
  readonly maxRounds: number;
  /** Answers to calls that need approval; empty for none. */
  answers(pending: readonly PendingApproval[]): Readonly<Record<string, ApprovalAnswer>>;
}

const PAGE = 500;
const MAX_PAGES = 200;

/** Runs a case as a session of its own, which stays in the store. */
export async function recordRun(
  agent: Agent,
  { name, input = '' }: EvalCase,
  { store, owner, signal, answers, maxRounds }: RecordOptions,
): Promise<EvalRun> {
  const runtime = new SessionRuntime({ store, agents: [agent], grants: 'unlimited' });
  try {
    const { id } = await runtime.create({ owner, metadata: { title: name, eval: name } });
    const stop = (): void => void runtime.stop(id, { owner, reason: 'the eval was aborted' });
    signal.addEventListener('abort', stop, { once: true });
    let session = await runtime.send(id, input, { owner, wait: true });
    for (let round = 0; session.status === 'paused' && round < maxRounds; round++) {
      const approvals = answers(session.pendingApprovals);
      if (Object.keys(approvals).length === 0) break;
      session = await runtime.resume(id, { owner, approvals, wait: true });
    }
    signal.removeEventListener('abort', stop);
    const state = await runtime.state(id, { owner });
    // a state holds only the newest steps of a long session
    const steps = await stepsOf(runtime, id, { owner, count: session.executionStepCount });
    const events = await eventsOf(runtime, id, owner);
    return { ...runOfRecords(state, steps, events), sessionId: id };
  } finally {
    await runtime.close();
  }
}

async function stepsOf(
  runtime: SessionRuntime,
  id: string,
  { owner, count }: { readonly owner: string; readonly count: number },
): Promise<readonly AgentStepJSON[]> {
  const steps: AgentStepJSON[] = [];
  let before: number | null = count;
  while (before !== null && before > 0) {
    const page: HistoryPage<AgentStepJSON> = await runtime.steps(id, {
      owner,
      before,
      limit: PAGE,
    });
    if (page.items.length === 0) break;
    steps.unshift(...page.items);
    ({ before } = page);
  }
  return steps;
}

async function eventsOf(
  runtime: SessionRuntime,
  id: string,
  owner: string,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  let after = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const log = await runtime.events(id, { owner, after, limit: PAGE });
    events.push(...log.events.map(({ event }) => event));
    const last = log.events.at(-1);
    if (!last || last.seq >= log.seq) break;
    after = last.seq;
  }
  return events;
}
