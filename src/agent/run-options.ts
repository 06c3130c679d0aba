import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { EventListener } from '../events/agent-event.ts';
import type { Answers, Approvals } from './approval-answer.ts';
import type { Journal } from './journal.ts';
import type { Inputs, InputsGiven } from './open-inputs.ts';
import type { RunOrigin } from './run-observer.ts';

/** Options of all methods that run an agent. Without `ToolName` they fit every agent. */
export interface RunOptions<ToolName extends string = never> {
  readonly executionId?: string;
  readonly signal?: AbortSignal;
  /** Listener for every event of this run, nested agents included. */
  readonly wiretap?: EventListener;
  /** Names of the tools that the model sees in this run. Default: those of the agent. Calls of other tools do not run. */
  readonly activeTools?: readonly ToolName[];
  /** User on whose behalf the run works, for capabilities with a connection per user. A session passes its owner. */
  readonly owner?: string;
}

export interface ResumeOptions<ToolName extends string = never> extends RunOptions<ToolName> {
  readonly approvals?: Approvals;
  /** Answers to questions of tools by their `inputId`. */
  readonly inputs?: Inputs;
  readonly grant?: Grants;
  /** Who gives the grant and the answers. Stored in `execution.grantLog` and the results of those calls. */
  readonly by?: string;
}

/**
 * The options of a call, with `deps` required if the agent needs them. `deps` are dependencies of tools, hooks and
 * criteria, such as connections and clients. They are never stored.
 */
export type WithDeps<Options, Deps> = {} extends Deps
  ? [options?: Options & { readonly deps?: Deps }]
  : [options: Options & { readonly deps: Deps }];

/** Options that a session adds. */
export interface DurableOptions extends ResumeOptions<string> {
  readonly deps?: Readonly<Record<string, unknown>>;
  readonly journal?: Journal;
  readonly origin?: RunOrigin;
  /** Stored answers with who gave them, in place of `approvals`. */
  readonly answers?: Answers;
  /** Stored answers to questions, in place of `inputs`. */
  readonly givenInputs?: InputsGiven;
  /** Authority and time of the grant. Default: an operator, now. */
  readonly granted?: Pick<GrantRecord, 'authority' | 'at'>;
}
