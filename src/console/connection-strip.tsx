import { useEffect, useState, type ReactElement } from 'react';
import { Glyph } from './glyphs.tsx';
import type { SessionDeskState } from './use-session-desk.ts';

export interface ConnectionStripProps {
  /** Null where no session is open. */
  readonly desk: Pick<SessionDeskState, 'session' | 'status' | 'problem'> | null;
  /** The server answers requests. */
  readonly isOnline: boolean;
  readonly onRetry: () => void;
}

/** A blink of the connection is not worth a word. */
const patienceMs = 800;

/** What is not live says so: above what may be old, with what is safe and one way on. */
export function ConnectionStrip({
  desk,
  isOnline,
  onRetry,
}: ConnectionStripProps): ReactElement | null {
  const isLost = desk ? desk.session.connection === 'offline' : !isOnline;
  const isShown = useLasting(isLost && !desk?.problem?.isNotFound, patienceMs);
  if (!isShown) return null;
  const after = desk?.session.state.place?.after;
  const isWorking = desk?.status === 'processing';
  return (
    <div className="strip strip-warn" role="alert">
      <Glyph name="reload" size={14} />
      <p>
        <strong>Connection lost.</strong>{' '}
        {isWorking
          ? 'The run goes on at the server. '
          : desk
            ? 'What you see may be out of date. '
            : ''}
        Reconnecting
        {after === undefined ? '.' : `; missed events are refilled from #${after + 1}.`}
      </p>
      <button type="button" className="button button-small" onClick={onRetry}>
        Retry now
      </button>
    </div>
  );
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
