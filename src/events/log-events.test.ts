import { describe, expect, it } from 'vitest';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentEvent } from './agent-event.ts';
import { logEvents, type Logger } from './log-events.ts';

/** A fake pino: a class with a method for each level, fields first, message second. */
class FakePino implements Logger {
  readonly lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }
  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }
  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }
  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }
  #write(level: string, fields: object, message: string): void {
    this.lines.push({ level, fields: { ...fields }, message });
  }
}

const base = {
  agentId: '1f3a9c02-77aa',
  parentAgentId: null,
  executionId: 'e',
  index: 0,
  at: '2026-01-16T12:00:00.000Z',
};
const usage = { input: 10, output: 5, total: 15, cachedInput: 0, reasoning: 0 };
const outcome = ContinuationOutcome.resolve([
  {
    criterion: 'StepsLimit',
    decision: 'forbid',
    reason: '3 of 3 steps',
    context: { used: 3, limit: 3 },
    stopReason: 'steps_limit',
  },
  { criterion: 'ToolCallPresenceCheck', decision: 'request', reason: 'calls', context: {} },
]);
const ended = { stepCount: 3, stopReason: null, usage, cost: null, outcome: null } as const;
const error = { type: 'model', code: 'x', message: 'm', retryable: true, at: '' } as const;
const call = { tool: 'pay', toolCallId: 'call_1' };
const done = { ...call, error: null, durationMs: 1, result: 'ok' };
const chunk = { messageId: 'm', stepNumber: 1, attempt: 1, content: 'hi' };

const logged = (event: object, options?: { deltas: boolean }) => {
  const pino = new FakePino();
  logEvents(pino, options)({ ...base, ...event } as AgentEvent);
  return pino.lines;
};

describe('logEvents', () => {
  it.each([
    ['info', { type: 'AgentStarted', agentName: 'a', resumed: false, messageCount: 1 }],
    ['debug', { type: 'AgentStepStarted', stepNumber: 1, attempt: 1 }],
    ['debug', { type: 'ToolCallStarted', ...call, args: {} }],
    ['debug', { type: 'ToolCallCompleted', ...done, success: true }],
    ['warn', { type: 'ToolCallCompleted', ...done, success: false, error: 'boom' }],
    ['debug', { type: 'ToolApprovalRequested', ...call, args: {} }],
    ['debug', { type: 'TokenUsageReported', usage, cost: null }],
    ['debug', { type: 'AgentStateUpdated', status: 'in_progress', stepCount: 1 }],
    ['warn', { type: 'StepFailed', stepNumber: 1, attempt: 1, error, waitMs: 0 }],
    ['debug', { type: 'StreamDiscarded', stepNumber: 1, attempt: 1 }],
    ['info', { type: 'ContinuationEvaluated', stepNumber: 1, outcome }],
    ['info', { type: 'AgentPaused', kind: 'approval', pendingApprovals: [], stepCount: 1 }],
    ['info', { type: 'AgentFinished', status: 'completed', ...ended }],
    ['error', { type: 'AgentFailed', status: 'failed', ...ended, error }],
  ])('%s: %j', (level, event) => {
    const [line] = logged(event);
    expect(line?.level).toBe(level);
    expect(line?.message).toMatch(/^Agent \[1f3a9c02\] /);
    expect(line?.fields).toMatchObject({ ...base, type: event.type });
  });

  it('logs an outcome as the deciding criterion and its reason', () => {
    const [line] = logged({ type: 'ContinuationEvaluated', stepNumber: 3, outcome });
    expect(line).toEqual({
      level: 'info',
      message: 'Agent [1f3a9c02] step 3: STOP (steps_limit)',
      fields: {
        ...base,
        type: 'ContinuationEvaluated',
        stepNumber: 3,
        outcome: {
          shouldContinue: false,
          stopReason: 'steps_limit',
          resolvedBy: 'StepsLimit',
          reason: '3 of 3 steps',
        },
      },
    });
  });

  it.each([
    [{ type: 'StreamChunk', ...chunk }],
    [{ type: 'ToolCallDelta', ...call, argsDelta: '{' }],
  ])('omits $type by default', (event) => {
    expect(logged(event)).toEqual([]);
    expect(logged(event, { deltas: true })).toMatchObject([{ level: 'debug' }]);
  });

  it('accepts console', () => {
    const check: Logger = console;
    expect(typeof logEvents(check)).toBe('function');
  });
});
