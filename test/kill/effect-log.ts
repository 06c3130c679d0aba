import { appendFileSync, readFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/**
 * What processes leave in the file that they share: `claimed` with the token of a lease, `begin` and `end` of a tool,
 * `heard` of an event, and what a client asked for (`sending`, `answering`, `stopping`) with what came of it
 * (`accepted`, `refused`, `answered`).
 */
export type EffectKind =
  | 'claimed'
  | 'begin'
  | 'end'
  | 'heard'
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
  /** Id of a call, number of an event, or token of a lease. */
  readonly subject: string;
  /** Name of a tool, type of an event, or an answer. */
  readonly what: string;
  /** Of an event: the call, or agent and number of the step. Of a tool that begins: the lease it begins under. */
  readonly detail: string;
  readonly pid: number;
}

export type WriteEffect = (effect: Partial<Effect> & Pick<Effect, 'kind' | 'session'>) => void;

/** Appends lines: written with the call, so that they outlive the process, and in one order for all processes. */
export const effectLog =
  (path: string): WriteEffect =>
  ({ kind, session, execution = '-', subject = '-', what = '-', detail = '-' }) =>
    appendFileSync(
      path,
      `${kind} ${session} ${execution} ${subject} ${what} ${detail} ${process.pid}\n`,
    );

/** The detail of a tool that begins. */
export const underLease = (token: number): string => `lease:${token}`;
export const leaseOf = ({ detail }: Effect): number => Number(detail.replace('lease:', ''));

export const readEffects = (path: string): readonly Effect[] =>
  readFileSync(path, 'utf8').split('\n').filter(Boolean).map(effectOf);

export const sizeOfLog = async (path: string): Promise<number> => (await stat(path)).size;

/** What was written behind a place in the file; a line that is not whole yet is left out. */
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
