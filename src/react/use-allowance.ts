import { useEffect, useState } from 'react';
import type { GrantAllowance } from '../continuation/grant-allowance.ts';
import { offeredGrant } from '../ui/stop-text.ts';
import type { UiStop } from '../ui/ui-state.ts';

interface Read {
  readonly at: string;
  readonly allowance: GrantAllowance | null;
}

/**
 * What the user may still grant, read once for each stop that takes a grant. Undefined while it is being read; null
 * where it is not known, then the remedy stands as it is.
 */
export function useAllowance(
  stop: UiStop | null,
  read: (() => Promise<GrantAllowance | null>) | undefined,
): GrantAllowance | null | undefined {
  const [known, setKnown] = useState<Read | null>(null);
  const at = stop && offeredGrant(stop) && read ? stop.timestamp : null;
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
