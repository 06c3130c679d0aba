import { isRecord, type JsonObject } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import type { Messages } from '../../messages/messages.ts';
import { isOwn, type KeptPart } from './ai-sdk-parts.ts';
import type { ModelFacts } from './ai-sdk-prompt.ts';
import type { AiSdkSettings } from './ai-sdk-request.ts';

/**
 * Turns thinking off while a turn continues whose calls another model made: Anthropic accepts thinking only if every
 * answer of the turn begins with its own.
 */
export function thinkingFor(
  messages: Messages,
  settings: AiSdkSettings,
  about: ModelFacts,
): AiSdkSettings {
  const { providerOptions = {}, reasoning } = settings;
  const { anthropic } = providerOptions;
  const { thinking } = anthropic ?? {};
  const isOn = isRecord(thinking) && thinking['type'] === 'enabled';
  if (!(isOn || reasoning !== undefined) || !/anthropic/.test(about.provider)) return settings;
  if (!hasForeignCalls(messages, about)) return settings;
  const { reasoning: _, ...rest } = settings;
  return {
    ...rest,
    ...(isOn && {
      providerOptions: { ...providerOptions, anthropic: { ...anthropic, thinking: off } },
    }),
  };
}

const off: JsonObject = { type: 'disabled' };

/** Whether an answer with calls since the last user message has no reasoning of this model. */
function hasForeignCalls(messages: Messages, about: ModelFacts): boolean {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages.at(i);
    if (!message || message.isUser()) return false;
    if (message.toolCalls.length > 0 && !hasOwnReasoning(message, about)) return true;
  }
  return false;
}

function hasOwnReasoning({ metadata }: Message, about: ModelFacts): boolean {
  const kept: unknown = metadata['aiSdk'];
  if (!isRecord(kept) || !isOwn(kept, about) || !Array.isArray(kept['parts'])) return false;
  return (kept['parts'] as KeptPart[]).some(({ type }) => type === 'reasoning'); // written by the answer
}
