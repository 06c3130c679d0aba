import type { InferenceResponse } from '../inference/inference-driver.ts';
import type { MessageContent } from '../messages/content-part.ts';

/** Returns the content of an answer: its text, or its text and its files as parts. */
export function withFiles(text: string, files: InferenceResponse['files']): MessageContent {
  if (!Array.isArray(files) || files.length === 0) return text;
  return text === '' ? files : [{ type: 'text', text }, ...files];
}
