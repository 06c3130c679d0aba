import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { Grants } from '../continuation/grants.ts';
import { problemOf } from './api-problem.ts';
import type { GrantState } from './contract.ts';
import { nextGrantState, readyToGrant } from './grant-state.ts';

export interface GrantFor {
  readonly sessionId: string | null;
  /** When it stopped or paused; null while it works. */
  readonly stoppedAt: string | null;
  readonly resume: ((grant?: Grants) => Promise<unknown>) | null;
  /** Whether another client has changed the session since it was shown. */
  readonly hasMoved: () => Promise<boolean>;
}

/** Grants, and keeps the result for the banner. Null continues after a pause. */
export function useGrant(about: GrantFor): {
  readonly grantState: GrantState;
  readonly grant: (grant: Grants | null) => void;
} {
  const [grantState, dispatch] = useReducer(nextGrantState, readyToGrant);
  const now = useRef(about);
  useEffect(() => {
    now.current = about;
  });
  const { sessionId, stoppedAt } = about;
  useEffect(() => dispatch({ type: 'stopped-again' }), [sessionId]);
  useEffect(() => {
    if (stoppedAt !== null) dispatch({ type: 'stopped-again' });
  }, [stoppedAt]);
  const isSending = useRef(false);
  const grant = useCallback((amount: Grants | null): void => {
    const { resume, hasMoved, ...asked } = now.current;
    if (!resume || isSending.current) return;
    isSending.current = true;
    const settle = (event: Parameters<typeof dispatch>[0]): void => {
      isSending.current = false;
      const { sessionId: open, stoppedAt: stop } = now.current;
      // a short run may have stopped again before the response to the grant arrives
      const isOld = stop !== null && stop !== asked.stoppedAt;
      if (open === asked.sessionId && !isOld) dispatch(event);
    };
    dispatch({ type: 'sent' });
    resume(amount ?? undefined).then(
      () => settle({ type: 'accepted', grant: amount, at: new Date() }),
      async (thrown: unknown) => {
        const moved = await hasMoved().catch(() => false);
        settle({ type: 'refused', problem: problemOf(thrown), hasMoved: moved });
      },
    );
  }, []);
  return { grantState, grant };
}
