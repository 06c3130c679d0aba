import { recordProblem, fields, within, type Fields, type Problem } from '../agent/check-record.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { isNumbered, type AgentEventType } from '../events/agent-event.ts';
import { isRecord } from '../json.ts';

const baseFields = {
  agentId: 'string',
  parentAgentId: 'string??',
  executionId: 'string',
  index: 'number',
  at: 'string',
} as const;

/** Fields that readers of a log rely on. Others may be anything: a log keeps a note in place of a large value. */
const eventFields: Readonly<Record<AgentEventType, Fields>> = {
  AgentStarted: fields({ ...baseFields, agentName: 'string', stepCount: 'number' }),
  MessageAdded: fields({
    ...baseFields,
    messageId: 'string',
    role: 'string',
    stepNumber: 'number',
  }),
  AgentStepStarted: fields({ ...baseFields, stepNumber: 'number', attempt: 'number' }),
  ToolsChanged: fields({ ...baseFields, stepNumber: 'number' }),
  StreamChunk: fields(baseFields),
  ReasoningDelta: fields(baseFields),
  ToolCallDelta: fields(baseFields),
  ToolCallStarted: fields({ ...baseFields, tool: 'string', toolCallId: 'string' }),
  ToolProgress: fields({ ...baseFields, tool: 'string', toolCallId: 'string' }),
  ToolCallCompleted: fields({
    ...baseFields,
    tool: 'string',
    toolCallId: 'string',
    success: 'boolean',
    durationMs: 'number',
  }),
  ToolApprovalRequested: fields({ ...baseFields, tool: 'string', toolCallId: 'string' }),
  TokenUsageReported: fields({ ...baseFields, usage: 'object' }),
  AgentStepCompleted: fields({
    ...baseFields,
    stepNumber: 'number',
    durationMs: 'number',
    usage: 'object',
  }),
  StepFailed: fields({
    ...baseFields,
    stepNumber: 'number',
    attempt: 'number',
    error: 'object',
    waitMs: 'number',
  }),
  ModelFallback: fields({ ...baseFields, stepNumber: 'number', from: 'string', to: 'string' }),
  ContextCompacted: fields({ ...baseFields, stepNumber: 'number', id: 'string', kind: 'string' }),
  StreamDiscarded: fields({ ...baseFields, stepNumber: 'number', attempt: 'number' }),
  ContinuationEvaluated: fields({ ...baseFields, stepNumber: 'number' }),
  AgentStateUpdated: fields({ ...baseFields, status: 'string', stepCount: 'number' }),
  ToolInputRequested: fields({
    ...baseFields,
    tool: 'string',
    toolCallId: 'string',
    inputId: 'string',
  }),
  AgentPaused: fields({ ...baseFields, kind: 'string', stepCount: 'number' }),
  AgentFinished: fields({ ...baseFields, status: 'string', stepCount: 'number' }),
  AgentFailed: fields({ ...baseFields, status: 'string', stepCount: 'number' }),
};

/** Returns the first problem of an event in an export, which may come from anywhere. */
export function checkedEvent(event: unknown): Problem | null {
  if (!isRecord(event)) return { at: '.event', seen: event, expected: 'an event' };
  const { type } = event;
  if (!isLogged(type))
    return { at: '.event.type', seen: type, expected: 'the type of an event that is logged' };
  return within('.event', recordProblem(event, eventFields[type]) ?? outcomeProblem(event));
}

const isLogged = (type: unknown): type is AgentEventType =>
  typeof type === 'string' &&
  Object.hasOwn(eventFields, type) &&
  isNumbered(type as AgentEventType); // one of its keys

function outcomeProblem({ outcome }: Record<string, unknown>): Problem | null {
  if (outcome === null || outcome === undefined) return null;
  try {
    ContinuationOutcome.from(outcome as never); // throws unless it is one
    return null;
  } catch (error) {
    const why = AgentError.is(error) ? error.message : 'it cannot be read';
    return { at: '.outcome', seen: show(outcome), expected: `an outcome (${why})` };
  }
}
