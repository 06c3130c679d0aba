import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentModel } from './model-chain.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Watches the runs of an agent without changing them. None of its methods throws. */
export interface RunObserver {
  /** Called at the start of each run and resume; null if nothing records it. */
  begin(run: Run, isResumed: boolean): RunObservation | null;
  /** The trace context of the caller in W3C form, which a session stores with a message; null without one. */
  traceparent(): string | null;
}

/** One observed run. */
export interface RunObservation {
  /** Stored with the execution, so that a later run continues the trace; null if there is no trace. */
  readonly traceparent: string | null;
  /** Headers for a service that a tool calls. */
  readonly traceHeaders: Readonly<Record<string, string>>;
  /** Runs the work of the run, so that what it calls belongs to it. */
  inside<T>(work: () => Promise<T>): Promise<T>;
  modelCall(
    draft: StepDraft,
    request: InferenceRequest,
    call: () => Promise<InferenceResponse>,
    /** The model of a summary; absent for the call of the step itself. */
    summary?: AgentModel,
  ): Promise<InferenceResponse>;
  toolCall(draft: StepDraft, call: ToolCall, work: () => Promise<void>): Promise<void>;
  stepEnded(state: AgentState): void;
  /** `error` is what the run threw. */
  end(state: AgentState, error?: unknown): void;
}

/** Where the run of a session comes from. */
export interface RunOrigin {
  readonly sessionId: string;
  /** Trace context of the process that accepted the message or the resume. */
  readonly traceparent?: string;
  /** Trace contexts of those who answered what the run waited for; absent without one. */
  readonly answeredIn?: readonly string[];
}

/** Runs the work of a run, observed if an observer records it. */
export function observed(
  run: Run,
  isResumed: boolean,
  work: () => Promise<AgentState>,
): Promise<AgentState> {
  const observation = begin(run, isResumed);
  return observation === null ? work() : untilEnd(run, observation, work);
}

async function untilEnd(
  run: Run,
  observation: RunObservation,
  work: () => Promise<AgentState>,
): Promise<AgentState> {
  try {
    const state = await observation.inside(work);
    observation.end(state);
    return state;
  } catch (error) {
    observation.end(run.state, error);
    throw error;
  }
}

/** Observes the end of an open execution that does not run. */
export function observeStop(run: Run, stop: () => void): void {
  const observation = begin(run, true);
  stop();
  observation?.end(run.state);
}

function begin(run: Run, isResumed: boolean): RunObservation | null {
  const observation = run.observer?.begin(run, isResumed) ?? null;
  run.observation = observation;
  const { execution } = run.state;
  const { traceparent = null } = observation ?? {};
  if (traceparent !== null && execution.traceparent === undefined)
    run.state = run.state.with({ execution: { ...execution, traceparent } });
  return observation;
}

/** Runs a call, observed if the run is. */
export const observedCall = (
  { observation }: Run,
  draft: StepDraft,
  call: ToolCall,
  work: () => Promise<void>,
): Promise<void> => (observation === null ? work() : observation.toolCall(draft, call, work));
