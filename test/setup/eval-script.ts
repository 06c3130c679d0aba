import type { InferenceDriver } from '../../src/inference/inference-driver.ts';
import type { JsonObject } from '../../src/json.ts';

export interface ScriptAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A model whose answer depends only on the number of answers in the conversation, so that many runs share it. */
export function scriptOf(answers: readonly ScriptAnswer[], model?: string): InferenceDriver {
  return {
    name: 'scripted',
    ...(model !== undefined && { model }),
    infer({ messages }) {
      const at = [...messages].filter((message) => message.isAssistant()).length;
      const answer = answers[at];
      if (!answer) return Promise.reject(new Error(`the script has no answer ${at + 1}`));
      const { text = '', calls = [], usage } = answer;
      return Promise.resolve({
        content: text,
        toolCalls: calls.map(({ name, args }, i) => ({ id: `call_${at}_${i}`, name, args })),
        finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
        usage: usage ? { ...usage, total: usage.input + usage.output } : null,
      });
    },
  };
}
