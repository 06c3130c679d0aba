import { ContinuationDecision } from '../../continuation/decision.ts';
import type { ReplayChange } from '../../replay/replay.ts';
import type { ReplayDifference } from '../../replay/replay-step.ts';
import type { JsonSchema } from '../../tools/schema.ts';
import { count, flag, list, number, object, oneOfTexts, orNull, ref, text } from './shapes.ts';

const changeSet: Readonly<Record<ReplayChange, true>> = {
  same: true,
  earlier: true,
  cut_short: true,
  further: true,
  other: true,
};
const differenceSet: Readonly<Record<ReplayDifference, true>> = {
  decision: true,
  soft_landing: true,
  interrupted: true,
  fallback: true,
};

const usage = object({ steps: count, tokens: number, cost: orNull(number), seconds: number });

const summary = {
  sessionId: text,
  title: orNull(text),
  agent: text,
  executionId: text,
  status: ref('Status'),
  stopReason: orNull(ref('StopReason')),
  stepCount: count,
  used: usage,
  change: oneOfTexts(Object.keys(changeSet)),
  firstDifference: orNull(count),
  difference: orNull(oneOfTexts(Object.keys(differenceSet))),
  stopsAt: orNull(count),
  replayed: orNull(ref('ReplayDecision')),
  saved: usage,
  recordedLimits: object({
    maxSteps: orNull(number),
    maxTokens: orNull(number),
    maxCost: orNull(number),
    seconds: orNull(number),
  }),
  incomplete: list(object({ code: text, text })),
} as const;

/** Schemas of replays. */
export const replaySchemas: Readonly<Record<string, JsonSchema>> = {
  ReplayDecision: object({
    shouldContinue: flag,
    decision: oneOfTexts(Object.values(ContinuationDecision)),
    resolvedBy: text,
    stopReason: orNull(ref('StopReason')),
    reason: text,
  }),
  ReplaySummary: object(summary),
  Replay: object({
    ...summary,
    steps: list(
      object({
        number: count,
        recorded: orNull(ref('ReplayDecision')),
        replayed: orNull(ref('ReplayDecision')),
      }),
    ),
  }),
  ReplayPage: object({ replays: list(ref('ReplaySummary')), cursor: orNull(text) }),
};
