import { useEffect, useState, type ReactElement } from 'react';
import { SourceError } from '../ui/sources/source-error.ts';
import { Glyph } from './glyphs.tsx';
import type { ActiveSession } from './use-active-session.ts';

export interface ConnectionStripProps {
  /** Null where no session is open. */
  readonly active: Pick<ActiveSession, 'session' | 'status' | 'problem'> | null;
  /** The server answers requests. */
  readonly isOnline: boolean;
  readonly onRetry: () => void;
}

/** A blink of the connection is not worth a word. */
const patienceMs = 800;

/** What is not live says so: above what may be old, with what is safe and one way on. */
export function ConnectionStrip({
  active,
  isOnline,
  onRetry,
}: ConnectionStripProps): ReactElement | null {
  const isLost = active ? active.session.connection === 'offline' : !isOnline;
  // a page that has nothing to show says so itself
  const isTold =
    active?.problem && (active.problem.isNotFound || active.session.messages.length === 0);
  const isShown = useLasting(isLost && !isTold, patienceMs);
  if (!isShown) return null;
  const error = active?.session.error ?? null;
  const isFinal = SourceError.is(error) && error.isFinal;
  return (
    <div className="strip strip-warn" role="alert">
      <Glyph name="reload" size={14} />
      <p>
        <strong>Connection lost.</strong>{' '}
        {isFinal ? (
          error.message
        ) : (
          <>
            {active && safeText(active.status === 'processing', isOnline)}
            Reconnecting{active ? '; what you miss is filled in.' : '.'}
          </>
        )}
      </p>
      {error && !isFinal && (
        <details>
          <summary>Why</summary>
          {error.message}
        </details>
      )}
      <button type="button" className="button button-small" onClick={onRetry}>
        Retry now
      </button>
    </div>
  );
}

/** A server that does not answer may be gone itself: then nothing is promised that only it could do. */
function safeText(isWorking: boolean, isOnline: boolean): string {
  if (!isWorking) return 'What you see may be out of date. ';
  return isOnline
    ? 'The run continues on the server. '
    : 'The server does not respond; an open run continues when it is back. ';
}

/** True once it has been so for a while. */
function useLasting(value: boolean, ms: number): boolean {
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    if (!value) return setOld(false);
    const timer = setTimeout(() => setOld(true), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value && isOld;
}
