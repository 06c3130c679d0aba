/** Where a guard checks: the message before it is answered, an answer before it is shown, calls before they run. */
export type GuardPoint = 'input' | 'output' | 'tools';

/** A guard of a capability, as `guardInput`, `guardOutput` and `guardTools` make it. */
export interface AgentGuard {
  readonly name: string;
  readonly at: GuardPoint;
  /** Returns nothing, or `{ block, message? }`. */
  check(input: never): unknown;
  readonly timeoutMs: number;
  /** What to do if the check throws or times out. */
  readonly onError: 'block' | 'pass';
  /** Whether a check of a message runs beside the model call, and does not delay it. */
  readonly isParallel: boolean;
  /** Whether an answer is held back until it is checked, and not discarded afterwards. */
  readonly isHeld: boolean;
  /** Whether only answers without tool calls are checked. */
  readonly isFinalOnly: boolean;
}

/** What a guard decided in a step. */
export interface GuardRecord {
  readonly name: string;
  readonly at: GuardPoint;
  readonly decision: 'passed' | 'blocked';
  /** Why it blocked, or why it could not check; absent if it passed. */
  readonly reason?: string;
  /** Text for the user, in place of the reason. */
  readonly message?: string;
  /** Set if the check itself failed. */
  readonly cause?: 'failed' | 'timeout';
  /** Names of the blocked tools. */
  readonly tools?: readonly string[];
  readonly durationMs: number;
}

/** The guards of an agent, by point. */
export type AgentGuards = Readonly<Record<GuardPoint, readonly AgentGuard[]>>;

/** Rejection of a model call that a guard blocked. */
export class GuardBlocked extends Error {
  override readonly name = 'GuardBlocked';
}

/** Whether a guard has blocked the step. */
export const isBlocked = ({
  guards,
}: {
  readonly guards?: readonly GuardRecord[] | null | undefined;
}): boolean => guards?.some(({ decision }) => decision === 'blocked') === true;
