import { useEffect, useState, type ReactElement } from 'react';

/** Milliseconds before a skeleton shows: most conversations are there sooner. */
const AFTER_MS = 200;

/** Shows the shape of a conversation while it loads, at the place where it will be. */
export function ChatSkeleton(): ReactElement | null {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div className="skeleton" role="status" aria-label="Loading the conversation">
      <span className="skeleton-user" />
      <span className="skeleton-line" />
      <span className="skeleton-line" data-short />
      <span className="skeleton-call" />
      <span className="skeleton-line" />
      <span className="skeleton-call" />
    </div>
  );
}
