import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { isRecord } from '../json.ts';
import type { RunRow } from './session-rows.ts';

/** What the body of a run record holds. */
export interface RunDetails {
  /** For each step: seconds from the start of the run to its start, and its milliseconds. */
  readonly steps: readonly (readonly [atSeconds: number, ms: number])[];
  /** By tool that the agent had: number of its calls, and of those that failed. */
  readonly tools: Readonly<Record<string, readonly [calls: number, failed: number]>>;
}

/** The newest steps, and the first tools, that a record has. */
const MOST_STEPS = 500;
const MOST_TOOLS = 100;

/** Makes the record of an execution that ends or pauses; null if it has not begun. `model` is that of its agent. */
export function runRecord(
  state: AgentState,
  { endedAt, model }: { readonly endedAt: string; readonly model: string | null },
): (Omit<RunRow, 'body'> & { readonly details: RunDetails }) | null {
  const { id, startedAt, cost } = state.execution;
  if (id === '' || startedAt === null) return null;
  const steps = stepsOf(state);
  const tools = toolsOf(steps);
  const failedCalls = steps.reduce(
    (sum, { results }) => sum + results.filter(({ kind }) => isFailed(kind)).length,
    0,
  );
  const failedSteps = steps.filter(({ type }) => type === 'error').length;
  const start = Date.parse(startedAt);
  return {
    executionId: id,
    startedAt,
    endedAt,
    status: state.status,
    stopReason: state.stopReason,
    model: steps.findLast((step) => step.model !== undefined)?.model ?? model,
    cost,
    sessionCost: state.info.cost,
    errors: failedCalls + failedSteps,
    details: {
      steps: steps
        .slice(-MOST_STEPS)
        .map((step) => [
          Math.max(0, Math.round((Date.parse(step.startedAt) - start) / 1000)),
          Math.round(step.durationMs),
        ]),
      tools,
    },
  };
}

function stepsOf({ execution, steps }: AgentState): readonly AgentStep[] {
  const found: AgentStep[] = [];
  for (const step of steps) if (step.executionId === execution.id) found.push(step);
  return found;
}

const isFailed = (kind: string): boolean => kind === 'error' || kind === 'timeout';

function toolsOf(steps: readonly AgentStep[]): RunDetails['tools'] {
  const counts = new Map<string, [number, number]>();
  for (const { toolCalls, results } of steps) {
    const byCall = new Map(results.map((result) => [result.callId, result]));
    for (const { id, name } of toolCalls) {
      const { kind, error } = byCall.get(id) ?? {};
      // it has not run
      if (kind === undefined || kind === 'denied' || kind === 'blocked') continue;
      // a name that the model made up is text of the conversation
      if (error?.code === 'unknown_tool') continue;
      const count =
        counts.get(name) ?? (counts.size < MOST_TOOLS ? ([0, 0] as [number, number]) : null);
      if (!count) continue;
      counts.set(name, count);
      count[0] += 1;
      if (isFailed(kind)) count[1] += 1;
    }
  }
  return Object.fromEntries(counts);
}

/** Reads the body of a run record as far as it can be read: another release may have written it. */
export function runDetails(value: unknown): RunDetails {
  const { steps, tools } = isRecord(value) ? value : {};
  return {
    steps: Array.isArray(steps) ? steps.filter(isPair) : [],
    tools: Object.fromEntries(
      Object.entries(isRecord(tools) ? tools : {}).filter(
        (entry): entry is [string, readonly [number, number]] => isPair(entry[1]),
      ),
    ),
  };
}

const isPair = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every((one) => Number.isFinite(one));
