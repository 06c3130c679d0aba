import type { JsonSchema } from '../../tools/schema.ts';
import type { MatchPlace } from '../../trace/match-text.ts';
import {
  anything,
  count,
  flag,
  list,
  mapOf,
  number,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
  time,
} from './shapes.ts';

/** What the store knows about the work on a session. */
export const phaseNames = ['idle', 'open', 'paused', 'parked'] as const;

const inCommon = {
  id: text,
  agent: text,
  title: orNull(text),
  status: ref('Status'),
  phase: ref('Phase'),
  error: orNull(text),
  parkedAt: orNull(time),
  tries: count,
  reason: text,
  executionId: orNull(text),
  messageCount: count,
  stepCount: count,
  createdAt: time,
  updatedAt: time,
};

/** Of a session in a list. */
export const summary: Readonly<Record<string, JsonSchema>> = {
  ...inCommon,
  waitingFor: list(object({ callId: text, tool: text })),
  cost: orNull(number),
  model: orNull(text),
  errors: count,
  attention: orNull(oneOfTexts(['gave_up', 'stuck', 'failed', 'waiting'])),
};

const matchPlaces: readonly MatchPlace[] = [
  'title',
  'agent',
  'id',
  'reason',
  'error',
  'message',
  'answer',
  'tool',
  'tool_result',
  'tool_error',
];

export const sessionSchemas: Readonly<Record<string, JsonSchema>> = {
  Health: object({ ok: { const: true }, version: text }),
  RetryRecord: object({ by: orNull(text), at: time }),
  AgentInfo: object({
    name: text,
    title: text,
    description: text,
    model: text,
    isDemo: flag,
    tools: list(object({ name: text, description: text, needsApproval: flag })),
    limits: mapOf(number),
    suggestions: list(text),
  }),
  ServerInfo: object({
    name: text,
    version: text,
    owner: text,
    store: orNull(text),
    maxAttachmentBytes: count,
    agents: list(ref('AgentInfo')),
    isOperator: flag,
  }),
  Phase: oneOfTexts(phaseNames),
  SessionSummary: object(summary, { imported: ref('SessionImport') }),
  SessionMatch: object({
    place: oneOfTexts(matchPlaces),
    step: orNull(count),
    executionId: orNull(text),
    tool: orNull(text),
    text,
    ranges: list(list(count)),
    more: count,
  }),
  SessionPage: object({
    sessions: list(ref('SessionSummary')),
    matches: mapOf(ref('SessionMatch')),
    cursor: orNull(text),
    total: orNull(count),
  }),
  PendingApproval: object(
    {
      callId: text,
      tool: text,
      args: record,
      argsHash: text,
      executionId: text,
      path: list(text),
    },
    { hidden: list(text) },
  ),
  PendingInput: object(
    {
      inputId: text,
      callId: text,
      key: text,
      tool: text,
      message: text,
      executionId: text,
      path: list(text),
    },
    { schema: record, url: text },
  ),
  SessionImport: object({
    sessionId: text,
    exportedAt: time,
    importedAt: time,
    isRedacted: flag,
  }),
  SessionDetail: object(
    {
      ...inCommon,
      executionStepCount: count,
      forkedFrom: orNull(object({ sessionId: text, step: count, at: time })),
      usage: ref('Usage'),
      cost: orNull(number),
      info: object({
        startedAt: time,
        updatedAt: time,
        stepCount: count,
        answeredSteps: count,
        usage: ref('Usage'),
        cost: orNull(number),
        cumulativeExecutionSeconds: number,
      }),
      grants: ref('Grants'),
      grantLog: list(ref('GrantRecord')),
      lastRetry: orNull(ref('RetryRecord')),
      allowance: orNull(ref('GrantAllowance')),
      pause: orNull(object({ kind: text, at: time }, { reason: text })),
      pendingApprovals: list(ref('PendingApproval')),
      pendingInputs: list(ref('PendingInput')),
      stopReason: orNull(ref('StopReason')),
      outcome: orNull(ref('Outcome')),
      stop: orNull(ref('StopSentence')),
      output: anything,
      metadata: record,
    },
    { imported: ref('SessionImport') },
  ),
  Accepted: object({ sessionId: text, executionId: text, status: ref('Status') }),
};
