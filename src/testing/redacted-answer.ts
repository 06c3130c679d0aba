import { streamOf, type Redactor } from '../errors/redactor.ts';
import type { InferenceChunk, InferenceResponse } from '../inference/inference-driver.ts';
import { parseJson } from '../json.ts';

/** Returns an answer without secrets. */
export function redactedResponse(
  response: InferenceResponse,
  redactor: Redactor,
): InferenceResponse {
  const { toolCalls, files, ...rest } = response;
  return {
    ...redactor.value(rest),
    toolCalls: toolCalls.map(({ argsRaw, args, ...call }) => ({
      ...redactor.value(call),
      ...(args !== undefined && { args: redactor.value(args) }),
      ...(argsRaw !== undefined && { argsRaw: redactedJson(argsRaw, redactor) }),
    })),
    // a match in the bytes of an image would break it
    ...(files && { files }),
  };
}

/**
 * Returns chunks without secrets, also such as are split over several chunks: each text is redacted as a whole, then split
 * at about the same places. The end of a text that breaks off is left out, because it may be the beginning of a secret.
 */
export function redactedChunks(
  chunks: readonly InferenceChunk[],
  redactor: Redactor,
  isWhole: boolean,
): readonly InferenceChunk[] {
  const texts = new Map<string, string[]>();
  for (const chunk of chunks) {
    const piece = pieceOf(chunk);
    if (piece === null) continue;
    const begun = texts.get(piece.of);
    if (begun) begun.push(piece.text);
    else texts.set(piece.of, [piece.text]);
  }
  const split = new Map<string, IterableIterator<string>>();
  for (const [of, pieces] of texts) {
    const whole = pieces.join('');
    const isJson = of.startsWith(CALL);
    const redacted = isJson
      ? redactedJson(whole, redactor)
      : isWhole
        ? redactor.text(whole)
        : streamOf(redactor).push(whole);
    split.set(of, (redacted === whole ? pieces : splitLike(redacted, pieces)).values());
  }
  return chunks.map((chunk) => {
    const piece = pieceOf(chunk);
    if (piece === null) return chunk;
    const text: string = split.get(piece.of)?.next().value ?? '';
    if (chunk.type === 'tool_call') {
      const { argsDelta: _args, ...call } = chunk;
      return { ...redactor.value(call), argsDelta: text };
    }
    return { ...chunk, text } as InferenceChunk; // content or reasoning
  });
}

const CALL = 'call ';

/** Returns the text of a chunk, and which text it continues. */
function pieceOf(chunk: InferenceChunk): { readonly of: string; readonly text: string } | null {
  if (chunk.type === 'tool_call') return { of: `${CALL}${chunk.index}`, text: chunk.argsDelta };
  if (chunk.type === 'content' || chunk.type === 'reasoning')
    return { of: chunk.type, text: chunk.text };
  return null;
}

/** Redacts arguments as they are written: by key where they are JSON, otherwise as text. */
function redactedJson(text: string, redactor: Redactor): string {
  const read = parseJson(text);
  if (!read.ok) return streamOf(redactor).push(text);
  const shown = redactor.value(read.value);
  return shown === read.value ? text : JSON.stringify(shown);
}

/** Splits a text where the pieces of another one end. The rest is in the last piece. */
function splitLike(text: string, pieces: readonly string[]): string[] {
  let from = 0;
  return pieces.map((piece, i) => {
    const end = i === pieces.length - 1 ? text.length : from + piece.length;
    const part = text.slice(from, end);
    from = end;
    return part;
  });
}
