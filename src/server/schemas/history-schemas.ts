import type { JsonSchema } from '../../tools/schema.ts';
import { compactionKind } from './message-schemas.ts';
import {
  anything,
  count,
  flag,
  list,
  number,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
  time,
} from './shapes.ts';

const meter = object({ used: number, limit: orNull(number) });
const resultKinds = ['ok', 'error', 'denied', 'aborted', 'blocked', 'timeout'];

const answers = oneOfTexts(['approved', 'edited', 'denied']);

const modelCall = object(
  {},
  {
    model: text,
    requestId: text,
    rawFinishReason: text,
    warnings: list(text),
    firstTokenMs: count,
    queuedMs: count,
  },
);

const steering = object(
  {},
  {
    model: text,
    tools: object({ count, names: list(text), hash: text }),
    toolChoice: anything,
    systemHash: text,
  },
);

const compactions = list(
  object({
    id: text,
    kind: compactionKind,
    reason: oneOfTexts(['threshold', 'context_length']),
    messages: count,
    tokensBefore: number,
    tokensAfter: number,
  }),
);

const guards = list(
  object(
    {
      name: text,
      at: oneOfTexts(['input', 'output', 'tools']),
      decision: oneOfTexts(['passed', 'blocked']),
      durationMs: number,
    },
    { reason: text, message: text, cause: oneOfTexts(['failed', 'timeout']), tools: list(text) },
  ),
);

const stepSchema = object(
  {
    number: count,
    attempt: count,
    type: oneOfTexts(['tool_calls', 'final', 'error', 'cut', 'running', 'waiting']),
    startedAt: time,
    at: number,
    durationMs: number,
    bars: list(ref('TraceBar')),
    waitMs: number,
    inputTokens: count,
    outputTokens: count,
    modelUsage: orNull(ref('Usage')),
    cost: orNull(number),
    costSoFar: orNull(number),
    finishReason: orNull(text),
    softLanding: orNull(text),
    notes: list(text),
    outcome: orNull(ref('Outcome')),
  },
  {
    model: text,
    fallback: text,
    steering,
    compactions,
    compactionUsage: ref('Usage'),
    compacts: flag,
    guards,
    modelCall,
  },
);

/** Schemas of messages, steps and traces. */
export const historySchemas: Readonly<Record<string, JsonSchema>> = {
  MessagePage: object({ messages: list(ref('UiMessage')), before: orNull(count) }),
  CompactionPage: object({
    compactions: list(
      object(
        {
          id: text,
          kind: compactionKind,
          fromPosition: count,
          toPosition: count,
          messageCount: count,
          tokensBefore: count,
          tokensAfter: count,
          usage: ref('Usage'),
          cost: orNull(number),
          reason: oneOfTexts(['threshold', 'context_length']),
          at: time,
        },
        { text, model: text },
      ),
    ),
    before: orNull(count),
  }),
  Envelope: object(
    {
      type: text,
      session_id: text,
      execution_id: text,
      agent_id: text,
      seq: orNull(count),
      prev: orNull(count),
      timestamp: time,
      payload: record,
    },
    { parent_agent_id: text },
  ),
  Refill: object(
    {
      session_id: text,
      execution_id: orNull(text),
      envelopes: list(ref('Envelope')),
      seq: count,
      more: flag,
    },
    { unfinished: list(ref('Envelope')) },
  ),
  RefValue: object({ ref: text, value: anything }),
  ApprovalRecord: object(
    { decision: answers, by: orNull(text), at: time, argsHash: text },
    { rememberedAt: time, notRemembered: flag },
  ),
  RuleList: object({
    rules: list(
      object({
        id: text,
        agentPath: list(text),
        tool: text,
        definitionHash: text,
        by: orNull(text),
        at: time,
      }),
    ),
  }),
  TraceBar: object(
    {
      kind: oneOfTexts(['model', 'tool']),
      name: text,
      callId: orNull(text),
      at: number,
      durationMs: number,
      state: oneOfTexts([...resultKinds, 'running', 'waiting']),
      error: orNull(text),
      retry: orNull(object({ number: count, limit: orNull(count) })),
      pausedMs: number,
      answer: orNull(answers),
    },
    {
      approval: ref('ApprovalRecord'),
      asks: flag,
      child: object({
        agent: text,
        status: ref('Status'),
        steps: count,
        tokens: count,
        cost: orNull(number),
      }),
      files: list(
        object(
          { type: oneOfTexts(['image', 'file']) },
          { mediaType: text, filename: text, url: text, bytes: count, hash: text },
        ),
      ),
    },
  ),
  TraceStep: stepSchema,
  Trace: object(
    {
      sessionId: text,
      agent: text,
      executionId: orNull(text),
      status: ref('Status'),
      executions: list(object({ id: text, startedAt: orNull(time), stepCount: count })),
      startedAt: orNull(time),
      totals: object(
        {
          steps: meter,
          seconds: meter,
          tokens: meter,
          cost: object({ used: orNull(number), limit: orNull(number) }),
          inputTokens: count,
          outputTokens: count,
          failedCalls: count,
          modelMs: number,
          toolMs: number,
          backoffMs: number,
          pausedMs: number,
        },
        { queuedMs: number },
      ),
      steps: list(ref('TraceStep')),
      hasEarlier: flag,
      pauses: list(
        object({
          at: number,
          step: count,
          durationMs: orNull(number),
          kind: text,
          reason: orNull(text),
        }),
      ),
      outcome: orNull(ref('Outcome')),
      stop: orNull(ref('StopSentence')),
      grants: ref('Grants'),
    },
    {
      nested: object({
        agentId: text,
        callId: text,
        above: list(object({ agent: text, callId: orNull(text), step: count })),
      }),
    },
  ),
};
