import { useEffect, useState, type ReactElement } from 'react';
import { SourceError } from '../ui/sources/source-error.ts';
import { Glyph } from './glyphs.tsx';
import type { ActiveSession } from './use-active-session.ts';

export interface ConnectionStripProps {
  /** Null if no session is open. */
  readonly active: Pick<ActiveSession, 'session' | 'status' | 'problem'> | null;
  /** Whether the server responds to requests. */
  readonly isOnline: boolean;
  readonly onRetry: () => void;
}

/** Milliseconds before a lost connection is shown. */
const delayMs = 800;

/** Says that the view is not live, what is safe, and how to retry. */
export function ConnectionStrip({
  active,
  isOnline,
  onRetry,
}: ConnectionStripProps): ReactElement | null {
  const isLost = active ? active.session.connection === 'offline' : !isOnline;
  // a page without content shows the problem itself
  const isShownElsewhere =
    active?.problem && (active.problem.isNotFound || active.session.messages.length === 0);
  const isShown = useLasting(isLost && !isShownElsewhere, delayMs);
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
            Reconnecting{active ? '. Missed updates are loaded then.' : '.'}
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

/** Returns what is safe. A server that does not respond may be down, so nothing is promised that depends on it. */
function safeText(isWorking: boolean, isOnline: boolean): string {
  if (!isWorking) return 'This view may be out of date. ';
  return isOnline
    ? 'The run continues on the server. '
    : 'The server does not respond. An open run continues when it is back. ';
}

/** Whether a value has been true for a while. */
function useLasting(value: boolean, ms: number): boolean {
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    if (!value) return setOld(false);
    const timer = setTimeout(() => setOld(true), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return value && isOld;
}
