import type { InferenceRequest } from '../../inference/inference-driver.ts';
import type { Usage } from '../../inference/usage.ts';

/** Words as they are read; long ones in parts, so that nothing comes in a lump. */
export const inPieces = (text: string): readonly string[] => text.match(/\s*\S{1,16}\s*/g) ?? [];

/** A token is about four letters. */
const CHARS_PER_TOKEN = 4;
const tokens = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

const inputs = new WeakMap<InferenceRequest, number>();

/** Estimated by the length of what went in and what came out. */
export function usageOf(request: InferenceRequest, said: string): Partial<Usage> {
  let input = inputs.get(request);
  if (input === undefined) inputs.set(request, (input = tokens(charsIn(request))));
  return { input, output: tokens(said.length) };
}

function charsIn({ system, messages, tools }: InferenceRequest): number {
  let chars = (system ?? '').length + JSON.stringify(tools).length;
  for (const { text, toolCalls } of messages)
    chars += text.length + (toolCalls.length > 0 ? JSON.stringify(toolCalls).length : 0);
  return chars;
}
