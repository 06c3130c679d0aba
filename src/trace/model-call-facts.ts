import type { Usage } from '../inference/usage.ts';
import { countText, durationText } from '../number-text.ts';
import { visibleText } from '../visible-text.ts';
import type { TraceStep } from './trace.ts';

/** A fact about a model call; `code` is a name as the provider wrote it. */
export interface ModelCallFact {
  readonly text: string;
  readonly code?: string;
}

/** Returns what the provider reported about the model call of a step, without hidden characters. */
export function modelCallFacts(step: TraceStep): readonly ModelCallFact[] {
  const {
    model,
    requestId,
    rawFinishReason,
    warnings = [],
    firstTokenMs,
    queuedMs,
  } = step.modelCall ?? {};
  const facts: ModelCallFact[] = [];
  const name = (text: string, code: string | undefined): void => {
    if (code !== undefined) facts.push({ text, code: visibleText(code) });
  };
  if (queuedMs !== undefined)
    facts.push({ text: `waited ${durationText(queuedMs)} for the model limiter` });
  name('answered by', model);
  name('the provider ended it with', rawFinishReason);
  if (firstTokenMs !== undefined)
    facts.push({ text: `first token after ${durationText(firstTokenMs)}` });
  const own = step.modelUsage;
  if (own && own.input + own.output !== step.inputTokens + step.outputTokens)
    facts.push({
      text: `model call alone: ${countText(own.input)} in, ${countText(own.output)} out`,
    });
  const cache = own === null ? '' : cacheText(own);
  if (cache !== '') facts.push({ text: `prompt cache: ${cache}` });
  name('request', requestId);
  for (const warning of new Set(warnings)) facts.push({ text: `warning: ${visibleText(warning)}` });
  return facts;
}

/** Returns what a call read from and wrote to a prompt cache; '' if nothing. */
function cacheText({ cachedInput, cacheWrite = 0, cacheWrite1h = 0 }: Usage): string {
  const hour = cacheWrite1h > 0 ? ` (${countText(cacheWrite1h)} for an hour)` : '';
  return [
    ...(cachedInput > 0 ? [`${countText(cachedInput)} tokens read`] : []),
    ...(cacheWrite > 0 ? [`${countText(cacheWrite)} tokens written${hour}`] : []),
  ].join(', ');
}
