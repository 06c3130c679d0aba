import type { SessionRow } from './session-rows.ts';
import type { Stay } from './quarantine.ts';
import type { StateHeader } from './state-rows.ts';
import type { DurableAgent } from '../agent/durable-agent.ts';
import type { SessionOrigin } from './state-rows.ts';

/** An execution and the position from which its writer continues. */
export interface WrittenExecution {
  /** The session as the last commit left it. */
  readonly row: SessionRow;
  readonly executionId: string;
  /** Whether the execution begins now. Its log is empty, and its first event names the previous execution. */
  readonly isNew: boolean;
  /** Salt that makes the names of large values impossible to guess. */
  readonly salt: string;
  readonly title?: string | undefined;
  /** Id of the agent's first model, if the agent is known. */
  readonly model?: string;
  /** Where the session was forked from. */
  readonly origin?: SessionOrigin | undefined;
  /** Prompt and tools; null: those of the header stay. */
  readonly definition: DurableAgent['definition'] | null;
  /** What the header names: the stored definition and frame of requests. */
  readonly named?: Pick<StateHeader, 'definition' | 'requestFrame'>;
  /** Whether to keep the last text of the model out of the log: this process lacks the redactor of its agent. */
  readonly hidesText?: boolean;
  /** The session's stay in this process. A step that it runs alone ends its quarantine. */
  readonly stay?: Stay;
}
