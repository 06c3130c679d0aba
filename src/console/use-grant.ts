import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { Grants } from '../continuation/grants.ts';
import { problemOf } from './api-problem.ts';
import type { GrantState } from './contract.ts';
import { nextGrantState, readyToGrant } from './grant-state.ts';

export interface GrantFor {
  readonly sessionId: string | null;
  /** When it came to stand still; null while it works. */
  readonly stoppedAt: string | null;
  readonly resume: ((grant?: Grants) => Promise<unknown>) | null;
  /** Whether another client has changed the session since it was shown. */
  readonly hasMoved: () => Promise<boolean>;
}

/** Grants, and remembers the result for the banner. Null continues after a pause. */
export function useGrant(about: GrantFor): {
  readonly grantState: GrantState;
  readonly grant: (grant: Grants | null) => void;
} {
  const [grantState, tell] = useReducer(nextGrantState, readyToGrant);
  const now = useRef(about);
  useEffect(() => {
    now.current = about;
  });
  const { sessionId, stoppedAt } = about;
  useEffect(() => tell({ type: 'stopped-again' }), [sessionId]);
  useEffect(() => {
    if (stoppedAt !== null) tell({ type: 'stopped-again' });
  }, [stoppedAt]);
  const isSending = useRef(false);
  const grant = useCallback((amount: Grants | null): void => {
    const { resume, hasMoved, ...asked } = now.current;
    if (!resume || isSending.current) return;
    isSending.current = true;
    const toldHere = (event: Parameters<typeof tell>[0]): void => {
      isSending.current = false;
      const { sessionId: open, stoppedAt: stop } = now.current;
      // a short run may have stopped again before the answer to the grant is here
      const isOld = stop !== null && stop !== asked.stoppedAt;
      if (open === asked.sessionId && !isOld) tell(event);
    };
    tell({ type: 'sent' });
    resume(amount ?? undefined).then(
      () => toldHere({ type: 'accepted', grant: amount, at: new Date() }),
      async (thrown: unknown) => {
        const moved = await hasMoved().catch(() => false);
        toldHere({ type: 'refused', problem: problemOf(thrown), hasMoved: moved });
      },
    );
  }, []);
  return { grantState, grant };
}
