import { invalidOption } from '../errors/agent-error.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { CreateOptions } from './session-options.ts';
import type { Session } from './session.ts';

/** Creates a session with its first message. */
export type BeginSession = (content: MessageContent, options: CreateOptions) => Promise<Session>;

const known = new WeakMap<object, BeginSession>();

/** Keeps the function of a runtime for servers, which share nothing else with the work of sessions. */
export function keepBegin(runtime: object, begin: BeginSession): void {
  known.set(runtime, begin);
}

/** Returns the function of a runtime. */
export function beginOf(runtime: object): BeginSession {
  const found = known.get(runtime);
  if (!found) throw invalidOption('runtime', runtime, 'a SessionRuntime');
  return found;
}
