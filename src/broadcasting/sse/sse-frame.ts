import { BroadcastError } from '../broadcaster.ts';
import { isLast, type Envelope } from '../envelope.ts';

/** One envelope as it goes over the wire: encoded once for all readers. */
export interface SseFrame {
  readonly envelope: Envelope;
  readonly executionId: string;
  readonly seq: number | null;
  readonly prev: number | null;
  /** A run or resume ends or pauses with it. */
  readonly isLast: boolean;
  readonly bytes: Uint8Array;
}

/** A place in the log: all of an execution up to a number is known. Null stands for the newest execution. */
export interface SsePlace {
  readonly executionId: string | null;
  readonly after: number;
}

const encoder = new TextEncoder();
const TYPE = /^[a-z][a-z0-9_.-]{0,63}$/;
const PLACE = /^(\d{1,15})(?:@(.{1,1000}))?$/s;

export const heartbeat: Uint8Array = encoder.encode(': hb\n\n');

/** How long a client waits before it comes back. */
export const retryLine = (ms: number): Uint8Array => encoder.encode(`retry: ${Math.round(ms)}\n\n`);

/** The conversation has changed more than the log can tell: the client reads it anew. */
export const resetFrame = (executionId: string): Uint8Array =>
  encoder.encode(`event: onward.reset\ndata: ${JSON.stringify({ execution_id: executionId })}\n\n`);

export function sseFrame(envelope: Envelope): SseFrame {
  const { execution_id: executionId, seq, prev } = envelope;
  return { envelope, executionId, seq, prev, isLast: isLast(envelope), bytes: sseBytes(envelope) };
}

/** JSON has no raw line end, and names are checked: no value can begin a line of its own. */
export function sseBytes(envelope: Envelope): Uint8Array {
  const { type, seq, execution_id: executionId } = envelope;
  const id = Number.isSafeInteger(seq) ? `id: ${seq}@${encoded(executionId)}\n` : '';
  return encoder.encode(`${id}event: ${type}\ndata: ${JSON.stringify(envelope)}\n\n`);
}

/** Everybody may hand a broadcaster what they like, and the type stands on a line of its own. */
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

/** Ids of our own making stay as they are; others may hold what a header cannot carry. */
const encoded = (id: string): string =>
  /^[\w.~-]+$/.test(id) ? id : encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));

/** `12@execution` or `12`; null where it is neither. */
export function parsePlace(text: string): SsePlace | null {
  const [, after, executionId] = PLACE.exec(text) ?? [];
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
