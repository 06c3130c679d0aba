import type { AgentStepJSON } from '../../src/agent/agent-state.ts';
import { newExecution, newSessionInfo, type Execution } from '../../src/agent/execution.ts';
import type { ContinuationEvaluation } from '../../src/continuation/evaluation.ts';
import {
  ContinuationOutcome,
  type ContinuationOutcomeJSON,
} from '../../src/continuation/outcome.ts';
import type { AgentEvent, AgentEventType, FieldsOf } from '../../src/events/agent-event.ts';
import { zeroUsage } from '../../src/inference/usage.ts';
import type { Session } from '../../src/sessions/session.ts';
import type { ToolResult } from '../../src/tools/tool-result.ts';
import type { TraceRecords } from '../../src/trace/trace-of.ts';

export const T0: number = Date.parse('2026-03-01T09:00:00.000Z');
/** A time stamp, in milliseconds since the execution started. */
export const iso = (ms: number): string => new Date(T0 + ms).toISOString();

export const outcomeWith = (
  ...evaluations: readonly Partial<ContinuationEvaluation>[]
): ContinuationOutcomeJSON =>
  ContinuationOutcome.resolve(
    evaluations.map((evaluation) => ({
      criterion: 'ToolCallPresenceCheck',
      decision: 'request',
      reason: 'more to do',
      context: {},
      ...evaluation,
    })),
  ).toJSON();

export const call = (id: string, name: string, args = {}): AgentStepJSON['toolCalls'][number] => ({
  id,
  name,
  args,
});

export const result = (
  callId: string,
  durationMs: number,
  more: Partial<ToolResult> = {},
): ToolResult => ({
  callId,
  kind: 'ok',
  value: 'done',
  durationMs,
  ...more,
});

/** A failed call under a policy with retries. */
export const failure = (callId: string, durationMs: number, toolName: string): ToolResult =>
  result(callId, durationMs, {
    kind: 'error',
    error: {
      type: 'tool',
      code: 'tool_failed',
      message: 'boom',
      retryable: true,
      toolName,
      at: iso(0),
    },
  });

/** A step that started `at` milliseconds after the execution, by wall clock. */
export function step(
  number: number,
  at: number,
  durationMs: number,
  more: Partial<AgentStepJSON> = {},
): AgentStepJSON {
  const { toolCalls = [], results = [] } = more;
  return {
    id: `step_${number}`,
    number,
    executionId: 'e1',
    type: toolCalls.length > 0 ? 'tool_calls' : 'final',
    attempt: 1,
    messageIds: [],
    toolCalls,
    results,
    errors: results.flatMap(({ error }) => (error ? [error] : [])),
    usage: { ...zeroUsage, input: 100, output: 10, total: 110 },
    cost: 0.01,
    finishReason: 'stop',
    startedAt: iso(at),
    durationMs,
    notes: [],
    outcome: outcomeWith(),
    ...more,
  };
}

/** Collects events in the order they are emitted. */
export class Log {
  readonly events: AgentEvent[] = [];
  #child: string | null = null;

  at<T extends AgentEventType>(ms: number, type: T, fields: Partial<FieldsOf<T>> = {}): this {
    const base = {
      type,
      agentId: this.#child ?? 'root',
      parentAgentId: this.#child === null ? null : 'root',
      executionId: 'e1',
      index: this.events.length,
      at: iso(ms),
    };
    this.events.push({ ...base, ...fields } as unknown as AgentEvent);
    return this;
  }

  /** Adds events of a nested agent. */
  inside(report: (log: this) => void): this {
    this.#child = 'child';
    report(this);
    this.#child = null;
    return this;
  }

  started(ms: number, stepNumber: number, attempt = 1): this {
    return this.at(ms, 'AgentStepStarted', { stepNumber, attempt });
  }
  callStarted(ms: number, toolCallId: string, tool: string, args = {}): this {
    return this.at(ms, 'ToolCallStarted', { toolCallId, tool, args });
  }
  callDone(ms: number, toolCallId: string, tool: string, durationMs: number, error?: string): this {
    return this.at(ms, 'ToolCallCompleted', {
      toolCallId,
      tool,
      success: error === undefined,
      error: error ?? null,
      durationMs,
      result: null,
    });
  }
  done(ms: number, stepNumber: number): this {
    return this.at(ms, 'AgentStepCompleted', { stepNumber });
  }
  paused(ms: number, stepCount: number, ...calls: readonly (readonly [string, string])[]): this {
    return this.at(ms, 'AgentPaused', {
      kind: calls.length > 0 ? 'approval' : 'requested',
      reason: calls.length > 0 ? null : 'lunch',
      stepCount,
      pendingApprovals: calls.map(([callId, tool]) => ({ callId, tool, args: {}, path: [] })),
    });
  }
  resumed(ms: number, stepCount: number): this {
    return this.at(ms, 'AgentStarted', { resumed: true, stepCount });
  }
}

export const session = (more: Partial<Session> = {}): Session => ({
  id: 's',
  owner: 'ann',
  agent: 'support',
  title: null,
  status: 'completed',
  phase: 'idle',
  tries: 0,
  error: null,
  parkedAt: null,
  lastRetry: null,
  executionId: 'e1',
  forkedFrom: null,
  createdAt: iso(0),
  updatedAt: iso(0),
  messageCount: 2,
  stepCount: 0,
  executionStepCount: 0,
  usage: zeroUsage,
  cost: 0,
  info: newSessionInfo(iso(0)),
  grants: {},
  grantLog: [],
  allowance: null,
  pause: null,
  pendingApprovals: [],
  pendingInputs: [],
  stopReason: null,
  outcome: null,
  output: null,
  metadata: {},
  ...more,
});

export const accounts = (more: Partial<Execution> = {}): Execution => ({
  ...newExecution('e1', iso(0), 0),
  ...more,
});

export const records = (more: Partial<TraceRecords> = {}): TraceRecords => ({
  session: session(),
  executionId: 'e1',
  executions: [],
  steps: [],
  events: [],
  accounts: null,
  now: T0,
  ...more,
});
