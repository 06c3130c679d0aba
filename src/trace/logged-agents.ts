import type { AgentStatus, PauseKind } from '../continuation/run-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import { addCost } from '../inference/usage.ts';

/** Log facts of one nested agent. */
export interface LoggedAgent {
  readonly agentId: string;
  readonly parentAgentId: string;
  readonly name: string;
  /** The parent's call behind which it runs. */
  readonly callId: string;
  /** The parent's step with this call; 0 if its start is not in the log. */
  readonly parentStep: number;
  status: AgentStatus;
  stopReason: StopReason | null;
  pause: { readonly kind: PauseKind; readonly at: string; readonly reason?: string } | null;
  /** Recorded steps. */
  steps: number;
  /** Usage so far, with the agents behind its calls. */
  tokens: number;
  /** Null if a price is unknown. */
  cost: number | null;
}

/** Collects the nested agents of a log, or of a part of it, event by event. */
export class LoggedAgents {
  /** By agent id. */
  readonly #agents: Map<string, LoggedAgent> = new Map();
  readonly #byCall: Map<string, LoggedAgent> = new Map();
  /** The current step of each agent, the root's too. */
  readonly #steps: Map<string, number> = new Map();
  /** The step of each call. */
  readonly #callSteps: Map<string, number> = new Map();

  take(event: AgentEvent): void {
    const { agentId, type } = event;
    if (type === 'AgentStepStarted') this.#steps.set(agentId, event.stepNumber);
    if (type === 'ToolCallStarted')
      this.#callSteps.set(event.toolCallId, this.#steps.get(agentId) ?? 0);
    if (event.parentAgentId === null) return;
    if (type === 'AgentStarted') return this.#start(event, event.parentAgentId);
    const agent = this.#agents.get(agentId);
    if (agent) update(agent, event);
  }

  #start(event: EventOf<'AgentStarted'>, parentAgentId: string): void {
    const { agentId, agentName: name, callId, stepCount: steps } = event;
    if (callId === undefined) return; // written by release 0.1.0
    const parentStep = this.#callSteps.get(callId) ?? this.#steps.get(parentAgentId) ?? 0;
    const before = this.#agents.get(agentId);
    const agent: LoggedAgent = {
      agentId,
      parentAgentId,
      name,
      callId,
      parentStep: before?.parentStep || parentStep,
      status: 'in_progress',
      stopReason: null,
      pause: null,
      steps: Math.max(steps, before?.steps ?? 0),
      tokens: before?.tokens ?? 0,
      cost: before ? before.cost : 0,
    };
    this.#agents.set(agentId, agent);
    this.#byCall.set(callId, agent);
  }

  get(agentId: string): LoggedAgent | undefined {
    return this.#agents.get(agentId);
  }

  /** Returns the agent behind a call. After a crash before its first record, the last one counts. */
  behind(callId: string): LoggedAgent | undefined {
    return this.#byCall.get(callId);
  }

  /** Returns the agents above a nested one, outermost first, without the root. */
  above({ parentAgentId }: LoggedAgent): readonly LoggedAgent[] {
    const line: LoggedAgent[] = [];
    for (let agent = this.get(parentAgentId); agent; agent = this.get(agent.parentAgentId))
      line.unshift(agent);
    return line;
  }

  /** Whether an agent is the given one, or runs behind one of its calls at any depth. */
  isWithin(agentId: string, rootId: string): boolean {
    for (let id: string | undefined = agentId; id !== undefined; id = this.get(id)?.parentAgentId)
      if (id === rootId) return true;
    return false;
  }
}

function update(agent: LoggedAgent, event: AgentEvent): void {
  switch (event.type) {
    case 'TokenUsageReported':
      agent.tokens += event.usage.total;
      agent.cost = addCost(agent.cost, event.cost);
      return;
    case 'AgentStepCompleted':
    case 'StepFailed':
      agent.steps = Math.max(agent.steps, event.stepNumber);
      return;
    case 'AgentPaused': {
      const { kind, at, reason } = event;
      agent.status = 'paused';
      agent.pause = { kind, at, ...(reason !== null && { reason }) };
      return;
    }
    case 'AgentFinished':
    case 'AgentFailed':
      agent.status = event.status;
      agent.stopReason = event.stopReason;
      agent.pause = null;
      agent.steps = event.stepCount;
      agent.tokens = event.usage.total;
      agent.cost = event.cost;
  }
}
