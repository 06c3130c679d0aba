import { useState, type ReactElement } from 'react';
import type { SessionDetail } from '../../server/api.ts';
import { Glyph } from '../glyphs.tsx';
import { chatHref } from '../route.ts';

export interface ForkBadgeProps {
  readonly origin: NonNullable<SessionDetail['forkedFrom']>;
  /** Deletes the fork. Resolves with null, or with the problem. */
  readonly onDiscard: () => Promise<string | null>;
}

/** Marks a fork beside its title, opens the session that it comes from, and discards it after one question. */
export function ForkBadge({ origin, onDiscard }: ForkBadgeProps): ReactElement {
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { sessionId, step } = origin;
  return (
    <span className="fork">
      <a className="fork-badge" href={chatHref(sessionId)} title="Open the original session">
        <Glyph name="fork" size={12} />
        Fork<span className="fork-step"> after step {step}</span>
      </a>
      {isAsked ? (
        <span className="fork-ask" role="group" aria-label="Discard this fork?">
          <span role={problem === null ? undefined : 'alert'}>
            {problem ?? 'Discard it and its steps?'}
          </span>
          <button
            type="button"
            className="button button-small button-danger"
            onClick={() => void onDiscard().then(setProblem)}
          >
            Discard
          </button>
          <button
            type="button"
            className="button button-small"
            autoFocus
            onClick={() => {
              setAsked(false);
              setProblem(null);
            }}
          >
            Keep
          </button>
        </span>
      ) : (
        <button
          type="button"
          className="button button-small button-ghost fork-discard"
          onClick={() => setAsked(true)}
        >
          Discard fork
        </button>
      )}
    </span>
  );
}
