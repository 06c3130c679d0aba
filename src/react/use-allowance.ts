import { useEffect, useState } from 'react';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import { stopControl } from '../ui/stop-text.ts';
import type { UiStop } from '../ui/ui-state.ts';

interface Read {
  readonly at: string;
  readonly allowance: GrantAllowance | null;
}

/**
 * Reads what the user may still grant, once for each stop that takes a grant. Undefined while it is read; null if it
 * is not known, which means no cap.
 */
export function useAllowance(
  stop: UiStop | null,
  read: (() => Promise<GrantAllowance | null>) | undefined,
): GrantAllowance | null | undefined {
  const [known, setKnown] = useState<Read | null>(null);
  const at = stop && read && stopControl(stop)?.kind === 'grant' ? stop.timestamp : null;
  useEffect(() => {
    if (at === null || !read) return;
    let isCurrent = true;
    const keep = (allowance: GrantAllowance | null): void => {
      if (isCurrent) setKnown({ at, allowance });
    };
    read().then(keep, () => keep(null));
    return () => {
      isCurrent = false;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a new function with every render is no reason to read again
  }, [at]);
  if (at === null) return null;
  return known?.at === at ? known.allowance : undefined;
}
