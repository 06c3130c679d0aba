import { invalidOption } from '../errors/agent-error.ts';
import { checkedOwner } from './check-names.ts';
import type { ExpireOptions, PruneOptions } from './session-options.ts';
import type { ExpireRequest, UpkeepRequest } from './session-store.ts';

/** What a store is asked, from what a person gave. */
export function upkeepRequest(options: PruneOptions): UpkeepRequest {
  const { olderThan, owner, signal, onProgress } = options;
  const time = new Date(olderThan);
  if (Number.isNaN(time.getTime())) throw invalidOption('olderThan', olderThan, 'a date');
  return {
    olderThan: time.toISOString(),
    ...(owner !== undefined && { owner: checkedOwner(owner) }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  };
}

export function expireRequest(options: ExpireOptions): ExpireRequest {
  const { waiting, dryRun } = options;
  return {
    ...upkeepRequest(options),
    ...(waiting !== undefined && { waiting }),
    ...(dryRun !== undefined && { dryRun }),
  };
}
