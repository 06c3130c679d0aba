/** Types of elements, as PostgreSQL numbers them. */
const TEXT = 25;
const BIGINT = 20;
const HEADER_BYTES = 20;
/** Largest buffer that is kept for the next array. */
const KEPT_BYTES = 1024 * 1024;

const encoder = new TextEncoder();
let buffer = new Uint8Array(64 * 1024);

/**
 * Encodes texts as a `text[]` in PostgreSQL's binary format, which neither side has to escape or parse. The texts must
 * be well-formed.
 */
export function textArray(texts: readonly (string | null)[]): Uint8Array {
  let end = HEADER_BYTES;
  for (const text of texts) {
    if (text === null) {
      end = putLength(end, -1);
      continue;
    }
    reserve(end + 4 + text.length * 3);
    const { written } = encoder.encodeInto(text, buffer.subarray(end + 4));
    end = putLength(end, written) + written;
  }
  return finished(TEXT, texts, end);
}

/** Encodes whole numbers as a `bigint[]` in PostgreSQL's binary format. */
export function numberArray(numbers: readonly (number | null)[]): Uint8Array {
  let end = HEADER_BYTES;
  for (const number of numbers) {
    end = putLength(end, number === null ? -1 : 8);
    if (number === null) continue;
    reserve(end + 8);
    const view = new DataView(buffer.buffer);
    view.setInt32(end, Math.floor(number / 2 ** 32));
    view.setUint32(end + 4, number >>> 0);
    end += 8;
  }
  return finished(BIGINT, numbers, end);
}

function putLength(at: number, length: number): number {
  reserve(at + 4);
  new DataView(buffer.buffer).setInt32(at, length);
  return at + 4;
}

function finished(type: number, values: readonly unknown[], end: number): Uint8Array {
  reserve(end);
  const view = new DataView(buffer.buffer);
  const hasNull = values.includes(null) ? 1 : 0;
  for (const [i, part] of [1, hasNull, type, values.length, 1].entries())
    view.setInt32(i * 4, part);
  const array = buffer.slice(0, end);
  if (buffer.length > KEPT_BYTES) buffer = new Uint8Array(KEPT_BYTES);
  return array;
}

function reserve(bytes: number): void {
  if (bytes <= buffer.length) return;
  const larger = new Uint8Array(Math.max(bytes, buffer.length * 2));
  larger.set(buffer);
  buffer = larger;
}
