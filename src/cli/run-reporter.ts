import type { AgentEvent } from '../events/agent-event.ts';
import type { CliContext } from './cli-context.ts';
import { jsonReporter } from './json-reporter.ts';
import { TextReporter } from './text-reporter.ts';

/** Shows what a session does while it does it. */
export interface RunReporter {
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
): RunReporter =>
  context.isJson ? jsonReporter(context, sessionId) : new TextReporter(context, { isStreamed });
