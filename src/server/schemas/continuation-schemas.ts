import { broadcastStatuses } from '../../agent/broadcast-status.ts';
import { ContinuationDecision } from '../../continuation/decision.ts';
import type { ExplanationAction } from '../../continuation/explanation.ts';
import type { EvaluationFacts } from '../../continuation/facts.ts';
import { grantKinds, wholeGrantKinds } from '../../continuation/grants.ts';
import { StopReason } from '../../continuation/stop-reason.ts';
import type { JsonSchema } from '../../tools/schema.ts';
import {
  count,
  either,
  flag,
  list,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
} from './shapes.ts';

const factKindSet: Readonly<Record<EvaluationFacts['kind'], true>> = {
  limit: true,
  error: true,
  finish: true,
  stop_request: true,
  pending: true,
  answered: true,
  tool_called: true,
  broken: true,
  guard: true,
  hook: true,
  runtime: true,
  custom: true,
};
const factKinds = Object.keys(factKindSet);

const actionKindSet: Readonly<Record<ExplanationAction['kind'], true>> = {
  grant: true,
  approve: true,
  input: true,
  resume: true,
  retry: true,
  wait: true,
  change: true,
  new_message: true,
  ask_operator: true,
};
const actionKinds = Object.keys(actionKindSet);

export const grantsSchema: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(
    grantKinds.map((kind) => [
      kind,
      {
        type: wholeGrantKinds.has(kind) ? 'integer' : 'number',
        exclusiveMinimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
      },
    ]),
  ),
  additionalProperties: false,
};

/** Schemas of the outcome and its explanation. */
export const continuationSchemas: Readonly<Record<string, JsonSchema>> = {
  Status: oneOfTexts(broadcastStatuses),
  StopReason: oneOfTexts(Object.values(StopReason)),
  Grants: grantsSchema,
  GrantRecord: object({
    grant: ref('Grants'),
    by: orNull(text),
    at: text,
    authority: oneOfTexts(['owner', 'operator']),
  }),
  GrantAllowance: object({
    left: {
      type: 'object',
      properties: Object.fromEntries(
        grantKinds.map((kind) => [kind, either({ type: 'number' }, { const: 'unlimited' })]),
      ),
      additionalProperties: false,
    },
    grant: orNull(ref('Grants')),
  }),
  Remedy: object({ text }, { option: text, grant: ref('Grants') }),
  Evaluation: object(
    {
      criterion: text,
      decision: oneOfTexts(Object.values(ContinuationDecision)),
      reason: text,
      context: record,
    },
    { stopReason: ref('StopReason'), remedy: ref('Remedy'), facts: ref('EvaluationFacts') },
  ),
  // other fields depend on `kind`
  EvaluationFacts: {
    type: 'object',
    properties: { kind: oneOfTexts(factKinds) },
    required: ['kind'],
    additionalProperties: true,
  },
  Outcome: object(
    {
      decision: oneOfTexts(Object.values(ContinuationDecision)),
      shouldContinue: flag,
      resolvedBy: text,
      stopReason: orNull(ref('StopReason')),
      evaluations: list(ref('Evaluation')),
    },
    {
      at: text,
      stoppedAgents: list(object({ agent: text, stopReason: ref('StopReason') })),
      deniedCalls: list(object({ tool: text, by: orNull(text) })),
    },
  ),
  ExplanationAction: object(
    { kind: oneOfTexts(actionKinds), text, developerText: text },
    {
      grant: ref('Grants'),
      minimum: ref('Grants'),
      callIds: list(text),
      inputIds: list(text),
      until: text,
      option: orNull(text),
    },
  ),
  Explanation: object({
    headline: text,
    detail: text,
    decidedBy: orNull(text),
    stopReason: orNull(ref('StopReason')),
    actions: list(ref('ExplanationAction')),
  }),
  Usage: object(
    { input: count, output: count, total: count, cachedInput: count, reasoning: count },
    { cacheWrite: count, cacheWrite1h: count },
  ),
  StopAction: either(
    object({ kind: { const: 'grant' }, grant: ref('Grants'), label: text }),
    object({ kind: { const: 'resume' }, label: text }),
    object({ kind: { const: 'retry' }, label: text }),
    object({ kind: { const: 'message' }, label: text }),
  ),
  StopSentence: object({
    lead: text,
    because: text,
    goOnIf: orNull(text),
    note: orNull(text),
    action: orNull(ref('StopAction')),
    explanation: ref('Explanation'),
  }),
};
