import type { AgentEvent } from '../events/agent-event.ts';
import type { CliContext } from './cli-context.ts';
import { jsonReporter } from './json-reporter.ts';
import { TextReporter } from './text-reporter.ts';

/** Shows what a session does while it runs. */
export interface RunReporter {
  /** Reports an event; `seq` is its number in the log, null for streamed text. */
  event(event: AgentEvent, seq: number | null): void;
  /** Prints a line for the user. */
  note(line?: string): void;
  /** Called when nothing more follows for now: completes unfinished output. */
  rest(): void;
}

export const liveOutput = (
  context: CliContext,
  sessionId: string,
  isStreamed: boolean,
): RunReporter =>
  context.isJson ? jsonReporter(context, sessionId) : new TextReporter(context, { isStreamed });
