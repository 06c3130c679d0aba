import { invalidOption } from '../errors/agent-error.ts';
import { checkedOwner } from './check-names.ts';
import type { PruneOptions } from './session-options.ts';

/** Checks the options of prune and expire, and converts them to a request to the store. */
export function upkeepRequest<Options extends PruneOptions>(
  options: Options,
): Omit<Options, 'olderThan'> & { readonly olderThan: string } {
  const { olderThan, owner } = options;
  const time = new Date(olderThan);
  if (Number.isNaN(time.getTime())) throw invalidOption('olderThan', olderThan, 'a date');
  if (owner !== undefined) checkedOwner(owner);
  return { ...options, olderThan: time.toISOString() };
}
