import type { Accounts } from '../sessions/step-marks.ts';
import { AgentError, invalidOption, show } from '../errors/agent-error.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { LoggedAgents, type LoggedAgent } from './logged-agents.ts';
import type { FoundExecution } from './read-executions.ts';
import { readLog } from './read-log.ts';
import { checkedBefore, nowOf, stepsFrom, type StepsToRead } from './read-steps.ts';
import { runLogOf } from './run-log.ts';
import { traceOf, type TracedSession } from './trace-of.ts';
import type { Trace, TraceAncestor, TraceExecution } from './trace.ts';

/** Maximum pages of the log of one step: agents beside this one are in it too. */
const MAX_PAGES = 20;

/** Names a call that runs an agent. */
export interface TraceCall {
  readonly callId: string;
  /** The step of the session's own agent in which it is. Default: the newest. */
  readonly step?: number;
}

export interface NestedRequest {
  readonly owner: string;
  readonly call: TraceCall;
  readonly session: Session;
  readonly shown: FoundExecution;
  readonly executions: readonly TraceExecution[];
  readonly isNewestExecution: boolean;
  readonly before: number | undefined;
  readonly limit: number;
}

/** Reads the trace of an agent behind a call. The cost depends on the log of that one step of the session's own agent. */
export async function readNested(
  runtime: SessionRuntime,
  sessionId: string,
  request: NestedRequest,
): Promise<Trace> {
  const { owner, call, session, shown, executions, limit } = request;
  const logged = await eventsOf(runtime, sessionId, request);
  const agents = new LoggedAgents();
  for (const event of logged) agents.take(event);
  const found = agents.behind(call.callId);
  if (!found) throw callNotFound(sessionId, call);
  const { agentId, steps: stepCount } = found;
  const events = logged.filter((event) => agents.isWithin(event.agentId, agentId));
  const pages: StepsToRead = { owner, agentId, firstPosition: 0, stepCount };
  const before = checkedBefore(request.before, stepCount);
  const read = await stepsFrom(runtime, sessionId, pages, { before, limit });
  const { first, isNewest } = read;
  const atStep = (number: number): Promise<Accounts | null> =>
    runtime.accounts(sessionId, { owner, agentId, atStep: number });
  const [accountsBefore, accountsAfter] = await Promise.all([
    first > 1 ? atStep(first - 1) : null,
    stepCount > 0 ? atStep(stepCount) : null,
  ]);
  return traceOf({
    session: asSession(session, found, events, request),
    executionId: shown.id,
    executions,
    steps: read.steps,
    stepsBefore: read.stepsBefore,
    stepAfter: read.stepAfter,
    newestStep: isNewest ? null : await newestOf(runtime, sessionId, pages),
    events,
    accounts: accountsAfter?.execution ?? null,
    accountsBefore: accountsBefore?.execution ?? null,
    accountsAfter: accountsAfter?.execution ?? null,
    nested: { agentId, callId: found.callId, above: aboveOf(session.agent, agents, found) },
    now: nowOf(runtime, session),
  });
}

const newestOf = async (runtime: SessionRuntime, sessionId: string, pages: StepsToRead) =>
  (await stepsFrom(runtime, sessionId, pages, { before: pages.stepCount + 1, limit: 1 }))
    .steps[0] ?? null;

/** Reads the log of the step that the call is in, with all agents. */
async function eventsOf(
  runtime: SessionRuntime,
  sessionId: string,
  { owner, call, shown, isNewestExecution }: NestedRequest,
): Promise<readonly AgentEvent[]> {
  const newest = shown.stepCount + 1;
  const step = call.step ?? newest;
  if (!Number.isInteger(step) || step < 1)
    throw invalidOption('readTrace call.step', step, 'the number of a step');
  const log = await readLog(runtime, sessionId, {
    owner,
    executionId: shown.id,
    firstStep: Math.min(step, newest),
    lastStep: step < shown.stepCount ? step : null,
    stepCount: shown.stepCount,
    isNewest: isNewestExecution,
    maxPages: MAX_PAGES,
  });
  return log.map(({ event }) => event);
}

/** Returns the nested agent as a session, as far as a trace reads one. */
function asSession(
  session: Session,
  agent: LoggedAgent,
  events: readonly AgentEvent[],
  { isNewestExecution }: NestedRequest,
): TracedSession {
  const { callId, name, pause } = agent;
  const { outcome, ending } = runLogOf(events, agent.agentId);
  const isSessionOpen = session.status === 'in_progress' || session.status === 'paused';
  const isOpen = agent.status === 'in_progress' || agent.status === 'paused';
  // an agent that was interrupted with its parent has no last event
  const isLost = isOpen && !(isSessionOpen && isNewestExecution);
  const within = <T extends { readonly path: readonly string[] }>(waiting: readonly T[]): T[] =>
    waiting.flatMap((one) => {
      const place = one.path.indexOf(callId);
      return place < 0 ? [] : [{ ...one, path: one.path.slice(place + 1) }];
    });
  const status = isLost ? 'stopped' : agent.status;
  return {
    id: session.id,
    executionId: session.executionId,
    agent: name,
    status,
    stopReason: agent.stopReason,
    pause: status === 'paused' ? pause : null,
    pendingApprovals: within(session.pendingApprovals),
    pendingInputs: within(session.pendingInputs),
    outcome: isLost ? null : (ending?.outcome ?? outcome),
    allowance: null,
    ...(session.imported && { imported: session.imported }),
  };
}

function aboveOf(root: string, agents: LoggedAgents, found: LoggedAgent): readonly TraceAncestor[] {
  const line = [...agents.above(found), found];
  return line.map(({ parentStep: step }, i): TraceAncestor => {
    const parent = line[i - 1];
    return { agent: parent?.name ?? root, callId: parent?.callId ?? null, step };
  });
}

const callNotFound = (sessionId: string, { callId, step }: TraceCall): AgentError =>
  new AgentError(
    'invalid_option',
    `Session ${sessionId} has no log of an agent behind call ${show(callId)}${
      step === undefined ? ' in its newest step' : ` in step ${step}`
    }. It was pruned, or the call runs no agent.`,
    { details: { sessionId, callId } },
  );
