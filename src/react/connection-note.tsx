import type { ReactElement } from 'react';
import type { Connection } from '../ui/sources/envelope-source.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ConnectionNoteProps {
  readonly connection: Connection;
  readonly error: Error | null;
}

/** Says that the view may be out of date, with the reason behind a toggle. */
export function ConnectionNote({ connection, error }: ConnectionNoteProps): ReactElement {
  const { labels } = useUi();
  return (
    <div {...part('connection')} data-connection={connection} role="status">
      {connection !== 'live' && (
        <>
          <span>{connection === 'offline' ? labels.offline : labels.connecting}</span>
          {error && connection === 'offline' && (
            <details>
              <summary>{labels.details}</summary>
              {error.message}
            </details>
          )}
        </>
      )}
    </div>
  );
}
