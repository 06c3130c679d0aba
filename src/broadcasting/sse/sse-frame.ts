import { BroadcastError } from '../broadcaster.ts';
import { isLast, type Envelope } from '../envelope.ts';

/** An envelope as bytes, encoded once for all readers. */
export interface SseFrame {
  readonly envelope: Envelope;
  readonly executionId: string;
  readonly seq: number | null;
  readonly prev: number | null;
  /** Whether a run or resume ends or pauses with it. */
  readonly isLast: boolean;
  readonly bytes: Uint8Array;
}

/**
 * A position in the log: the client has everything of an execution up to `after`. A null execution means the newest.
 */
export interface SsePlace {
  readonly executionId: string | null;
  readonly after: number;
}

const encoder = new TextEncoder();
const TYPE = /^[a-z][a-z0-9_.-]{0,63}$/;
const POSITION = /^(\d{1,15})(?:@(.{1,1000}))?$/s;

export const heartbeat: Uint8Array = encoder.encode(': hb\n\n');

/** Returns the line that sets how long a client waits before it reconnects. */
export const retryLine = (ms: number): Uint8Array => encoder.encode(`retry: ${Math.round(ms)}\n\n`);

/** Returns the event that makes the client reload the conversation, because the log cannot describe the change. */
export const resetFrame = (executionId: string): Uint8Array =>
  encoder.encode(`event: onward.reset\ndata: ${JSON.stringify({ execution_id: executionId })}\n\n`);

export function sseFrame(envelope: Envelope): SseFrame {
  const { execution_id: executionId, seq, prev } = envelope;
  return { envelope, executionId, seq, prev, isLast: isLast(envelope), bytes: sseBytes(envelope) };
}

/** Returns the lines of an event. JSON contains no raw line end and names are checked, so no value can start a line. */
export function sseBytes(envelope: Envelope): Uint8Array {
  const { type, seq, execution_id: executionId } = envelope;
  const id = Number.isSafeInteger(seq) ? `id: ${seq}@${encoded(executionId)}\n` : '';
  return encoder.encode(`${id}event: ${type}\ndata: ${JSON.stringify(envelope)}\n\n`);
}

/** Checks the type, because a broadcaster accepts any envelope and the type is written on its own line. */
export function checkType({ type }: Envelope): void {
  if (checked.has(type)) return;
  if (!TYPE.test(type))
    throw new BroadcastError(
      `An envelope has the type ${JSON.stringify(type)}, expected a name such as agent.status.`,
      { retryable: false },
    );
  if (checked.size < 64) checked.add(type);
}
const checked: Set<string> = new Set();

/** Returns an id that a header can carry. Generated ids stay unchanged. */
const encoded = (id: string): string =>
  /^[\w.~-]+$/.test(id) ? id : encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));

/** Parses `12@execution` or `12`; null if the text is neither. */
export function parsePosition(text: string): SsePlace | null {
  const [, after, executionId] = POSITION.exec(text) ?? [];
  if (after === undefined) return null;
  try {
    return {
      after: Number(after),
      executionId: executionId === undefined ? null : decodeURIComponent(executionId),
    };
  } catch {
    return null;
  }
}
