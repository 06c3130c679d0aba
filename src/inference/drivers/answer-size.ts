import type { AgentError } from '../../errors/agent-error.ts';
import { modelCallFailed, type PartialAnswer } from '../inference-error.ts';

/** Maximum bytes of one answer, images included. A server that sends without end must not fill the memory. */
export const MAX_ANSWER_BYTES = 64_000_000;
/** Maximum bytes of a refusal; some servers send the whole request back. */
const MAX_REFUSAL_BYTES = 4_000_000;

/** Approximate bytes of a part that a package has read: its texts, and what its object takes. */
export const partSize = ({ delta, input, data }: Readonly<Record<string, unknown>>): number =>
  PART_BYTES + lengthOf(delta) + lengthOf(input) + lengthOf(data);

const PART_BYTES = 100;
const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;

export const tooLarge = (partial: PartialAnswer = {}): AgentError =>
  modelCallFailed(
    {
      type: 'validation',
      code: 'unreadable_body',
      message: `The provider's answer cannot be read: it has more than ${MAX_ANSWER_BYTES / 1_000_000} MB.`,
    },
    withoutText(partial),
  );

/** Keeps what a call used and reported, and not megabytes that nothing reads. */
const withoutText = ({
  content: _content,
  toolCalls: _calls,
  ...rest
}: PartialAnswer): PartialAnswer => rest;

/** Returns the text of a refusal, or its beginning; an interrupted body counts as empty. */
export async function refusalText({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let bytes = 0; bytes <= MAX_REFUSAL_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
    void reader.cancel().catch(() => {});
    return text;
  } catch {
    return '';
  }
}
