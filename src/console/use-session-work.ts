import { useCallback, useEffect, useState } from 'react';
import type { SessionDetail } from '../server/api.ts';
import type { Api } from './api-client.ts';
import { problemOf } from './api-problem.ts';
import { chatHref, go } from './route.ts';

/** Actions that create, fork, retry and delete sessions. Each opens the view that shows its effect. */
export interface SessionWork {
  /** The session that was created here last, as the server returned it. */
  readonly made: SessionDetail | null;
  /** The failed action, until it is dismissed or another session is opened. */
  readonly notice: string | null;
  readonly dismiss: () => void;
  /** Resolves with null, or with the problem. */
  readonly start: (agent: string, message: string) => Promise<string | null>;
  readonly forkAt: (step: number) => void;
  readonly remove: () => Promise<string | null>;
  /** Resolves when the session is retried, or the notice shows why not. */
  readonly retry: (id: string) => Promise<void>;
}

export function useSessionWork(
  api: Api,
  sessionId: string | null,
  onMade: () => void,
): SessionWork {
  const [made, setMade] = useState<SessionDetail | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  useEffect(() => setNotice(null), [sessionId]);

  const start = useCallback(
    async (agent: string, message: string): Promise<string | null> => {
      try {
        const session = await api.create({ agent, message });
        setMade(session);
        onMade();
        go(chatHref(session.id));
        return null;
      } catch (thrown) {
        return problemOf(thrown).message;
      }
    },
    [api, onMade],
  );

  const forkAt = useCallback(
    (step: number): void => {
      if (sessionId === null) return;
      api.fork(sessionId, step).then(
        (session) => {
          setMade(session);
          onMade();
          go(chatHref(session.id));
        },
        (thrown: unknown) => setNotice(problemOf(thrown).message),
      );
    },
    [api, sessionId, onMade],
  );

  const remove = useCallback(async (): Promise<string | null> => {
    try {
      if (sessionId !== null) await api.remove(sessionId);
      go('#/');
      return null;
    } catch (thrown) {
      return problemOf(thrown).message;
    }
  }, [api, sessionId]);

  const retry = useCallback(
    async (id: string): Promise<void> => {
      try {
        await api.retry(id);
      } catch (thrown) {
        setNotice(problemOf(thrown).message);
      }
    },
    [api],
  );

  const dismiss = useCallback(() => setNotice(null), []);
  return { made, notice, dismiss, start, forkAt, remove, retry };
}
