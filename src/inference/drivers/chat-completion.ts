import { isRecord } from '../../json.ts';
import { isBlank } from '../../messages/content-part.ts';
import type { InferenceResponse } from '../inference-driver.ts';
import { finishReasonOf } from '../finish-word.ts';
import { imageParts, imagesIn, spokenIn, string } from './chat-message.ts';
import { usageIn } from './chat-usage.ts';
import { ToolCallAssembler } from './tool-call-assembler.ts';
import { ReasoningCollector } from './provider-state.ts';
import { reportIn } from './request-id.ts';
import { ReasoningParts } from './reasoning-parts.ts';
import { splitThink } from './think-filter.ts';

/** Reads a whole Chat Completions body; null if it has no choice. */
export function readCompletion(
  body: unknown,
  server: string,
  model?: string,
): InferenceResponse | null {
  if (!isRecord(body) || !Array.isArray(body['choices'])) return null;
  const choices = (body['choices'] as unknown[]).filter(isRecord);
  const choice = choices.find(({ index }) => index === 0) ?? choices[0];
  if (!choice) return null;
  const message = isRecord(choice['message']) ? choice['message'] : {};
  const word = string(choice['finish_reason']) || null;
  const calls = callsIn(message);
  const toolCalls = calls.list(finishReasonOf(word, false) === 'length');
  const { text, reasoning, refusal } = spokenIn(message, new ReasoningParts());
  const { think, said } = splitThink(text);
  const files = imageParts(new Set(imagesIn(message)));
  const report = usageIn(body);
  const kept = new ReasoningCollector();
  kept.read(message);
  const metadata = kept.metadata(server, calls, toolCalls.length > 0, model);
  return {
    ...reportIn(body),
    content: said,
    toolCalls,
    reasoning: reasoning || think,
    refusal: refusal || null,
    finishReason: finishReasonOf(
      word,
      toolCalls.length > 0,
      isBlank(said) && files.length === 0 && !refusal,
    ),
    ...(word === null ? null : { rawFinishReason: word }),
    ...(files.length > 0 ? { files } : null),
    usage: report?.usage ?? null,
    ...(report?.cost == null ? null : { cost: report.cost }),
    ...(metadata ? { metadata } : null),
  };
}

function callsIn(message: Record<string, unknown>): ToolCallAssembler {
  const calls = new ToolCallAssembler();
  const list = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as unknown[]) : [];
  // each entry is a separate call, regardless of its index
  for (const [index, call] of list.entries())
    if (isRecord(call)) calls.read([{ ...call, index }], []);
  const legacy = message['function_call'];
  if (calls.length === 0 && isRecord(legacy)) calls.read([{ function: legacy }], []);
  return calls;
}
