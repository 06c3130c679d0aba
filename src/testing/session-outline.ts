import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { sha256 } from '../sha256.ts';
import type { ExportedStep, SessionExport } from '../exports/session-export.ts';

/** What happened in a session, without ids, times and the texts of the model: what a repeated session must have in common. */
export interface SessionOutline {
  readonly status: string;
  readonly output: JsonValue;
  /** The steps of each execution. */
  readonly executions: readonly (readonly StepOutline[])[];
}

export interface StepOutline {
  /** Calls with their results, in order. */
  readonly calls?: readonly CallOutline[];
  /** Codes of failures of the model. */
  readonly errors?: readonly string[];
  /** Compactions before the model call. */
  readonly compactions?: readonly string[];
  /** `continue` or the stop reason, and the criterion that decided; null if the step is not finished. */
  readonly outcome: string | null;
}

export interface CallOutline {
  readonly tool: string;
  readonly args: JsonObject;
  readonly result: string;
  /** The value; of a long one, its hash and its length. */
  readonly value: JsonValue;
  /** The steps of the agent behind the call. */
  readonly agent?: readonly StepOutline[];
}

/** Characters of a value that an outline shows. */
const SHOWN = 2_000;

/** Returns the outline of an exported session. */
export function outlineOf(session: SessionExport): SessionOutline {
  const nested = new Map<string, ExportedStep[]>();
  for (const step of session.steps) {
    const steps = nested.get(step.agentId);
    if (steps) steps.push(step);
    else nested.set(step.agentId, [step]);
  }
  const agentOf = new Map(
    session.agents.map((agent) => [`${agent.executionId} ${agent.callId}`, agent.agentId]),
  );
  const outline = (step: AgentStepJSON): StepOutline => {
    const { toolCalls, results, errors, compactions = [], outcome, type } = step;
    const calls = toolCalls.map((call): CallOutline => {
      const result = results.find(({ callId }) => callId === call.id);
      const agentId = agentOf.get(`${step.executionId} ${call.id}`);
      const steps = agentId === undefined ? undefined : nested.get(agentId);
      return {
        tool: call.name,
        args: call.args,
        result: result?.kind ?? 'open',
        value: shownValue(result?.value ?? null),
        ...(steps && { agent: steps.map((one) => outline(one.step)) }),
      };
    });
    const codes = type === 'error' ? errors.map(({ code }) => code) : [];
    return {
      ...(calls.length > 0 && { calls }),
      ...(codes.length > 0 && { errors: codes }),
      ...(compactions.length > 0 && { compactions: compactions.map(({ kind }) => kind) }),
      outcome:
        outcome &&
        `${outcome.shouldContinue ? 'continue' : (outcome.stopReason ?? 'stop')} by ${outcome.resolvedBy}`,
    };
  };
  const executions = new Map<string, StepOutline[]>();
  for (const { step } of nested.get('') ?? []) {
    const steps = executions.get(step.executionId) ?? [];
    steps.push(outline(step));
    executions.set(step.executionId, steps);
  }
  const { status, output, unfinishedStep } = session.state;
  const open = unfinishedStep ? [outline(unfinishedStep)] : [];
  const own = [...executions.values()];
  const last = own.at(-1);
  const isSame = unfinishedStep && executions.has(unfinishedStep.executionId);
  return {
    status,
    output: shownValue(output as JsonValue),
    executions:
      isSame && last
        ? [...own.slice(0, -1), [...last, ...open]]
        : [...own, ...(open.length > 0 ? [open] : [])],
  };
}

function shownValue(value: JsonValue): JsonValue {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= SHOWN ? value : { sha256: sha256(text), characters: text.length };
}
