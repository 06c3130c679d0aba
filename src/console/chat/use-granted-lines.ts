import { useMemo, useState } from 'react';
import type { GrantState } from '../contract.ts';
import type { GrantedLine } from './turn-items.ts';
import type { Turn } from './turns.ts';

const none: readonly GrantedLine[] = [];

interface Place {
  readonly turnId: string;
  readonly after: string | null;
}

/** Remembers where grants were given: each line replaces its banner, and the run continues below it. */
export function useGrantedLines(
  grantState: GrantState,
  active: Turn | null,
): (turn: Turn) => readonly GrantedLine[] {
  const [lines, setLines] = useState<readonly (GrantedLine & Place)[]>([]);
  // by the time the server responds, the run may have continued already
  const [place, setPlace] = useState<Place | null>(null);
  const here = (): Place | null =>
    active && {
      turnId: active.id,
      after: active.rows.findLast(({ message }) => message.role !== 'status')?.message.id ?? null,
    };
  if (grantState.kind === 'sending' && place === null) setPlace(here());
  if (grantState.kind === 'granted' && !lines.some(({ at }) => at === grantState.at)) {
    const { text, at } = grantState;
    const where = place ?? here();
    if (where) setLines([...lines, { ...where, text, at }]);
    setPlace(null);
  }
  const byTurn = useMemo(() => {
    const found = new Map<string, GrantedLine[]>();
    for (const line of lines) found.set(line.turnId, [...(found.get(line.turnId) ?? []), line]);
    return found;
  }, [lines]);
  return ({ id }) => byTurn.get(id) ?? none;
}
