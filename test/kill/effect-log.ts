import { appendFileSync, readFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/**
 * Lines in the log file that all processes share: `claimed` with the token of a lease and its worker, `begin` and `end` of a tool,
 * `received` for an event, and client requests (`sending`, `answering`, `stopping`) with their results (`accepted`,
 * `refused`, `answered`).
 */
export type EffectKind =
  | 'claimed'
  | 'begin'
  | 'end'
  | 'received'
  | 'sending'
  | 'accepted'
  | 'refused'
  | 'answering'
  | 'answered'
  | 'stopping';

export interface Effect {
  readonly kind: EffectKind;
  readonly session: string;
  readonly execution: string;
  /** A call id, event number or lease token. */
  readonly subject: string;
  /** A tool name, event type or answer. */
  readonly what: string;
  /** For an event: the call, or the agent and step number. For a tool that starts: its lease. */
  readonly detail: string;
  readonly pid: number;
}

export type WriteEffect = (effect: Partial<Effect> & Pick<Effect, 'kind' | 'session'>) => void;

/** Appends lines synchronously, so that they survive the process and have one order for all processes. */
export const effectLog =
  (path: string): WriteEffect =>
  ({ kind, session, execution = '-', subject = '-', what = '-', detail = '-' }) =>
    appendFileSync(
      path,
      `${kind} ${session} ${execution} ${subject} ${what} ${detail} ${process.pid}\n`,
    );

/** The detail of a tool that starts. */
export const underLease = (token: number): string => `lease:${token}`;
export const leaseOf = ({ detail }: Effect): number => Number(detail.replace('lease:', ''));

export const readEffects = (path: string): readonly Effect[] =>
  readFileSync(path, 'utf8').split('\n').filter(Boolean).map(effectOf);

export const sizeOfLog = async (path: string): Promise<number> => (await stat(path)).size;

/** Reads the lines after a file position, without an incomplete last line. */
export async function effectsFrom(path: string, place: number): Promise<readonly Effect[]> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ position: place });
    const text = buffer.toString('utf8', 0, bytesRead);
    return text.split('\n').slice(0, -1).map(effectOf);
  } finally {
    await file.close();
  }
}

function effectOf(line: string): Effect {
  const [kind, session = '', execution = '', subject = '', what = '', detail = '', pid] =
    line.split(' ');
  return {
    kind: kind as EffectKind, // written above
    session,
    execution,
    subject,
    what,
    detail,
    pid: Number(pid),
  };
}
