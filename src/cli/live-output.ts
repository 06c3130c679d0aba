import type { AgentEvent } from '../events/agent-event.ts';
import type { CliContext } from './cli-context.ts';
import { liveJson } from './live-json.ts';
import { LiveText } from './live-text.ts';

/** Shows what a session does while it does it. */
export interface LiveOutput {
  /** `seq` is its place in the log, null for text that is still being made. */
  event(event: AgentEvent, seq: number | null): void;
  /** A line for a person. */
  note(line?: string): void;
  /** Nothing more comes for now: what is unfinished on the screen is finished. */
  rest(): void;
}

export const liveOutput = (
  context: CliContext,
  sessionId: string,
  isStreamed: boolean,
): LiveOutput =>
  context.isJson ? liveJson(context, sessionId) : new LiveText(context, { isStreamed });
