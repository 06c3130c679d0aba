import type { InferenceRequest } from '../../inference/inference-driver.ts';
import type { Usage } from '../../inference/usage.ts';

/** Splits text into words, and long words into parts, so that it streams evenly. */
export const inPieces = (text: string): readonly string[] => text.match(/\s*\S{1,16}\s*/g) ?? [];

/** A token has about four characters. */
const CHARS_PER_TOKEN = 4;
const tokens = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

const inputs = new WeakMap<InferenceRequest, number>();

/** Estimates usage from the length of the input and the output. */
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
