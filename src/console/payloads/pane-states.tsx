import type { ReactElement } from 'react';

/** Renders gray bars, which appear only after a short while. */
export function Skeleton(): ReactElement {
  return (
    <div className="payload-skeleton" aria-busy="true">
      <span className="visually-hidden">Loading…</span>
      <div className="skeleton" aria-hidden="true">
        {[0.5, 1, 0.9, 0.6].map((width, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <span key={at} style={{ width: `${width * 100}%` }} />
        ))}
      </div>
    </div>
  );
}

export function Problem({
  message,
  onRetry,
}: {
  readonly message: string;
  readonly onRetry: () => void;
}): ReactElement {
  return (
    <div className="payload-problem" role="alert">
      <p>{message}</p>
      <button type="button" className="button button-small" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
