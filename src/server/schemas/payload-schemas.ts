import type { JsonSchema } from '../../tools/schema.ts';
import {
  count,
  flag,
  list,
  number,
  object,
  oneOfTexts,
  orNull,
  ref,
  text,
  time,
} from './shapes.ts';

const payload = ref('PayloadText');
const calls = list(object({ id: text, name: text, args: payload }));
const files = list(
  object(
    { type: oneOfTexts(['image', 'file']) },
    { mediaType: text, filename: text, url: text, bytes: count, hash: text },
  ),
);
const kinds = ['ok', 'error', 'denied', 'aborted', 'blocked', 'timeout', 'open'];
const status = oneOfTexts(['stored', 'pruned', 'not_recorded', 'not_called']);
const changed = {
  change: oneOfTexts(['unchanged', 'changed', 'first']),
  tokens: count,
  content: payload,
};

const message = object({
  index: count,
  role: oneOfTexts(['system', 'developer', 'user', 'assistant', 'tool']),
  isNew: flag,
  step: orNull(count),
  tokens: count,
  name: orNull(text),
  callId: orNull(text),
  content: orNull(payload),
  reasoning: orNull(payload),
  calls,
  files,
  compaction: orNull(
    object({
      id: text,
      messages: count,
      tokensBefore: number,
      tokensAfter: number,
      model: orNull(text),
      cost: orNull(number),
      at: time,
    }),
  ),
  isLeftOut: flag,
});

const request = object({
  tokens: count,
  since: orNull(object({ step: count, executionId: text })),
  system: orNull(object(changed)),
  tools: orNull(object({ ...changed, names: list(text), count })),
  toolChoice: text,
  format: orNull(payload),
  messages: object({ count, added: count, items: list(message), next: orNull(count) }),
});

const response = object({
  content: orNull(payload),
  reasoning: orNull(payload),
  calls,
  files,
  finishReason: orNull(text),
  isCut: flag,
});

const toolCall = object(
  {
    callId: text,
    tool: text,
    kind: oneOfTexts(kinds),
    durationMs: orNull(number),
    args: payload,
    result: orNull(payload),
    error: orNull(object({ type: text, code: text, message: text })),
    seen: orNull(payload),
    approval: orNull(ref('ApprovalRecord')),
    attempts: list(
      object({
        step: count,
        callId: text,
        kind: oneOfTexts(kinds),
        durationMs: orNull(number),
        hasSameArgs: flag,
      }),
    ),
    files,
  },
  {
    edits: list(object({ field: text, proposed: orNull(payload), approved: orNull(payload) })),
  },
);

const comparedRun = object({
  sessionId: text,
  executionId: orNull(text),
  title: orNull(text),
  agent: text,
  status: ref('Status'),
  ending: orNull(text),
  steps: count,
  seconds: number,
  tokens: number,
  cost: orNull(number),
});

const comparedStep = object({
  number: count,
  tools: list(object({ name: text, count })),
  type: oneOfTexts(['tool_calls', 'final', 'error', 'cut']),
  durationMs: number,
  toolMs: number,
  cost: orNull(number),
  hasFailed: flag,
});

const answer = object({
  content: orNull(payload),
  calls,
  result: orNull(payload),
  decision: orNull(text),
});

/** Schemas of what a step sent and received, and of comparisons. */
export const payloadSchemas: Readonly<Record<string, JsonSchema>> = {
  PayloadText: object(
    { text, characters: count, lines: count },
    { part: text, isJson: { const: true } },
  ),
  PayloadRange: object({ part: text, from: count, text, characters: count, next: orNull(count) }),
  ModelCall: object({
    sessionId: text,
    executionId: orNull(text),
    step: count,
    status,
    attempts: list(
      object({
        step: count,
        model: orNull(text),
        requestId: orNull(text),
        error: orNull(object({ code: text, message: text }, { status: count })),
        durationMs: number,
      }),
    ),
    request: orNull(request),
    response: orNull(response),
  }),
  ToolCalls: object({
    sessionId: text,
    executionId: orNull(text),
    step: count,
    status: oneOfTexts(['stored', 'pruned']),
    calls: list(toolCall),
  }),
  Comparison: object({
    kind: oneOfTexts(['fork', 'sessions']),
    left: comparedRun,
    right: comparedRun,
    same: object({ steps: count, durationMs: number, cost: orNull(number), shared: count }),
    difference: orNull(
      object({
        step: count,
        kind: oneOfTexts(['response', 'result', 'decision', 'end']),
        tool: orNull(text),
        left: orNull(answer),
        right: orNull(answer),
        cause: object({
          status,
          places: list(
            object({ where: text, left: orNull(text), right: orNull(text), same: count }),
          ),
          hasMore: flag,
        }),
      }),
    ),
    rows: list(object({ left: orNull(comparedStep), right: orNull(comparedStep), isSame: flag })),
    hasMore: flag,
  }),
};
