import { invalidOption } from '../../errors/agent-error.ts';
import type { SessionFeeds } from './session-feeds.ts';

const known = new WeakMap<object, SessionFeeds>();

export function keepFeeds(runtime: object, feeds: SessionFeeds): void {
  known.set(runtime, feeds);
}

/** Returns the feeds of a runtime, for modules that read them without an iterator and do not import the runtime. */
export function feedsOf(runtime: object): SessionFeeds {
  const found = known.get(runtime);
  if (!found) throw invalidOption('runtime', runtime, 'a SessionRuntime');
  return found;
}
